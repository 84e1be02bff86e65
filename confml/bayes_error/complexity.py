"""Complexity measures of a classification problem from nearest neighbours and spanning trees.

Packages define several of them differently, so each formula is stated where it is computed. Distances are
Euclidean on the given rows. The value uses the neighbour with the smallest row number for ties; a band
(least, most) shows the range over all orders of ties.
"""

from dataclasses import dataclass

import numpy as np

from confml.bayes_error import _kernels_nearest as kernels
from confml.bayes_error._kernels_lists import lists_of_block
from confml.bayes_error.neighbour_lists import for_each_block
from confml.bayes_error.points import lay_out
from confml.bayes_error.shared_trees import WholeTrees, check_problem, count_crossings
from confml.errors import ConfigError

FORMULAS = {
    "N1": "share of rows at an end of an edge between classes in the first minimum spanning tree",
    "N2": "r/(1 + r), r = sum of distances to the nearest row of the own class / of another class",
    "N3": "share of rows whose nearest neighbour is of another class",
    "R/n": "edges between classes in the first minimum spanning tree / rows",
    "LSC": "1 - sum of local set sizes / n^2; local set: rows nearer than the nearest of another class",
    "C1": "1 + sum p_k log p_k / log K: 0 for classes of one size",
    "C2": "1 - 1/IR, IR = (K-1)/K sum n_k/(n - n_k): 0 for classes of one size",
}
"""Definition of each measure, in the order of the report."""


@dataclass(frozen=True)
class Measure:
    """A value and its band over orders of ties: least <= value <= most."""

    value: float
    least: float
    most: float


@dataclass(frozen=True)
class Neighbours:
    """Nearest neighbours of each row, arrays (n,); see `nearest_rows`."""

    same_class: np.ndarray
    other: np.ndarray
    first_is_own: np.ndarray
    nearer: np.ndarray
    as_near: np.ndarray
    lists: np.ndarray | None = None


def complexity_measures(X, y) -> dict[str, Measure]:
    """Return the measures of `FORMULAS` for rows X (n, d) and labels y (n,), by name.

    N1 (Ho and Basu 2002): its band is an outer bound, exact without ties: from the ends of the crossing edges
    of every minimum spanning tree to the largest number that replaceable edges and R allow. R/n: all classes
    together, with an exact band. N2: rows that are alone in their class are in neither sum. N3: leave-one-out
    error of 1-NN. LSC (Leyva et al. 2015): a row is in its own local set; the lower end of the band includes
    rows of the own class at the distance of the nearest row of another class. C1, C2 (Lorena et al. 2019)
    depend on class sizes only.
    """
    X, classes, codes = check_problem(X, y, 1)
    whole = count_crossings(X, codes, classes.size, 2)[2]
    return measures_of(codes, classes.size, nearest_rows(X, codes, classes.size), whole)


def measures_of(codes: np.ndarray, n_classes: int, near: Neighbours, whole: WholeTrees) -> dict[str, Measure]:
    """Return `complexity_measures` from neighbours and the first two (or more) orthogonal trees of all
    rows."""
    n = codes.size
    found = tree_measures(codes, whole)
    alone = np.isinf(near.same_class)
    same, foreign = near.same_class[~alone].sum(), near.other[~alone].sum()
    ratio = same / foreign if foreign > 0 else (np.inf if same > 0 else np.nan)
    n2 = 1.0 if np.isinf(ratio) else ratio / (1 + ratio)
    found["N2"] = Measure(n2, n2, n2)
    wrong, least, most = neighbour_error(near)
    found["N3"] = Measure(wrong, least, most)
    strict, loose = (1 - (n + rows.sum()) / n**2 for rows in (near.nearer, near.nearer + near.as_near))
    found["LSC"] = Measure(strict, loose, strict)
    counts = np.bincount(codes, minlength=n_classes)
    p = counts / n
    c1 = 1 + float(np.sum(p * np.log(p))) / np.log(n_classes)
    imbalance = (n_classes - 1) / n_classes * np.sum(counts / (n - counts))
    # 0 except for rounding if all classes have one size
    c1, c2 = max(c1, 0.0), max(1 - 1 / imbalance, 0.0)
    found["C1"], found["C2"] = Measure(c1, c1, c1), Measure(c2, c2, c2)
    return {name: Measure(*map(float, vars(found[name]).values())) for name in FORMULAS}


def tree_measures(codes: np.ndarray, whole: WholeTrees) -> dict[str, Measure]:
    """Return N1 and R/n with their bands, from the first two orthogonal trees."""
    n = codes.size
    first, second = whole.tree == 0, whole.tree == 1
    u, v, length = whole.u[first], whole.v[first], whole.distance[first]
    crossing = codes[u] != codes[v]
    other = kernels.replacements(n, u, v, whole.u[second], whole.v[second], whole.distance[second])
    replaceable = other <= length
    least, most = whole.between

    def ends(edges):
        return np.unique(np.concatenate([u[edges], v[edges]])).size

    certain = max(ends(crossing & ~replaceable), least + 1 if least else 0)
    possible = min(n, 2 * most, ends(crossing) + 2 * int(replaceable.sum()))
    return {
        "N1": Measure(ends(crossing) / n, certain / n, possible / n),
        "R/n": Measure(crossing.sum() / n, least / n, most / n),
    }


@dataclass(frozen=True)
class NeighbourBounds:
    """Bounds of the Bayes error from the leave-one-out error of 1-NN (Cover and Hart 1967).

    error: leave-one-out error; lower = (K-1)/K (1 - sqrt(1 - K/(K-1) error)); upper = error, because the
    limit of the error of 1-NN is at least the Bayes error; least, most: band of the error under ties.
    """

    error: float
    lower: float
    upper: float
    least: float
    most: float


def neighbour_bounds(X, y) -> NeighbourBounds:
    """Return bounds of the Bayes error of all classes from the leave-one-out error of 1-NN."""
    X, classes, codes = check_problem(X, y, 1)
    return bounds_of(nearest_rows(X, codes, classes.size), classes.size)


def bounds_of(near: Neighbours, n_classes: int) -> NeighbourBounds:
    """Return `neighbour_bounds` from neighbours."""
    error, least, most = neighbour_error(near)
    return NeighbourBounds(error, cover_hart_bound(error, n_classes), error, least, most)


def neighbour_error(near: Neighbours) -> tuple[float, float, float]:
    """Return the leave-one-out error of 1-NN (smallest row number for ties), and its least and most under
    ties."""
    n = near.same_class.size
    right = (
        near.first_is_own.sum(),
        (near.same_class <= near.other).sum(),
        (near.same_class < near.other).sum(),
    )
    error, least, most = (float((n - count) / n) for count in right)
    return error, least, most


def cover_hart_bound(error: float, n_classes: int) -> float:
    """Return (K-1)/K (1 - sqrt(1 - K/(K-1) error)), the smallest Bayes error for an asymptotic 1-NN error.

    Raises ConfigError for an error that K classes cannot have.
    """
    if not 0 <= error <= 1 or n_classes < 2:
        raise ConfigError(f"expected an error from 0 to 1 and two classes, got {error} and {n_classes}")
    top = (n_classes - 1) / n_classes
    return top * (1 - np.sqrt(max(1 - error / top, 0.0)))


def nearest_rows(X: np.ndarray, codes: np.ndarray, n_classes: int, k: int = 0) -> Neighbours:
    """Return the nearest neighbours of each row of X (n, d), finite, with class codes (n,).

    own, other: distance to the nearest row of the own and of another class (inf if there is none);
    first_is_own: whether the nearest row (smallest number for ties) is of the own class; nearer, as_near:
    number of other rows of the own class that are nearer than the nearest row of another class, and equally
    near; lists (n, k): see `neighbour_lists`, None for k = 0. Distances are compared exactly, as directly
    summed differences; float32 products only exclude pairs. Several threads are used, see `confml.threads`.
    """
    points = lay_out(X, codes, n_classes)
    n = len(points)
    class_of = np.repeat(np.arange(n_classes), np.diff(points.starts))
    own, other = np.empty(n), np.empty(n)
    first, nearer, as_near = np.empty(n, bool), np.zeros(n, np.int64), np.zeros(n, np.int64)
    lists = np.empty((n, k), np.int64) if k else None

    def compute(product: np.ndarray, begin: int) -> None:
        kernels.nearest_of_block(
            product, begin, points.X, points.rank, points.starts, class_of, points.low, points.high,
            (own, other, first, nearer, as_near),
        )  # fmt: skip
        if lists is not None:
            lists_of_block(product, begin, points.X, points.rank, points.low, points.high, lists)

    for_each_block(points, compute)
    back = np.argsort(points.rank)
    own, other = (np.sqrt(squared)[back] * points.scale for squared in (own, other))
    return Neighbours(own, other, first[back], nearer[back], as_near[back], lists)
