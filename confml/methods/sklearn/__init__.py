"""Classifiers of scikit-learn as methods."""
