"""Expressions as the source of loops that numba compiles."""
