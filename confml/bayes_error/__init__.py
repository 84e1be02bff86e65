"""Bayes error rates estimated from minimum spanning trees, nearest neighbours and soft labels."""

from confml.bayes_error.complexity import (
    Measure,
    NeighbourBounds,
    complexity_measures,
    neighbour_bounds,
)
from confml.bayes_error.estimates import GlobalTreeBounds
from confml.bayes_error.extrapolation import Extrapolation, extrapolate
from confml.bayes_error.label_noise import EstimatorSettings, NoiseSeries, noise_series
from confml.bayes_error.neighbour_errors import NeighbourErrors, neighbour_errors
from confml.bayes_error.rates import (
    BayesErrorRates,
    BayesErrors,
    bayes_errors,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
    warnings_about,
)
from confml.bayes_error.shared_trees import spanning_trees
from confml.bayes_error.soft_labels import SoftLabelError, soft_label_error

__all__ = [
    "BayesErrorRates",
    "BayesErrors",
    "EstimatorSettings",
    "Extrapolation",
    "GlobalTreeBounds",
    "Measure",
    "NeighbourBounds",
    "NeighbourErrors",
    "NoiseSeries",
    "SoftLabelError",
    "bayes_errors",
    "complexity_measures",
    "extrapolate",
    "neighbour_bounds",
    "neighbour_errors",
    "noise_series",
    "one_vs_rest_bayes_error",
    "pairwise_bayes_error",
    "soft_label_error",
    "spanning_trees",
    "warnings_about",
]
