"""Sounds that are made up, and pictures of recordings."""
