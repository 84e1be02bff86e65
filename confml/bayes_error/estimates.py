"""Bayes error rates from crossings of spanning trees: (3) to (9) of van den Burg and Hero (2017)."""

from dataclasses import dataclass

import numpy as np

from confml.bayes_error.crossings import WholeTrees
from confml.errors import ConfigError

COUNTS = ("all", "nontrivial")


def largest_crossings(n, smaller_prior):
    """Return gamma of equation (8): the crossings at which the estimate equals the smaller prior.

    n: rows of both classes; smaller_prior: min(p, q). gamma = 2 n pm - 3/4 n + 1/4 n sqrt(9 - 16 pm).
    """
    n, pm = np.asarray(n, dtype=float), np.asarray(smaller_prior, dtype=float)
    return 2 * n * pm - 0.75 * n + 0.25 * n * np.sqrt(9 - 16 * pm)


def bayes_error_from_crossings(crossings, m, n, *, correct_bias=True, normalise=True):
    """Return estimate, lower and upper bound of the Bayes error of two classes with m and n rows.

    crossings: R, the edges between the classes, possibly a mean over orthogonal trees; arrays broadcast. With
    u = 1 - 2R/(m + n), clipped at 0 ((3) and (5) put together): lower = 1/2 - sqrt(u)/2 and upper = 1/2 - u/2
    (4), estimate = their mean (6); correct_bias: R is replaced by min(gamma, R) (7), (8); normalise: the
    estimate, not the bounds, is divided by min(m, n)/(m + n) (9), the largest possible Bayes error, and is
    therefore in [0, 1]. NaN if a class has no rows.
    """
    m, n = np.asarray(m, dtype=float), np.asarray(n, dtype=float)
    total = m + n
    with np.errstate(invalid="ignore", divide="ignore"):
        pm = np.minimum(m, n) / total
        crossings = np.asarray(crossings, dtype=float)
        if correct_bias:
            crossings = np.minimum(largest_crossings(total, pm), crossings)
        u = np.maximum(1 - 2 * crossings / total, 0.0)
        lower, upper = 0.5 - 0.5 * np.sqrt(u), 0.5 - 0.5 * u
        estimate = 0.5 - 0.25 * np.sqrt(u) - 0.25 * u
        # with R = gamma the estimate is pm except for rounding
        estimate = np.minimum(estimate, pm) if correct_bias else estimate
        if normalise:
            estimate = estimate / pm
    empty = (m == 0) | (n == 0)
    return tuple(np.where(empty, np.nan, values) for values in (estimate, lower, upper))


@dataclass(frozen=True)
class GlobalTreeBounds:
    """Bounds of the Bayes error of all classes from one minimum spanning tree of all rows.

    classes (K,); delta (K, K): edges between two classes divided by twice the rows, an estimate of the
    integral of p_i f_i p_j f_j / f (symmetric, NaN diagonal); upper: 2 times the sum of delta
    over pairs, the share of edges between classes; lower: (K-1)/K (1 - sqrt(1 - K/(K-1) upper)); estimate:
    mean of both; least, most: the estimate at the smallest and largest number of such edges that the tree can
    have under ties. All are at most 1 - (largest class share), the error of predicting the largest class.
    """

    classes: np.ndarray
    delta: np.ndarray
    estimate: float
    lower: float
    upper: float
    least: float
    most: float


def bounds_of_tree(classes: np.ndarray, counts: np.ndarray, whole: WholeTrees) -> GlobalTreeBounds:
    """Return the bounds from the first of the trees of all rows; counts (K,): rows of each class."""
    rows = counts.sum()
    delta = whole.crossing[0] / (2 * rows)
    np.fill_diagonal(delta, np.nan)
    between = np.triu(whole.crossing[0], 1).sum()
    lower, upper = bounds_of_share(between / rows, counts)
    least, most = (sum(bounds_of_share(edges / rows, counts)) / 2 for edges in whole.between)
    return GlobalTreeBounds(classes, delta, (lower + upper) / 2, lower, upper, least, most)


def bounds_of_share(share: float, counts: np.ndarray) -> tuple[float, float]:
    """Return lower and upper bound of the Bayes error for a share of edges between classes.

    For many rows the share is the probability of two labels at one place that differ, E[1 - sum p_j^2]: the
    asymptotic error of 1-NN. Both bounds are those of Cover and Hart (1967), and at most the error of
    predicting the largest class. counts (K,): rows of each class.
    """
    largest = (counts.size - 1) / counts.size
    most = 1 - counts.max() / counts.sum()
    upper = min(max(float(share), 0.0), largest)
    return float(min(cover_hart_bound(upper, counts.size), most)), float(min(upper, most))


@dataclass(frozen=True)
class NeighbourBounds:
    """Bounds of the Bayes error of all classes from the leave-one-out error of 1-NN (Cover and Hart 1967).

    error: leave-one-out error; among equally near rows the one with the smallest number is the neighbour.
    lower = (K-1)/K (1 - sqrt(1 - K/(K-1) error)); upper = error, because the limit of the error of 1-NN is at
    least the Bayes error; estimate: mean of both, at most the error of predicting the largest class; least,
    most: smallest and largest error over all choices among equally near rows.
    """

    error: float
    estimate: float
    lower: float
    upper: float
    least: float
    most: float


def bounds_of_neighbours(counts: np.ndarray, whole: WholeTrees) -> NeighbourBounds:
    """Return the bounds from the errors of 1-NN; counts (K,): rows of each class."""
    error, least, most = whole.neighbour_error
    lower = cover_hart_bound(error, counts.size)
    estimate = min((error + lower) / 2, float(1 - counts.max() / counts.sum()))
    return NeighbourBounds(error, estimate, lower, error, least, most)


def cover_hart_bound(error: float, n_classes: int) -> float:
    """Return (K-1)/K (1 - sqrt(1 - K/(K-1) error)), the smallest Bayes error for an asymptotic 1-NN error.

    An observed error may be above (K-1)/K, the largest asymptotic one, whose bound it has then. Raises
    ConfigError for an error that K classes cannot have.
    """
    if not 0 <= error <= 1 or n_classes < 2:
        raise ConfigError(f"expected an error from 0 to 1 and two classes, got {error} and {n_classes}")
    top = (n_classes - 1) / n_classes
    return float(top * (1 - np.sqrt(max(1 - error / top, 0.0))))
