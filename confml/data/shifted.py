"""Synthetic data whose test part has another distribution than its training part."""

from __future__ import annotations

import math

import numpy as np


def covariate_shift(n: int, rng: np.random.Generator, d: int = 2, shift: float = 1.0):
    """Return X (n, d) and classes 1 and 2 of a unit Gaussian whose first feature has the mean ``shift``.

    Class 2 where x2 + exp(x1 - 1) e > 0 with e ~ N(0, 1): the larger x1, the harder the example. The
    distribution of the class given the features does not depend on ``shift``.
    """
    X = rng.standard_normal((n, d))
    X[:, 0] += shift
    noise = np.exp(X[:, 0] - 1.0) * rng.standard_normal(n)
    return X, (X[:, 1] + noise > 0).astype(np.int64) + 1


def covariate_shift_probability(X: np.ndarray, d: int = 2, shift: float = 1.0) -> np.ndarray:
    """Return (n, 2) true probabilities of classes 1 and 2."""
    from scipy.special import ndtr

    X = np.asarray(X, dtype=np.float64)
    standard = X[:, 1] * np.exp(1.0 - X[:, 0])
    return np.column_stack([ndtr(-standard), ndtr(standard)])


def covariate_shift_bayes_error(d: int = 2, shift: float = 1.0) -> float:
    """Return the mean of arctan(exp(x1 - 1)) / pi over x1 ~ N(shift, 1), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    values = np.arctan(np.exp(nodes + shift - 1.0)) / math.pi
    return float(weights @ values / weights.sum())
