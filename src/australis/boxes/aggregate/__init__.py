"""Aggregate: window functions over sliding windows (Aurora 5.2.2.2)."""
