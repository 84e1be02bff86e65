"""Bayes error rates estimated from minimum spanning trees."""
