"""Exact nearest-neighbour search, for every package that needs it."""
