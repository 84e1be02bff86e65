"""Bayes error rates estimated from minimum spanning trees."""

from confml.bayes_error.crossings import spanning_trees
from confml.bayes_error.estimates import GlobalTreeBounds, NeighbourBounds
from confml.bayes_error.rates import (
    BayesErrorRates,
    BayesErrors,
    bayes_errors,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
    warnings_about,
)

__all__ = [
    "BayesErrorRates",
    "BayesErrors",
    "GlobalTreeBounds",
    "NeighbourBounds",
    "bayes_errors",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
    "spanning_trees",
    "warnings_about",
]
