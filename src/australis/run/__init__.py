"""Runners: they move trains along the arrows of a network."""
