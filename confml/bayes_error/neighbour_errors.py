"""Bayes error estimates from leave-one-out k-NN for every k, with their bounds."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from confml.bayes_error import _kernels_lists as kernels
from confml.bayes_error.complexity import cover_hart_bound
from confml.bayes_error.neighbour_lists import neighbour_lists
from confml.bayes_error.shared_trees import check_problem
from confml.errors import ConfigError

NEIGHBOURS = 40
"""Default of the largest k."""
LEAST_BEST = 5


@dataclass(frozen=True)
class NeighbourErrors:
    """Leave-one-out k-NN errors for k = 1..K, arrays (K,).

    k: numbers of neighbours; error: leave-one-out error, an upper bound of the Bayes error for many rows;
    vote_risk: mean of 1 - (largest vote share), a lower bound for many rows; lower: lower bound from the
    error alone (`lower_bound`); estimate: see `middle`, at most the error of predicting the largest class;
    standard_error: of the mean of error and vote_risk, and error_standard_error: of the error, both for the
    sampling of the rows, without the bias; most: the error of predicting the largest class; rows: number of
    rows.
    """

    k: np.ndarray
    error: np.ndarray
    vote_risk: np.ndarray
    lower: np.ndarray
    estimate: np.ndarray
    standard_error: np.ndarray
    error_standard_error: np.ndarray
    most: float
    rows: int

    def interval(self, level: float) -> tuple[float, float]:
        """Return an interval of the Bayes error: `bounds`, each with its `sampling_interval`.

        It includes the bias as far as the bounds hold for infinitely many rows. Simulated coverage: see
        `confml.bayes_error.label_noise.INTERVALS`.
        """
        _, lower, upper = self.bounds
        low, _ = sampling_interval(lower, self.rows, level)
        _, high = sampling_interval(upper, self.rows, level)
        return float(low), min(float(high), self.most)

    @property
    def bounds(self) -> tuple[float, float, float]:
        """Return estimate, lower and upper bound from all k.

        The upper bound is the smallest error. The lower bound is the vote risk of `best`, or the lower bound
        from the smallest error alone where that is smaller: with few rows or many features the vote risk is
        above the error, and no lower bound.
        """
        upper, risk = float(self.error.min()), float(self.vote_risk[self.best])
        lower = min(risk, float(self.lower[np.argmin(self.error)]))
        return min(float(middle(upper, risk)), self.most), lower, upper

    @property
    def best(self) -> int:
        """Return the index of the smallest error, among k >= 5 if there are any; the smallest k for ties.

        With fewer neighbours the vote risk is far below the Bayes error.
        """
        first = min(LEAST_BEST, len(self.k)) - 1
        return first + int(np.argmin(self.error[first:]))


def neighbour_errors(X, y, k: int = NEIGHBOURS) -> NeighbourErrors:
    """Return Bayes error estimates from the k = 1..K nearest neighbours, from one neighbour search.

    X (n, d): rows of finite numbers; y (n,): labels of at least two classes; k: the largest number of
    neighbours, K = min(k, n - 1). Each row is classified by the others. Neighbours are ordered by distance,
    equal distances by row number; among classes with equally many votes, the error counts a random choice.

    For many rows, the neighbours of a row are as good as k more draws of the label at that row. Then the
    error is at least the Bayes error R, and the mean of 1 - max_j n_j / k, with votes n_j, is at most R by
    Jensen's inequality (Devijver 1985). To first order in 1/k both are equally far from R where the
    probabilities have a smooth density, so their mean is the estimate. With few rows or many features,
    neighbours are far away, and all of these are too large, the vote risk most of all.
    """
    check_neighbours(k)
    X, classes, codes = check_problem(X, y, 1)
    return errors_of_lists(neighbour_lists(X, min(k, len(X) - 1)), codes, classes.size)


def check_neighbours(k: int) -> None:
    """Raise ConfigError unless k is a whole number of at least 1."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ConfigError(f"k: expected a whole number of at least 1, got {k!r}")


def errors_of_lists(lists: np.ndarray, codes: np.ndarray, n_classes: int) -> NeighbourErrors:
    """Return `neighbour_errors` from lists (n, K) of row numbers, nearest first, and class codes (n,)."""
    n, most = lists.shape
    sums = kernels.vote_sums(lists, codes, n_classes)
    error, risk, squares, squared_means = sums / n
    mean, estimate = (error + risk) / 2, middle(error, risk)
    k, most_errors = np.arange(1, most + 1), float(1 - np.bincount(codes).max() / n)
    return NeighbourErrors(
        k=k,
        error=error,
        vote_risk=risk,
        lower=np.array([lower_bound(e, int(j), n_classes) for e, j in zip(error, k, strict=True)]),
        estimate=np.minimum(estimate, most_errors),
        standard_error=np.sqrt(np.maximum(squared_means - mean**2, 0.0) / n),
        error_standard_error=np.sqrt(np.maximum(squares - error**2, 0.0) / n),
        most=most_errors,
        rows=n,
    )


def sampling_interval(mean, rows: int, level: float):
    """Return low and high of the interval of Wilson (1927) for the mean of `rows` numbers from 0 to 1.

    Among such numbers, 0 and 1 have the largest variance, so that the interval is wider than necessary for
    others. It is not too short for few errors, unlike the normal interval.
    """
    z = ndtri(0.5 + level / 2)
    centre = mean + z**2 / (2 * rows)
    half = z * np.sqrt(mean * (1 - mean) / rows + (z / (2 * rows)) ** 2)
    share = 1 + z**2 / rows
    return np.clip((centre - half) / share, 0.0, mean), np.clip((centre + half) / share, mean, 1.0)


def middle(error, vote_risk):
    """Return the mean of error and vote risk, or the error where it is the smaller one: then neighbours are
    too far away for the vote risk to be a lower bound."""
    return (error + np.minimum(error, vote_risk)) / 2


def lower_bound(error: float, k: int, n_classes: int) -> float:
    """Return a lower bound of the Bayes error from the asymptotic error of k-NN.

    Two classes and k >= 3: error / (1 + 1 / sqrt(k)) (Devroye 1981; Devijver 1985). Otherwise the bound of
    Cover and Hart (1967) for 1-NN: it holds for every k, because the asymptotic error does not grow with k.
    """
    if n_classes == 2 and k > 2:
        return error / (1 + 1 / np.sqrt(k))
    # an estimated error may be above the largest asymptotic one
    return cover_hart_bound(min(error, (n_classes - 1) / n_classes), n_classes)
