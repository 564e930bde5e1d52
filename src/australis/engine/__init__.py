"""The engine: it moves trains along the arrows of a network."""
