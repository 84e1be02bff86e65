"""Orthogonal minimal spanning trees of ranges of positions: built from halves, and joined across classes.

The trees of a union of two sets use, inside each set, only edges of that set's own trees. So every set's trees are
made once, from those of its halves, and reused by every pair: all that has to be looked at is the edges across,
each distance once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confml.bayes_error import _kernels_boxes as boxes
from confml.bayes_error import _kernels_cross as cross
from confml.bayes_error import _kernels_edges as edges
from confml.bayes_error._kernels_disjoint_set import bottlenecks
from confml.bayes_error._kernels_kruskal import crossing_trees, layered_kruskal, pick
from confml.bayes_error._kernels_prim import bipartite_trees, dense_trees
from confml.bayes_error.points import LEAF, Points, halves

HELD = 1 << 24
"""Distances between two sets that are held at once (float32); larger products are cut into tiles."""
TILE = 4096
CACHED = 1 << 18
"""Distances of one product while it is still in the cache."""
MOST_SURVIVORS = 1 << 24
WITNESSES = 4
"""Edges at each row that a bound of the filter rests on at first, where there are several trees."""


@dataclass(frozen=True)
class Forest:
    """T orthogonal trees (forests, where no further tree exists) of positions start..stop-1, edges sorted.

    nodes: the range of its boxes in `Cells`, where there are any.
    """

    start: int
    stop: int
    layers: int
    u: np.ndarray
    v: np.ndarray
    d2: np.ndarray
    key: np.ndarray
    layer: np.ndarray
    nodes: tuple[int, int] | None

    @property
    def edges(self):
        return self.u, self.v, self.d2, self.key

    @cached_property
    def bottleneck(self) -> np.ndarray:
        """Bottleneck of each position to its root, squared."""
        n = self.stop - self.start
        return bottlenecks(n, self.layers, self.layer, self.u, self.v, self.d2, self.start)

    @cached_property
    def height(self) -> np.ndarray:
        """The same in float32, rounded up."""
        return np.nextafter(self.bottleneck.astype(np.float32), np.float32(np.inf))


@dataclass(frozen=True)
class Crossing:
    """What the trees of two sets' union look like: see `crossing_trees`; `u, v, d2, key` its crossing edges."""

    crossings: np.ndarray
    sizes: np.ndarray
    least: int
    most: int
    u: np.ndarray
    v: np.ndarray
    d2: np.ndarray
    key: np.ndarray


def build_forest(points: Points, k: int, layers: int) -> Forest:
    """The orthogonal trees of class k."""
    nodes = None if points.cells is None else (int(points.cells.roots[k]), int(points.cells.roots[k + 1]))
    return _build(points, int(points.starts[k]), int(points.starts[k + 1]), layers, nodes)


def _build(points: Points, start: int, stop: int, layers: int, nodes: tuple[int, int] | None) -> Forest:
    if stop - start <= LEAF:
        u, v, d2, key, layer = dense_trees(points.X, points.rank, start, stop, layers)
        order = edges.sorted_order(d2, key)
        return Forest(start, stop, layers, *edges.take(u, v, d2, key, order), layer[order], nodes)
    middle = halves(start, stop)
    nodes_left = nodes_right = None
    if nodes is not None:
        right = int(points.cells.right[nodes[0]])
        nodes_left, nodes_right = (nodes[0] + 1, right), (right, nodes[1])
    left = _build(points, start, middle, layers, nodes_left)
    right = _build(points, middle, stop, layers, nodes_right)
    candidates, layer, _ = _trees_across(points, left, right)
    return Forest(start, stop, layers, *pick(*candidates, layer), nodes)


def across(points: Points, left: Forest, right: Forest) -> Crossing:
    """Counts of the orthogonal trees of two classes, and their crossing edges."""
    candidates, layer, sizes = _trees_across(points, left, right)
    crossings, *rest = crossing_trees(
        left.layers, *candidates, layer, left.start, left.stop, right.start, right.stop
    )
    return Crossing(crossings, sizes, *rest)


def _trees_across(points: Points, left: Forest, right: Forest):
    """The sorted edges that the trees of the union can use, the layer of each, and the size of each layer."""
    inner = edges.merge(*left.edges, *right.edges)
    n, offset = left.stop - left.start + right.stop - right.start, right.start - (left.stop - left.start)
    witnesses = 1 if left.layers == 1 else WITNESSES
    while witnesses <= cross.GROUPS:
        crossing, bounds = _crossing_edges(points, left, right, witnesses)
        if crossing is None:
            break
        candidates = edges.merge(*inner, *crossing)
        u, v, d2, _ = candidates
        layer, sizes = layered_kruskal(n, left.layers, u, v, left.start, right.start, offset)
        if left.layers == 1 or cross.witnessed(
            left.layers, layer, u, v, d2, left.start, right.start, *bounds, witnesses
        ):
            return candidates, layer, sizes
        witnesses *= 2
    candidates = edges.merge(*inner, *_bipartite_edges(points, left, right, inner))
    return candidates, *layered_kruskal(
        n, left.layers, candidates[0], candidates[1], left.start, right.start, offset
    )


def _crossing_edges(points: Points, left: Forest, right: Forest, witnesses: int):
    """Sorted edge list of what passes the filter, or None where too much does; and the filter's bounds."""
    a, b = left.stop - left.start, right.stop - right.start
    limit = min(max(a * b // 4, 8192), MOST_SURVIVORS)
    if points.cells is not None:
        filter_ = _filter_by_boxes
    else:
        filter_ = _filter_at_once if a * b <= HELD else _filter_in_tiles
    (u, v, d2, key), bounds = filter_(points, left, right, witnesses, limit)
    if bounds is None or u.size > limit:
        return None, None
    return edges.take(u, v, d2, key, edges.sorted_order(d2, key)), bounds


def _filter_by_boxes(points: Points, left: Forest, right: Forest, witnesses: int, limit: int):
    c = points.cells
    *found, own_u, own_v, shortest, complete = boxes.candidates(
        points.X, c.XT, points.rank, c.low, c.high, c.first, c.last, c.left, c.right, *left.nodes, *right.nodes,
        left.bottleneck, right.bottleneck, witnesses, limit,
    )  # fmt: skip
    bounds = (own_u, own_v, shortest, left.bottleneck, right.bottleneck) if complete else None
    return found, bounds


def _filter_at_once(points: Points, left: Forest, right: Forest, witnesses: int, limit: int):
    a, b = left.stop - left.start, right.stop - right.start
    rows, columns = slice(left.start, left.stop), slice(right.start, right.stop)
    lanes = np.full((a, cross.LANES), np.inf, np.float32)
    groups = np.full((cross.GROUPS, b), np.inf, np.float32)
    product = np.empty((a, b), np.float32)
    panel = max(32, CACHED // b)
    for top in range(0, a, panel):
        part = slice(left.start + top, min(left.start + top + panel, left.stop))
        tile = product[top : top + panel]
        np.matmul(points.minus_2Z[part], points.Z[columns].T, out=tile)
        cross.lower_minima(
            tile, points.high[part], points.high[columns], left.height[top : top + panel], right.height,
            lanes[top : top + panel], groups,
        )  # fmt: skip
    bounds = cross.thresholds(lanes, groups, left.height, right.height, witnesses)
    alpha = cross.capped(bounds[0], bounds[2], left.height)
    beta = cross.capped(bounds[1], bounds[2], right.height)
    i, j = cross.survivors(
        product, points.low[rows], points.low[columns], left.height, right.height, alpha, beta, limit
    )
    bounds = *bounds, left.height, right.height
    return cross.exact_edges(points.X, points.rank, i, j, left.start, right.start), bounds


def _filter_in_tiles(points: Points, left: Forest, right: Forest, witnesses: int, limit: int):
    """The same in bounded memory: each tile is filtered by the bounds known so far, and what it left once more."""
    a, b = left.stop - left.start, right.stop - right.start
    lanes = np.full((a, cross.LANES), np.inf, np.float32)
    groups = np.full((cross.GROUPS, b), np.inf, np.float32)
    buffer = np.empty(TILE * TILE, np.float32)
    kept, total = [], 0
    for top in range(0, a, TILE):
        rows = slice(top, min(top + TILE, a))
        for first in range(0, b, TILE):
            columns = slice(first, min(first + TILE, b))
            shape = rows.stop - rows.start, columns.stop - columns.start
            tile = buffer[: shape[0] * shape[1]].reshape(shape)
            at_u = slice(left.start + rows.start, left.start + rows.stop)
            at_v = slice(right.start + columns.start, right.start + columns.stop)
            np.matmul(points.minus_2Z[at_u], points.Z[at_v].T, out=tile)
            h_u, h_v = left.height[rows], right.height[columns]
            part = np.ascontiguousarray(groups[:, columns])
            cross.lower_minima(tile, points.high[at_u], points.high[at_v], h_u, h_v, lanes[rows], part)
            groups[:, columns] = part
            own_u, own_v, shortest = cross.thresholds(lanes[rows], part, h_u, h_v, witnesses)
            alpha, beta = cross.capped(own_u, shortest, h_u), cross.capped(own_v, shortest, h_v)
            i, j = cross.survivors(tile, points.low[at_u], points.low[at_v], h_u, h_v, alpha, beta, limit)
            total += i.size
            if total > limit:
                nowhere = np.zeros(limit + 1, np.int32)
                return cross.exact_edges(
                    points.X, points.rank, nowhere, nowhere, left.start, right.start
                ), None
            kept.append(cross.exact_edges(points.X, points.rank, i, j, at_u.start, at_v.start))
    u, v, d2, key = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    bounds = cross.thresholds(lanes, groups, left.height, right.height, witnesses)
    alpha = cross.capped(bounds[0], bounds[2], left.height)
    beta = cross.capped(bounds[1], bounds[2], right.height)
    i, j = u - left.start, v - right.start
    stay = (d2 <= np.maximum(alpha[i], right.height[j])) & (d2 <= np.maximum(beta[j], left.height[i]))
    return (u[stay], v[stay], d2[stay], key[stay]), (*bounds, left.height, right.height)


def _bipartite_edges(points: Points, left: Forest, right: Forest, inner):
    """Crossing edges of the trees under all orders of tied distances that matter, by Prim without a filter."""
    a = left.stop - left.start
    n = a + right.stop - right.start
    u, v = (np.where(end < left.stop, end - left.start, end - right.start + a) for end in inner[:2])
    ends = np.concatenate([u, v])
    order = np.argsort(ends, kind="stable")
    heads = np.searchsorted(ends[order], np.arange(n + 1))
    links = np.concatenate([v, u])[order].astype(np.int32)
    d2, key = np.tile(inner[2], 2)[order], np.tile(inner[3], 2)[order]
    first_layer = np.tile(_first_layer(left, right, inner), 2)[order]
    runs = [(left.layers, 0, np.ones(links.size, bool)), (1, -1, first_layer), (1, 1, first_layer)]
    parts = []
    for layers, turn, chosen in runs:
        counts = np.concatenate([[0], np.cumsum(chosen)])[heads]
        parts.append(
            bipartite_trees(
                points.X, points.rank, left.start, left.stop, right.start, right.stop, layers, turn,
                counts, links[chosen], d2[chosen], key[chosen],
            )[:4]
        )  # fmt: skip
    u, v, d2, key = (np.concatenate(part) for part in zip(*parts, strict=True))
    is_crossing = (u < left.stop) & (v >= right.start)
    u, v, d2, key = u[is_crossing], v[is_crossing], d2[is_crossing], key[is_crossing]
    _, once = np.unique(key, return_index=True)
    u, v, d2, key = u[once], v[once], d2[once], key[once]
    return edges.take(u, v, d2, key, edges.sorted_order(d2, key))


def _first_layer(left: Forest, right: Forest, inner) -> np.ndarray:
    """Which of the merged inner edges belong to a first tree."""
    firsts = np.concatenate([left.key[left.layer == 0], right.key[right.layer == 0]])
    return np.isin(inner[3], firsts)
