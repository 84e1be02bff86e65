"""Bayes error rates estimated from minimal spanning trees (van den Burg and Hero 2017)."""

from confml.bayes_error.complexity import (
    Measure,
    NeighbourBounds,
    complexity_measures,
    neighbour_bounds,
)
from confml.bayes_error.rates import (
    BayesErrorRates,
    BayesErrors,
    bayes_errors,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
    warnings_about,
)
from confml.bayes_error.shared_trees import spanning_trees

__all__ = [
    "BayesErrorRates",
    "BayesErrors",
    "Measure",
    "NeighbourBounds",
    "bayes_errors",
    "complexity_measures",
    "neighbour_bounds",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
    "spanning_trees",
    "warnings_about",
]
