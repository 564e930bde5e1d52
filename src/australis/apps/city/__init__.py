"""The generator of moving objects: vehicles on the roads of a city, and queries about them (SOLE 7)."""
