"""Moving objects: continuous queries about where things are, and a city of them to try it on (SOLE)."""
