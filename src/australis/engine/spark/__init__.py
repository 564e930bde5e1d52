"""Runs on Spark; only here Spark is imported."""
