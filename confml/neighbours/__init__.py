"""Exact nearest-neighbour search: distances, their float32 filter, k-d tree, safe scaling."""
