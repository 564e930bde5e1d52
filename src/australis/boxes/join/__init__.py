"""Join: pairs of tuples within a band of each other (Aurora 5.2.2.3)."""
