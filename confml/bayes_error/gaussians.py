"""Two Gaussian classes with a known Bayes error."""

import numpy as np
from scipy.special import ndtr

from confml.errors import ConfigError


def gaussian_bayes_error(separation, prior=0.5):
    """Return the Bayes error of N(a, I) and N(b, I) with |a - b| = separation and priors `prior`, 1 - prior.

    The Bayes rule cuts along a - b at a shift of log(prior / (1 - prior)) / separation:
    p Phi(-D/2 - t/D) + q Phi(-D/2 + t/D), t = log(p/q), any dimension. Arrays broadcast.
    """
    distance, p = np.broadcast_arrays(np.asarray(separation, float), np.asarray(prior, float))
    _check(distance, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log(p / (1 - p)) / distance
        error = p * ndtr(-distance / 2 - shift) + (1 - p) * ndtr(-distance / 2 + shift)
    return np.where(distance == 0, np.minimum(p, 1 - p), error)


def bhattacharyya_bound(separation, prior=0.5):
    """Return sqrt(p q) exp(-separation^2 / 8), the Bhattacharyya bound for these classes (Kailath 1967)."""
    distance, p = np.broadcast_arrays(np.asarray(separation, float), np.asarray(prior, float))
    _check(distance, p)
    return np.sqrt(p * (1 - p)) * np.exp(-(distance**2) / 8)


def gaussian_classes(n, m, separation, rng, d: int = 2):
    """Return n and m rows of two spherical Gaussians with d features: X (n + m, d), y (n + m,) of 0 and 1."""
    X = rng.normal(size=(n + m, d))
    X[n:, 0] += separation
    return X, np.repeat([0, 1], [n, m])


def _check(distance, p):
    if (distance < 0).any() or not ((p > 0) & (p < 1)).all():
        raise ConfigError("expected a separation of at least 0 and a prior between 0 and 1")
