"""Bias and variance of the estimates on two Gaussian classes, whose Bayes error is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from confml._processes import Progress, each
from confml._seeds import stable_generator
from confml.bayes_error.estimates import bayes_error_from_crossings
from confml.bayes_error.rates import pairwise_bayes_error
from confml.errors import ConfigError


@dataclass(frozen=True)
class Trials:
    """Estimates of repeated draws of two spherical Gaussians with m = prior * rows and n = rows - m rows.

    priors (P,), as they come out of whole numbers of rows; separations (S,); trees (T,): numbers of trees;
    estimate, uncorrected (P, S, T, trials): equation (6) with and without the bias correction, not
    normalised; truth, bhattacharyya (P, S): the true Bayes error, and that bound of it.
    """

    rows: int
    attributes: int
    priors: np.ndarray
    separations: np.ndarray
    trees: np.ndarray
    estimate: np.ndarray
    uncorrected: np.ndarray
    truth: np.ndarray
    bhattacharyya: np.ndarray

    @property
    def bias(self) -> np.ndarray:
        """Mean estimate minus the true Bayes error: (P, S, T)."""
        return self.estimate.mean(axis=3) - self.truth[:, :, None]

    @property
    def variance(self) -> np.ndarray:
        """Variance of the estimate over the trials: (P, S, T)."""
        return self.estimate.var(axis=3, ddof=1)


def gaussian_trials(
    priors: Sequence[float],
    separations: Sequence[float],
    trees: Sequence[int],
    *,
    rows: int = 1000,
    attributes: int = 2,
    trials: int = 200,
    seed: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Trials:
    """Draw data sets and estimate; all numbers of trees use the same data, and each trial has its own seed.

    The results of a prior and a separation do not depend on the others or on the number of jobs, and a trial
    does not depend on the number of trials. progress: as in `each`. ConfigError for a prior with fewer than 2
    rows in a class.
    """
    if trials < 2:
        raise ConfigError(f"expected at least two trials, got {trials}")
    if not np.isfinite([*priors, *separations, *trees]).all():
        raise ConfigError("expected finite priors, separations and numbers of trees")
    sizes = [round(prior * rows) for prior in priors]
    for prior, m in zip(priors, sizes, strict=True):
        if not 2 <= m <= rows - 2:
            raise ConfigError(f"a prior of {prior} leaves a class of {rows} rows fewer than 2 rows")
    if not separations or not trees or min(separations) < 0 or min(trees) < 1:
        raise ConfigError("expected separations of at least 0 and numbers of trees of at least 1")
    counts = np.array(sorted(set(trees)))
    points = [(m, separation) for m in sizes for separation in separations]
    tasks = [(m, rows - m, s, attributes, int(counts[-1]), trials, seed) for m, s in points]
    if jobs > 1:
        _crossings(5, 5, 1.0, 2, 2, 2, 0)  # compile kernels once, before the workers start
    found = list(each(lambda task: _crossings(*task), tasks, jobs, progress=progress))
    if np.isnan(found).any():
        raise ConfigError(f"{rows} rows do not have {max(trees)} orthogonal spanning trees")
    # mean over the first t trees, for each t
    shape = len(sizes), len(separations), trials, int(counts[-1])
    means = np.cumsum(np.stack(found).reshape(shape), axis=3) / np.arange(1, shape[3] + 1)
    crossings = np.moveaxis(means[:, :, :, counts - 1], 3, 2)
    smaller = np.array(sizes)[:, None, None, None]
    corrected, raw = (
        bayes_error_from_crossings(crossings, smaller, rows - smaller, correct_bias=correct, normalise=False)[
            0
        ]
        for correct in (True, False)
    )
    p, s = np.array(sizes) / rows, np.array(separations, dtype=float)
    return Trials(
        rows=rows,
        attributes=attributes,
        priors=p,
        separations=s,
        trees=counts,
        estimate=corrected,
        uncorrected=raw,
        truth=np.asarray(gaussian_bayes_error(s[None, :], p[:, None])),
        bhattacharyya=np.asarray(bhattacharyya_bound(s[None, :], p[:, None])),
    )


def _crossings(m: int, n: int, separation: float, attributes: int, trees: int, trials: int, seed: int):
    """Return the crossings of each orthogonal tree: (trials, trees)."""
    crossings = np.empty((trials, trees))
    for trial in range(trials):
        rng = stable_generator("gaussian trials", seed, m, n, float(separation), attributes, trial)
        X, y = gaussian_classes(m, n, separation, rng, attributes)
        crossings[trial] = pairwise_bayes_error(X, y, trees=trees).per_tree[:, 0, 1]
    return crossings


def gaussian_bayes_error(separation, prior=0.5):
    """Return the Bayes error of N(a, I) and N(b, I) with |a - b| = separation and priors `prior`, 1 - prior.

    The Bayes rule cuts along a - b at a shift of log(prior / (1 - prior)) / separation:
    p Phi(-D/2 - t/D) + q Phi(-D/2 + t/D), t = log(p/q), any dimension. Arrays broadcast.
    """
    distance, p = np.broadcast_arrays(np.asarray(separation, float), np.asarray(prior, float))
    _check_normals(distance, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.log(p / (1 - p)) / distance
        error = p * ndtr(-distance / 2 - shift) + (1 - p) * ndtr(-distance / 2 + shift)
    return np.where(distance == 0, np.minimum(p, 1 - p), error)


def bhattacharyya_bound(separation, prior=0.5):
    """Return sqrt(p q) exp(-separation^2 / 8), the Bhattacharyya bound for these classes (Kailath 1967)."""
    distance, p = np.broadcast_arrays(np.asarray(separation, float), np.asarray(prior, float))
    _check_normals(distance, p)
    return np.sqrt(p * (1 - p)) * np.exp(-(distance**2) / 8)


def gaussian_classes(n, m, separation, rng, d: int = 2):
    """Return n and m rows of two spherical Gaussians with d features: X (n + m, d), y (n + m,) of 0 and 1."""
    X = rng.normal(size=(n + m, d))
    X[n:, 0] += separation
    return X, np.repeat([0, 1], [n, m])


def _check_normals(distance, p):
    if (distance < 0).any() or not ((p > 0) & (p < 1)).all():
        raise ConfigError("expected a separation of at least 0 and a prior between 0 and 1")
