"""Candidate edges across two sets for their spanning trees: by boxes for few features, by matrix products for
many."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confml._threads import for_each
from confml.bayes_error import _kernels_boxes as boxes
from confml.bayes_error import _kernels_cross as cross
from confml.bayes_error.points import Points
from confml.neighbours.wide_tree import leaves_in_order, ordered_rows, wide_tree

TILE = 4096
"""Rows and columns of a tile."""
MOST_IN_TILES = 1 << 26
"""Number of pairs kept for the last filter."""
VERY_FEW_ATTRIBUTES = 4
"""Number of features up to which boxes are always faster than products."""
MOST_WITNESSES = cross.GROUPS


@dataclass(frozen=True)
class Side:
    """Some positions of one set, with their bottleneck to a common root of the set's trees (squared).

    range: their range of positions if they are the whole set, otherwise None.
    """

    positions: np.ndarray
    height: np.ndarray
    range: slice | None

    @cached_property
    def height32(self) -> np.ndarray:
        """Return the heights in float32, rounded up."""
        return np.nextafter(self.height.astype(np.float32), np.float32(np.inf))

    def height_as(self, bounds: np.ndarray) -> np.ndarray:
        """Return the heights in the precision of the bounds."""
        return self.height32 if bounds.dtype == np.float32 else self.height

    @property
    def rows(self):
        return self.positions if self.range is None else self.range


def edges_across(points: Points, left: list[Side], right: list[Side], witnesses: int, limit: int):
    """Return the edges (u, v, d2, key), unsorted, that pass the filter, and its bounds for each pair of
    sides.

    The bounds are tuples (side, side, own_u, own_v, shortest), or None if more than limit edges pass.
    """
    found, bounds = [], []
    total = 0
    for a in left:
        for b in right:
            if points.few_attributes and _boxes_pay(points, a, b):
                i, j, *bound, complete = _filter_by_boxes(points, a, b, witnesses, limit)
            else:
                i, j, *bound, complete = _filter_by_products(points, a, b, witnesses, limit)
            total += i.size
            if not complete or total > limit:
                return None, None
            found.append(cross.exact_edges(points.X, points.rank, i, j, a.positions, b.positions))
            bounds.append((a, b, *bound))
    if len(found) == 1:
        return found[0], bounds
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True)), bounds


def _boxes_pay(points: Points, a: Side, b: Side) -> bool:
    """Return whether boxes are the faster filter: few features, distant sets, or heights below float32
    precision."""
    if points.X.shape[1] <= VERY_FEW_ATTRIBUTES:
        return True
    X, Y = points.X[a.rows], points.X[b.rows]
    gap = np.maximum(0.0, np.maximum(X.min(axis=0) - Y.max(axis=0), Y.min(axis=0) - X.max(axis=0)))
    if np.sum(gap**2) > max(a.height.max(), b.height.max()):
        return True
    return any(
        np.median(points.high[side.rows] - points.low[side.rows]) > np.median(side.height) / 4
        for side in (a, b)
    )


def _filter_by_boxes(points: Points, a: Side, b: Side, witnesses: int, limit: int):
    (box_a, order_a), (box_b, order_b) = (_boxes(points, side) for side in (a, b))
    i, j, own_u, own_v, shortest, complete = boxes.candidates(
        box_a, box_b, a.height[order_a], b.height[order_b], witnesses, limit
    )
    back_u, back_v = np.empty_like(own_u), np.empty_like(own_v)
    back_u[order_a], back_v[order_b] = own_u, own_v
    return order_a[i], order_b[j], back_u, back_v, shortest, complete


def _boxes(points: Points, side: Side):
    """Return the boxes of a side and its rows in their order."""
    held = side.__dict__.get("_boxes")
    if held is None:
        order, X = ordered_rows(points.X[side.rows])
        held = side.__dict__["_boxes"] = boxes.boxes_of(wide_tree(X, leaves_in_order(len(X)))), order
    return held


def _filter_by_products(points: Points, a: Side, b: Side, witnesses: int, limit: int):
    """Filter by products in tiles: each tile by the current bounds, and the remaining edges again at the end.

    Stripes of tiles are computed in several threads. The bounds of a stripe depend on the stripes before it
    in its thread, but every edge within the final bounds is within those of its stripe.
    """
    n, m = a.positions.size, b.positions.size
    lanes = np.full((n, cross.LANES), np.inf, np.float32)
    all_groups: list[np.ndarray] = []
    minus_2Z, Z = points.minus_2Z[a.rows], points.Z[b.rows]
    low_u, low_v, high_u, high_v = (x[s.rows] for x in (points.low, points.high) for s in (a, b))
    tops = range(0, n, TILE)
    kept: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = [[] for _ in tops]
    too_many = False

    def space() -> tuple[np.ndarray, np.ndarray]:
        groups = np.full((cross.GROUPS, m), np.inf, np.float32)
        all_groups.append(groups)
        return groups, np.empty(min(TILE, n) * min(TILE, m), np.float32)

    def stripe(top: int, scratch: tuple[np.ndarray, np.ndarray]) -> None:
        nonlocal too_many
        groups, buffer = scratch
        rows = slice(top, min(top + TILE, n))
        for first in range(0, m, TILE):
            if too_many:
                return
            columns = slice(first, min(first + TILE, m))
            shape = rows.stop - rows.start, columns.stop - columns.start
            tile = buffer[: shape[0] * shape[1]].reshape(shape)
            np.matmul(minus_2Z[rows], Z[columns].T, out=tile)
            h_u, h_v = a.height32[rows], b.height32[columns]
            part = np.ascontiguousarray(groups[:, columns])
            cross.lower_minima(tile, high_u[rows], high_v[columns], h_u, h_v, lanes[rows], part)
            groups[:, columns] = part
            own_u, own_v, shortest = cross.thresholds(lanes[rows], part, h_u, h_v, witnesses)
            alpha, beta = cross.capped(own_u, shortest, h_u), cross.capped(own_v, shortest, h_v)
            i, j = cross.survivors(
                tile, low_u[rows], low_v[columns], h_u, h_v, alpha, beta, 2 * MOST_IN_TILES
            )
            low = tile[i, j] + (low_v[columns][j] + low_u[rows][i])
            kept[top // TILE].append((i + np.int32(top), j + np.int32(first), low))
            if sum(found[0].size for stripes in kept for found in stripes) > MOST_IN_TILES:
                too_many = True

    a.height32, b.height32  # noqa: B018  computed once, before threads share them
    for_each(stripe, tops, space)
    own_u, own_v, shortest = cross.thresholds(
        lanes, np.minimum.reduce(all_groups), a.height32, b.height32, witnesses
    )
    if too_many:
        nothing = np.empty(0, np.int32)
        return nothing, nothing, own_u, own_v, shortest, False
    i, j, low = (np.concatenate(parts) for parts in zip(*(tile for row in kept for tile in row), strict=True))
    alpha = cross.capped(own_u, shortest, a.height32)
    beta = cross.capped(own_v, shortest, b.height32)
    stay = (low <= np.maximum(alpha[i], b.height32[j])) & (low <= np.maximum(beta[j], a.height32[i]))
    i, j = i[stay], j[stay]
    return i, j, own_u, own_v, shortest, i.size <= limit
