"""Edges between classes in the spanning trees of all pairs of classes and of the whole set."""

from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Literal, overload

import numpy as np

from confml._threads import for_each, limits_blas
from confml.bayes_error._kernels_kruskal import layered_kruskal, tie_bands
from confml.bayes_error.forests import Edges, forest
from confml.bayes_error.points import Points, check_rows


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
    points = Points.of(X, codes, n_classes)
    counts = np.diff(points.starts)
    pairs = list(combinations_with_replacement(range(n_classes), 2))
    pairs.sort(key=lambda pair: -counts[pair[0]] * counts[pair[1]])  # expensive ones first
    forests: dict[tuple[int, int], Edges] = {}

    def build(pair: tuple[int, int], _) -> None:
        forests[pair] = forest(points, points.range(pair[0]), points.range(pair[1]), trees)

    for_each(build, pairs)
    # per tree, least and most crossings
    tables = np.full((3, trees, n_classes, n_classes), np.nan)

    def count(pair: tuple[int, int], _) -> None:
        a, b = map(points.range, pair)
        edges = Edges.joined([forests[pair[0], pair[0]], forests[pair[1], pair[1]], forests[pair]])
        rows = counts[list(pair)].sum()
        u, v = edges.local(a, b)
        layer, apart = layered_kruskal(rows, trees, u, v, edges.d2)
        crosses = (u < counts[pair[0]]) & (v >= counts[pair[0]])
        side = np.repeat([0, 1], counts[list(pair)])
        least, most = tie_bands(rows, trees, 0, layer, u, v, edges.d2, side[u], side[v])
        sizes = np.bincount(layer + 1, minlength=trees + 1)[1:]
        crossings = np.bincount(layer[crosses] + 1, minlength=trees + 1)[1:]
        done = int(np.sum(sizes == rows - 1))
        for table, values in zip(tables, (crossings, least[:, 0], most[:, 0]), strict=True):
            table[:done, pair[0], pair[1]] = table[:done, pair[1], pair[0]] = values[:done]
        # The others are in no tree of a larger set either, whichever of equal edges come first.
        forests[pair] = edges.of(crosses & apart)

    for_each(count, [pair for pair in pairs if pair[0] < pair[1]])
    off = ~np.eye(n_classes, dtype=bool)
    m, n = np.where(off, counts[:, None], 0), np.where(off, counts[None, :], 0)
    per_tree, least, most = tables
    of_pairs = Crossings(per_tree, least, most, m, n)
    if not whole:
        return of_pairs, None, None
    return of_pairs, *_whole_set(points, Edges.joined(forests.values()), trees)


def _whole_set(points: Points, edges: Edges, trees: int) -> tuple[Crossings, WholeTrees]:
    """Return the crossings of each class and the trees of all rows; edges: of the trees of all classes, and
    those of all pairs whose ends no shorter edges of the last tree join."""
    counts, total = np.diff(points.starts), len(points.X)
    code = np.repeat(np.arange(counts.size), counts)
    u, v, d2, _ = edges
    layer, _ = layered_kruskal(total, trees, u, v, d2)
    least, most = (
        band.astype(float) for band in tie_bands(total, trees, counts.size, layer, u, v, d2, code[u], code[v])
    )
    between = int(least[0, -1]), int(most[0, -1])
    neighbours = neighbour_error(u, v, d2, code)
    chosen = layer >= 0
    u, v, d2, layer = u[chosen], v[chosen], d2[chosen], layer[chosen]
    crossing = edges_between(layer, code[u], code[v], trees, counts.size).astype(float)
    exists = np.bincount(layer, minlength=trees) == total - 1
    for table in (crossing, least, most):
        table[~exists] = np.nan
    of_classes = Crossings(crossing.sum(axis=2), least[:, :-1], most[:, :-1], counts, total - counts)
    return of_classes, _by_rows(points, u, v, d2, layer, between, crossing, neighbours)


def _by_rows(points: Points, u, v, d2, layer, *rest) -> WholeTrees:
    i, j = points.rank[u], points.rank[v]
    return WholeTrees(np.minimum(i, j), np.maximum(i, j), np.sqrt(d2) * points.scale, layer, *rest)


def neighbour_error(u: np.ndarray, v: np.ndarray, d2: np.ndarray, code: np.ndarray):
    """Return the leave-one-out error of 1-NN, and its least and most over choices among equally near rows.

    u, v, d2 (E,): sorted edges that include the first one at each row, and the first of those to rows of each
    other class unless a shorter one leads to the own class; code (n,): classes of the positions. The first
    edge goes to the nearest row with the smallest number.
    """
    n, crossing = code.size, code[u] != code[v]

    def first(chosen: np.ndarray) -> np.ndarray:
        """Return the place (n,) of the first of the chosen edges at each row, E for none."""
        firsts = np.full(n, u.size)
        for ends in (u, v):
            np.minimum.at(firsts, ends[chosen], np.flatnonzero(chosen))
        return firsts

    distance = np.append(d2, np.inf)
    same, different = distance[first(~crossing)], distance[first(crossing)]  # classes
    wrong = crossing[first(np.ones(u.size, bool))]
    return tuple(float(np.sum(errors) / n) for errors in (wrong, same > different, same >= different))


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
    X = check_rows(X, trees)
    points = Points.of(X, np.zeros(len(X), dtype=np.int64), 1)
    everything = points.range(0)
    u, v, d2, _ = forest(points, everything, everything, trees)
    layer, _ = layered_kruskal(len(X), trees, u, v, d2)
    return _by_rows(points, u, v, d2, layer)
