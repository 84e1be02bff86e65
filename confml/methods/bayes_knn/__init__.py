"""Bayesian k-nearest neighbours (Krzanowski et al. 2006)."""

from confml.methods.bayes_knn.bayes_knn import BayesKNN

__all__ = ["BayesKNN"]
