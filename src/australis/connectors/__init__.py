"""Connectors: where tuples come from, and where results go."""
