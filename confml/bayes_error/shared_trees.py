"""The trees of all pairs of classes and of the whole set, every distance computed once."""

from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, overload

import numpy as np

from confml._threads import limits_blas
from confml.bayes_error import _kernels_edges as edges
from confml.bayes_error._kernels_kruskal import layered_kruskal, pick
from confml.bayes_error._kernels_one_vs_rest import class_crossings, class_tie_bands, total_tie_band
from confml.bayes_error.forests import build_forest, crossings_of_pairs, forests_of_classes
from confml.bayes_error.points import Points, check_rows, lay_out, to_unit
from confml.bayes_error.searched_trees import searched_trees, searches_pay
from confml.errors import ConfigError, DataError


@dataclass(frozen=True)
class Crossings:
    """Crossings of spanning trees, the input of estimates.

    per_tree (T, ...): R of each orthogonal tree, NaN from the first tree on that does not exist; least, most
    (T, ...): tie band of each tree, with the trees before it as they are; m, n (...): rows on the two sides.
    (...) is (K, K) for pairs of classes (symmetric, NaN diagonal), (K,) for one class against the rest.
    """

    per_tree: np.ndarray
    least: np.ndarray
    most: np.ndarray
    m: np.ndarray
    n: np.ndarray


@dataclass(frozen=True)
class WholeTrees:
    """Edges of the orthogonal trees of the whole set by row number: u < v (E,), distance (E,), tree (E,) from
    0.

    between: least and most edges between classes that the first tree can have under ties, (0, 0) without
    classes. crossing (T, K, K): edges between each two classes in each tree, symmetric, NaN from the first
    tree on that does not exist; empty without classes. neighbour_error: see `neighbour_error`.
    """

    u: np.ndarray
    v: np.ndarray
    distance: np.ndarray
    tree: np.ndarray
    between: tuple[int, int] = (0, 0)
    crossing: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0)))
    neighbour_error: tuple[float, float, float] = (0.0, 0.0, 0.0)


def check_problem(X, y, trees: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, the classes (K,) and class codes (n,); DataError or ConfigError for invalid input."""
    _check_trees(trees)
    X = check_rows(X)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise DataError(f"expected one label per row, got {X.shape[0]} rows and labels of shape {y.shape}")
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise DataError(f"expected at least two classes, got only {classes[0]!r}")
    return X, classes, codes


def _check_trees(trees: int) -> None:
    if isinstance(trees, bool) or not isinstance(trees, (int, np.integer)) or not 1 <= trees <= 100:
        raise ConfigError(f"trees: expected a whole number from 1 to 100, got {trees!r}")


@overload
def count_crossings(
    X: np.ndarray, codes: np.ndarray, n_classes: int, trees: int, *, whole: Literal[True] = True
) -> tuple[Crossings, Crossings, WholeTrees]: ...


@overload
def count_crossings(
    X: np.ndarray, codes: np.ndarray, n_classes: int, trees: int, *, whole: Literal[False]
) -> tuple[Crossings, None, None]: ...


@limits_blas
def count_crossings(
    X: np.ndarray, codes: np.ndarray, n_classes: int, trees: int, *, whole: bool = True
) -> tuple[Crossings, Crossings | None, WholeTrees | None]:
    """Return the crossings of every pair and, if `whole`, of every class against the rest with the whole
    trees.

    X (n, d) finite float64; codes (n,) from 0 to n_classes - 1, each of them with a row. Among equal
    distances the edge with the smaller smaller row number comes first, then the one with the smaller larger
    row number. Several threads are used, see `confml.threads`.
    """
    points = lay_out(X, codes, n_classes)
    starts = points.starts
    inside = forests_of_classes(points, trees)
    pairs_of_classes = list(combinations(range(n_classes), 2))
    crossings = crossings_of_pairs(points, inside, pairs_of_classes)
    shape = n_classes, n_classes
    per_tree = np.full((trees, *shape), np.nan)
    least, most = per_tree.copy(), per_tree.copy()
    for (a, b), pair in zip(pairs_of_classes, crossings, strict=True):
        rows = starts[a + 1] - starts[a] + starts[b + 1] - starts[b]
        done = int(np.sum(pair.sizes == rows - 1))
        for table, values in ((per_tree, pair.crossings), (least, pair.least), (most, pair.most)):
            table[:done, a, b] = table[:done, b, a] = values[:done]
    counts = np.diff(starts)
    off = ~np.eye(n_classes, dtype=bool)
    m, n = np.where(off, counts[:, None], 0), np.where(off, counts[None, :], 0)
    pairs = Crossings(per_tree, least, most, m, n)
    if not whole:
        return pairs, None, None
    pool = [forest.edges for forest in inside]
    pool += [(pair.u, pair.v, pair.d2, pair.key) for pair in crossings]
    return pairs, *_whole_set(points, pool, counts, trees)


def _whole_set(points: Points, pool: list, counts: np.ndarray, trees: int) -> tuple[Crossings, WholeTrees]:
    u, v, d2, key = (np.concatenate(parts) for parts in zip(*pool, strict=True))
    u, v, d2, key = edges.take(u, v, d2, key, edges.sorted_order(d2, key))
    total = len(points)
    layer, sizes = layered_kruskal(total, trees, u, v, 0, total, 0)
    code = np.repeat(np.arange(counts.size), counts)
    per_tree = class_crossings(trees, counts.size, layer, code[u], code[v]).astype(float)
    least, most = class_tie_bands(total, trees, counts.size, layer, u, v, d2, code[u], code[v])
    least, most = least.astype(float), most.astype(float)
    for table in (per_tree, least, most):
        table[sizes < total - 1] = np.nan
    crossings = Crossings(per_tree, least, most, counts, total - counts)
    between = total_tie_band(total, u, v, d2, code[u], code[v])
    nearest = neighbour_error(u, v, d2, code)
    u, v, d2, _, layer = pick(u, v, d2, key, layer)
    crossing = edges_between(layer, code[u], code[v], trees, counts.size).astype(float)
    crossing[sizes < total - 1] = np.nan
    i, j = points.rank[u], points.rank[v]
    whole = WholeTrees(
        np.minimum(i, j), np.maximum(i, j), np.sqrt(d2) * points.scale, layer, between, crossing, nearest
    )
    return crossings, whole


def neighbour_error(u: np.ndarray, v: np.ndarray, d2: np.ndarray, code: np.ndarray):
    """Return the leave-one-out error of 1-NN, and its least and most over choices among equally near rows.

    u, v, d2 (E,): sorted edges of the trees of all classes and of all pairs of classes under every order of
    equal distances; code (n,): classes of the positions. The first edge at a row joins no rows that are
    joined already, so it is in each tree that has this row. Therefore the edges have the nearest row of the
    own class, and a nearest row of another class unless it is farther than that. The first one goes to the
    row with the smallest number.
    """
    n, crossing = code.size, code[u] != code[v]
    ends = np.column_stack([u, v])

    def first(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, places = np.unique(ends[chosen], return_index=True)
        return rows, np.flatnonzero(chosen)[places // 2]

    own, other = np.full((2, n), np.inf)
    for distance, chosen in ((own, ~crossing), (other, crossing)):
        rows, edge = first(chosen)
        distance[rows] = d2[edge]
    wrong = crossing[first(np.ones(u.size, bool))[1]]
    return tuple(float(count / n) for count in (wrong.sum(), (own > other).sum(), (own >= other).sum()))


def edges_between(layer: np.ndarray, a: np.ndarray, b: np.ndarray, trees: int, n_classes: int) -> np.ndarray:
    """Return the edges between each two classes in each tree, (T, K, K), symmetric with a diagonal of 0.

    layer, a, b (E,): the tree of each edge and the class codes of its ends.
    """
    flat = (layer.astype(np.int64) * n_classes + a) * n_classes + b
    counts = np.bincount(flat, minlength=trees * n_classes**2).reshape(trees, n_classes, n_classes)
    counts = counts + counts.transpose(0, 2, 1)
    counts[:, np.arange(n_classes), np.arange(n_classes)] = 0
    return counts


@limits_blas
def spanning_trees(X, trees: int = 1) -> WholeTrees:
    """Return orthogonal Euclidean minimum spanning trees of the rows of X (n, d); forests if no further tree
    exists."""
    _check_trees(trees)
    X = check_rows(X)
    scaled, scale = to_unit(X)
    if searches_pay(scaled):
        i, j, d2, _, layer = searched_trees(scaled, np.arange(X.shape[0]), trees)
    else:
        points = lay_out(X, np.zeros(X.shape[0], dtype=np.int64), 1)
        forest = build_forest(points, 0, trees)
        i, j = points.rank[forest.u], points.rank[forest.v]
        d2, layer = forest.d2, forest.layer
    return WholeTrees(np.minimum(i, j), np.maximum(i, j), np.sqrt(d2) * scale, layer)
