"""Bayesian k-nearest neighbours (Krzanowski et al. 2006)."""
