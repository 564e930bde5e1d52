"""Kernels: loops over tuples, compiled and cached."""
