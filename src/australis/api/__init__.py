"""The face of Australis: streams with their methods, and networks that can be run."""
