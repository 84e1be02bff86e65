"""Measures of how hard a classification problem is that come with neighbours and spanning trees.

Packages disagree about several of them, so each formula is stated where it is computed. Distances are
Euclidean on the rows as given; every tie among nearest neighbours is shown as a band (least, most) around the
value, which takes the neighbour with the smallest row number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confml.bayes_error.shared_trees import check_problem, count_crossings
from confml.errors import ConfigError

BLOCK = 1 << 22


@dataclass(frozen=True)
class Measure:
    """A value with the band that ties leave: least <= value <= most, NaN where the band is not known."""

    value: float
    least: float
    most: float


def complexity_measures(X, y) -> dict[str, Measure]:
    """All measures below for rows X (n, d) and labels y (n,), by name: N1, R/n, N2, N3, LSC, C1, C2.

    N1: share of rows that are an end of an edge between two classes in the first minimal spanning tree (Ho
    and Basu 2002). Its band is not computed (NaN); that of R/n says whether ties matter. R/n: edges between
    classes over rows, of the same tree, K classes counted together. N2: r/(1 + r), r = sum of distances to
    the nearest row of the own class / sum of those to the nearest of another. N3: share of rows whose nearest
    neighbour is of another class (leave-one-out error of 1-NN). LSC: 1 - sum |LS(x)| / n^2, LS(x) = the rows
    strictly nearer to x than its nearest row of another class, x itself included. C1: 1 + sum p_k log p_k /
    log K (0 for equal classes). C2: 1 - 1/IR, IR = (K-1)/K sum n_k / (n - n_k).
    """
    X, classes, codes = check_problem(X, y, 1)
    n = codes.size
    own, other, correct_least, correct_most, correct, local = _nearest(X, codes)
    found = {}
    _, _, trees = count_crossings(X, codes, classes.size, 1)
    crossing = codes[trees.u] != codes[trees.v]
    ends = np.unique(np.concatenate([trees.u[crossing], trees.v[crossing]])).size
    least, most = trees.between
    found["N1"] = Measure(ends / n, np.nan, np.nan)
    found["R/n"] = Measure(crossing.sum() / n, least / n, most / n)
    alone = np.isinf(own)
    same, foreign = own[~alone].sum(), other.sum()
    ratio = same / foreign if foreign > 0 else (np.inf if same > 0 else np.nan)
    n2 = 1.0 if np.isinf(ratio) else ratio / (1 + ratio)
    found["N2"] = Measure(n2, n2, n2)
    found["N3"] = Measure(1 - correct / n, 1 - correct_most / n, 1 - correct_least / n)
    lsc = 1 - local.sum() / n**2
    found["LSC"] = Measure(lsc, lsc, lsc)
    counts = np.bincount(codes)
    p = counts / n
    c1 = 1 + float(np.sum(p * np.log(p))) / np.log(classes.size)
    imbalance = (classes.size - 1) / classes.size * np.sum(counts / (n - counts))
    c2 = 1 - 1 / imbalance
    found["C1"], found["C2"] = Measure(c1, c1, c1), Measure(c2, c2, c2)
    return found


@dataclass(frozen=True)
class NeighbourBounds:
    """Bounds of the Bayes error from the leave-one-out error of 1-NN (Cover and Hart 1967).

    error: that error; lower = (K-1)/K (1 - sqrt(1 - K/(K-1) error)) and upper = error, as 1-NN's error tends
    to something not below the Bayes error; least, most: the error's band under ties.
    """

    error: float
    lower: float
    upper: float
    least: float
    most: float


def neighbour_bounds(X, y) -> NeighbourBounds:
    """Bounds of the Bayes error of all classes from nearest neighbours, leaving one out."""
    X, classes, codes = check_problem(X, y, 1)
    _, _, correct_least, correct_most, correct, _ = _nearest(X, codes)
    n = codes.size
    error = 1 - correct / n
    return NeighbourBounds(
        error, cover_hart_bound(error, classes.size), error, 1 - correct_most / n, 1 - correct_least / n
    )


def cover_hart_bound(error: float, n_classes: int) -> float:
    """(K-1)/K (1 - sqrt(1 - K/(K-1) error)): least Bayes error that a 1-NN error in the limit leaves
    possible."""
    if not 0 <= error <= 1 or n_classes < 2:
        raise ConfigError(f"expected an error from 0 to 1 and two classes, got {error} and {n_classes}")
    top = (n_classes - 1) / n_classes
    return top * (1 - np.sqrt(max(1 - error / top, 0.0)))


def _nearest(X, codes):
    """Per row: distance to the nearest of its own and of other classes; counts for N3 and LSC.

    Returns own, other (n,), rows whose nearest neighbour is certainly, possibly, and by the smallest row
    number of their own class (three counts), and the sizes of the local sets (n,). Direct differences, in
    blocks of rows.
    """
    n = codes.size
    own, other = np.empty(n), np.empty(n)
    local = np.empty(n, dtype=np.int64)
    certain = possible = first = 0
    step = max(1, BLOCK // n)
    for begin in range(0, n, step):
        rows = np.arange(begin, min(begin + step, n))
        distance = _squared_distances(X, rows)
        distance[rows - begin, rows] = np.inf
        same = codes[rows, None] == codes[None, :]
        nearest_own = np.where(same, distance, np.inf).min(axis=1)
        nearest_other = np.where(same, np.inf, distance).min(axis=1)
        own[rows], other[rows] = np.sqrt(nearest_own), np.sqrt(nearest_other)
        certain += int(np.sum(nearest_own < nearest_other))
        possible += int(np.sum(nearest_own <= nearest_other))
        first += int(np.sum(codes[np.argmin(distance, axis=1)] == codes[rows]))
        local[rows] = 1 + np.sum(distance < nearest_other[:, None], axis=1)
    return own, other, certain, possible, first, local


def _squared_distances(X, rows):
    total = np.zeros((rows.size, X.shape[0]))
    for a in range(X.shape[1]):
        difference = X[rows, a][:, None] - X[None, :, a]
        total += difference * difference
    return total
