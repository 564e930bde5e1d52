"""Resample: for every tuple of one stream, a function of the tuples of another that lie near it (Aurora 5.2.2.4)."""
