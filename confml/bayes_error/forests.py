"""Orthogonal minimum spanning trees of ranges of positions, and their unions over classes.

Inside each of two sets, the trees of the union use only edges of the trees of that set. So the trees of every
set are computed once and reused for every pair, and only the edges across two sets are examined. The trees of
one set are computed by searches in a k-d tree, or for many features from the trees of its halves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confml._threads import for_each, thread_count
from confml.bayes_error import _kernels_edges as edges
from confml.bayes_error._kernels_cross import witnessed
from confml.bayes_error._kernels_disjoint_set import nearest_roots, roots_of_parts, union_trees
from confml.bayes_error._kernels_kruskal import crossing_trees, layered_kruskal, pick
from confml.bayes_error._kernels_prim import bipartite_trees, dense_trees
from confml.bayes_error.filters import MOST_WITNESSES, Side, edges_across
from confml.bayes_error.points import LEAF, Points, halves
from confml.bayes_error.searched_trees import searched_trees, searches_pay

MOST_SURVIVORS = 1 << 24
"""Largest number of edges that pass the filter of a pair of sets; with more, Prim's algorithm is used."""
WITNESSES = 4
"""Initial number of edges per row behind a bound of the filter, for several trees."""
MANY_ROWS = 2000
"""Number of rows from which a forest is divided into parts that are joined by long edges."""
PARTS = 12
"""Largest number of such parts."""
THREADED = 4096
"""Number of rows from which the halves of a forest are computed one by one, each in several threads."""


@dataclass(frozen=True)
class Forest:
    """T orthogonal trees (forests, where no further tree exists) of positions start..stop-1, edges sorted."""

    start: int
    stop: int
    layers: int
    u: np.ndarray
    v: np.ndarray
    d2: np.ndarray
    key: np.ndarray
    layer: np.ndarray

    @property
    def edges(self):
        return self.u, self.v, self.d2, self.key

    @cached_property
    def sides(self) -> list[Side]:
        """Return the positions in one or more parts, with the bottleneck of each to the root of its part."""
        n = self.stop - self.start
        positions = np.arange(self.start, self.stop, dtype=np.int64)
        parent, link, spanning = union_trees(n, self.layers, self.layer, self.u, self.v, self.d2, self.start)
        last = self.layer == self.layers - 1
        smallest = max(n // PARTS, 2) if spanning and n >= MANY_ROWS else n + 1
        roots = roots_of_parts(n, self.u[last], self.v[last], self.start, smallest)
        nearest, height = nearest_roots(parent, link, roots)
        if roots.size == 1:
            return [Side(positions, height, slice(self.start, self.stop))]
        parts = (np.flatnonzero(nearest == r) for r in range(roots.size))
        return [Side(positions[part], height[part], None) for part in parts]


@dataclass(frozen=True)
class Crossing:
    """Crossings of the trees of a union of two sets, see `crossing_trees`; `u, v, d2, key`: crossing
    edges."""

    crossings: np.ndarray
    sizes: np.ndarray
    least: np.ndarray
    most: np.ndarray
    u: np.ndarray
    v: np.ndarray
    d2: np.ndarray
    key: np.ndarray


def forests_of_classes(points: Points, layers: int) -> list[Forest]:
    """Return the orthogonal trees of each class; in several threads, see `confml.threads`."""
    found: list[Forest | None] = [None] * (len(points.starts) - 1)

    def build(k: int) -> None:
        forest = build_forest(points, k, layers)
        forest.sides  # noqa: B018  computed once, before threads share it
        found[k] = forest

    for_each_by_cost(build, range(len(found)), np.diff(points.starts).astype(float) ** 2)
    return [forest for forest in found if forest is not None]


def crossings_of_pairs(points: Points, inside: list[Forest], pairs: list[tuple[int, int]]) -> list[Crossing]:
    """Return `across` for each pair of classes; in several threads, see `confml.threads`."""
    found: list[Crossing | None] = [None] * len(pairs)

    def cross(pair: int) -> None:
        a, b = pairs[pair]
        found[pair] = across(points, inside[a], inside[b])

    rows = np.diff(points.starts).astype(float)
    for_each_by_cost(cross, range(len(pairs)), np.array([rows[a] * rows[b] for a, b in pairs]))
    return [crossing for crossing in found if crossing is not None]


def for_each_by_cost(function: Callable[[int], None], items: Sequence[int], costs: np.ndarray) -> None:
    """Call function(item) for every item: the most expensive ones one after another, each with all threads,
    and the others in several threads, expensive ones first.

    An item is expensive if it costs more than one thread's share of all items.
    """
    large = costs > costs.sum() / thread_count()
    order = np.argsort(-costs, kind="stable")
    for place in order[large[order]].tolist():
        function(items[place])
    rest = [items[place] for place in order[~large[order]].tolist()]
    for_each(lambda item, _: function(item), rest)


def build_forest(points: Points, k: int, layers: int) -> Forest:
    """Return the orthogonal trees of class k."""
    start, stop = int(points.starts[k]), int(points.starts[k + 1])
    X = points.X[start:stop]
    if not searches_pay(X):
        return _build(points, start, stop, layers)
    u, v, d2, key, layer = searched_trees(X, points.rank[start:stop], layers)
    return Forest(start, stop, layers, u + np.int32(start), v + np.int32(start), d2, key, layer)


def _build(points: Points, start: int, stop: int, layers: int) -> Forest:
    if stop - start <= LEAF:
        u, v, d2, key, layer = dense_trees(points.X, points.rank, start, stop, layers)
        order = edges.sorted_order(d2, key)
        u, v, d2, key = edges.take(u, v, d2, key, order)
        return Forest(start, stop, layers, u, v, d2, key, layer[order])
    middle = halves(start, stop)
    parts: list[Forest | None] = [None, None]
    ranges = (start, middle), (middle, stop)

    def build(side: int, _=None) -> None:
        parts[side] = _build(points, *ranges[side], layers)

    if stop - start <= 2 * THREADED:
        for_each(build, (0, 1))
    else:  # the halves are divided in their turn
        build(0)
        build(1)
    left, right = parts
    assert left is not None and right is not None
    candidates, layer, _ = _trees_across(points, left, right)
    u, v, d2, key, layer = pick(*candidates, layer)
    return Forest(start, stop, layers, u, v, d2, key, layer)


def across(points: Points, left: Forest, right: Forest) -> Crossing:
    """Return the crossings of the orthogonal trees of two classes, and their crossing edges."""
    candidates, layer, sizes = _trees_across(points, left, right)
    crossings, *rest = crossing_trees(
        left.layers, *candidates, layer, left.start, left.stop, right.start, right.stop
    )
    return Crossing(crossings, sizes, *rest)


def _trees_across(points: Points, left: Forest, right: Forest):
    """Return the sorted candidate edges of the union's trees, the layer of each, and the layer sizes."""
    inner = edges.merge(*left.edges, *right.edges)
    layers = left.layers
    na = left.stop - left.start
    n, offset = na + right.stop - right.start, right.start - na
    limit = min(max(na * (n - na) // 4, 8192), MOST_SURVIVORS)
    witnesses = 1 if layers == 1 else WITNESSES
    while witnesses <= MOST_WITNESSES:
        found, bounds = edges_across(points, left.sides, right.sides, witnesses, limit)
        if bounds is None:
            break
        candidates = edges.merge(*inner, *edges.take(*found, edges.sorted_order(*found[2:])))
        u, v, d2, _ = candidates
        layer, sizes = layered_kruskal(n, layers, u, v, left.start, right.start, offset)
        if layers == 1 or _all_witnessed(left, right, layer, u, v, d2, bounds, witnesses):
            return candidates, layer, sizes
        witnesses *= 2
    candidates = edges.merge(*inner, *_bipartite_edges(points, left, right, inner))
    return candidates, *layered_kruskal(
        n, layers, candidates[0], candidates[1], left.start, right.start, offset
    )


def _all_witnessed(left: Forest, right: Forest, layer, u, v, d2, bounds, witnesses: int) -> bool:
    """Return whether the filter was valid for the candidates of all layers; see `witnessed`."""
    for a, b, own_u, own_v, shortest in bounds:
        index_u = np.full(left.stop - left.start, -1, np.int32)
        index_v = np.full(right.stop - right.start, -1, np.int32)
        index_u[a.positions - left.start] = np.arange(a.positions.size)
        index_v[b.positions - right.start] = np.arange(b.positions.size)
        sides = (left.start, index_u), (right.start, index_v)
        own = own_u, own_v, shortest, a.height_as(own_u), b.height_as(own_u)
        if not witnessed(left.layers, layer, (u, v, d2), sides, own, witnesses):
            return False
    return True


def _bipartite_edges(points: Points, left: Forest, right: Forest, inner):
    """Return the crossing edges of the trees under all relevant orders of ties, by Prim without a filter."""
    a = left.stop - left.start
    n = a + right.stop - right.start
    u, v = (np.where(end < left.stop, end - left.start, end - right.start + a) for end in inner[:2])
    ends = np.concatenate([u, v])
    order = np.argsort(ends, kind="stable")
    heads = np.searchsorted(ends[order], np.arange(n + 1))
    links = np.concatenate([v, u])[order].astype(np.int32)
    d2, key = np.tile(inner[2], 2)[order], np.tile(inner[3], 2)[order]
    u, v, d2, key = bipartite_trees(
        points.X, points.rank, left.start, left.stop, right.start, right.stop, left.layers,
        heads, links, d2, key,
    )  # fmt: skip
    is_crossing = (u < left.stop) & (v >= right.start)
    u, v, d2, key = u[is_crossing], v[is_crossing], d2[is_crossing], key[is_crossing]
    _, once = np.unique(key, return_index=True)
    u, v, d2, key = u[once], v[once], d2[once], key[once]
    return edges.take(u, v, d2, key, edges.sorted_order(d2, key))
