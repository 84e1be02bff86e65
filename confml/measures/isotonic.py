"""Isotonic regression of outcomes on probabilities."""

from typing import NamedTuple

import numpy as np


class IsotonicFit(NamedTuple):
    """Isotonic regression of outcomes on values: at each distinct value (k,) its number and the fit."""

    values: np.ndarray
    counts: np.ndarray
    fitted: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, outcomes: np.ndarray) -> "IsotonicFit":
        """Return the non-decreasing least squares fit of outcomes (n,) bool to values (n,), n at least 1.

        Equal values are one group.
        """
        distinct, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
        happened = np.bincount(positions, weights=outcomes, minlength=len(distinct))
        return cls(distinct, counts, isotonic(happened / counts, counts))


def isotonic(means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the non-decreasing least squares fit (k,) of means (k,) with weights (k,)."""
    from scipy.optimize import isotonic_regression

    return isotonic_regression(means, weights=weights.astype(np.float64)).x
