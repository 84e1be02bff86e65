"""k nearest neighbours, with equal and with distance-weighted votes."""
