"""Kernels of online TCM-NN: each example is predicted from those learnt before it, then learnt.

Learnt examples have places, and the places of a class are a range: class z has those from starts[z] to
starts[z + 1], of which the first filled[z] are examples. ``same``, ``other`` (cells, K) are the nearest
distances of an example to its own and to other classes, ascending, +inf where there are fewer, and ``bounds``
(cells, 5, q) those of `_kernels`. ``limits`` (2, cells) are the similarities above which a new example can
matter: row 1 for the counts if all alphas in question exceed 1, row 0 for anything; +inf in free places.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn import _kernels_ranked as ranks
from confml.methods.tcm_nn._kernels import (
    _ABOVE_ONE,
    ALPHA,
    OTHER_RADIUS,
    RADIUS,
    base_bounds,
    influence_radius,
    least_distance,
    may_cross,
    new_alphas,
    update_counts,
)
from confml.neighbours.distances import insert, squared_distance_of_rows
from confml.neighbours.lanes import RUN, above, lowest_bit


class Places(NamedTuple):
    """The places of learnt examples: starts (c + 1,), filled (c,) and limits (2, cells)."""

    starts: np.ndarray
    filled: np.ndarray
    limits: np.ndarray


class Arriving(NamedTuple):
    """New examples to be learnt: their places (b,), classes (b,) and distances (b, b); of length 0 if the
    examples are only predicted."""

    places: np.ndarray
    codes: np.ndarray
    distances: np.ndarray


@kernel
def nearest_directly(Q, r, X, starts, filled, nearest):
    """Fill nearest (c, K) with the distances of Q[r] to its K nearest of each class, without a filter."""
    last = nearest.shape[1] - 1
    nearest[:] = np.inf
    for z in range(len(filled)):
        for t in range(starts[z], starts[z] + filled[z]):
            distance = np.sqrt(squared_distance_of_rows(Q, r, X, t))
            if distance < nearest[z, last]:
                insert(nearest[z], distance)


@kernel
def nearest_of_squares(tile, starts, filled, nearest):
    """Fill nearest (b, c, K) from tile (b, cells), minus the exact squared distances."""
    last = nearest.shape[2] - 1
    nearest[:] = np.inf
    for r in range(len(tile)):
        for z in range(len(filled)):
            values = nearest[r, z]
            farthest = values[last]
            for t in range(starts[z], starts[z] + filled[z]):
                square = abs(tile[r, t])
                if square < farthest:
                    insert(values, square)
                    farthest = values[last]
            for e in range(last + 1):
                values[e] = np.sqrt(values[e])


@kernel
def fill_limits(places, bounds, others, near, limits):
    """Fill limits (2, cells) of some places. near: has factor, unit and low of the filter."""
    radius = np.empty((2, 1))
    end = bounds.shape[2] - 1
    for t in places:
        influence_radius(bounds[t : t + 1], others, radius)
        learns = max(bounds[t, RADIUS, end], bounds[t, OTHER_RADIUS, end])
        for kind in range(2):
            distance = (radius[1, 0] if kind == 1 else learns) / near.unit
            limits[kind, t] = near.low[t] - distance * distance * _ABOVE_ONE / near.factor


@kernel
def steps(similar, learnt, arriving, base, ranked, waiting, nearest, new):
    """Process b new examples in order: predict each if there are alphas (b, c, q), then learn it if it is
    ``arriving``.

    similar: the `Similarities` of the `GrowingFilter` before the block. learnt: `Places`; base: the learnt
    examples and those that arrive, in their places. ranked, waiting: the alphas and the number of changes.
    nearest (b, c, K): distances to the K nearest examples of each class before the block; earlier examples of
    the block are added. Fills the counts of new examples and their alphas; returns the new ``waiting``.
    """
    starts, filled, limits = learnt
    places, codes, within = arriving
    same, other, bounds, ks = base.same, base.other, base.bounds, base.ks
    alphas, lowest = new.alphas, new.lowest
    predicts, learns, groups = len(alphas) > 0, len(codes) > 0, len(ranked.first)
    classes, k_max, wanted = nearest.shape[1], nearest.shape[2], len(ks)
    entered, apart = np.empty(len(base.X) if learns else 0, np.int64), np.empty(len(base.X) if learns else 0)
    for r in range(len(new.Q)):
        earlier = r if learns else 0
        code = codes[r] if learns else np.int64(-1)
        for u in range(earlier):
            values = nearest[r, codes[u]]
            if within[r, u] < values[k_max - 1]:
                insert(values, within[r, u])
        if predicts:
            new_alphas(nearest[r : r + 1], ks, alphas[r : r + 1], lowest[r : r + 1])
            for j in range(classes):
                for q in range(wanted):
                    more, alike = ranks.count(ranked, waiting, min(j, groups - 1), q, alphas[r, j, q])
                    new.greater[r, j, q], new.equal[r, j, q] = more, alike + 1
        entering = 0
        shift = similar.tile.dtype.type((similar.norms[r] - similar.slack[r]) / similar.factor)
        for z in range(classes):
            if filled[z] == 0:
                continue
            kind = 1
            if code >= 0 and z != code:
                kind = 0
            elif predicts and base.others:
                for q in range(wanted):
                    if not lowest[r, z, q] > _ABOVE_ONE:
                        kind = 0
            g, least = similar.tile[r], limits[kind]
            end = starts[z] + filled[z]
            for at in range(starts[z], end, RUN):
                n = min(RUN, end - at)
                mask = (np.int64(1) << np.int64(n)) - np.int64(1) if n < RUN else np.int64(-1)
                if similar.usable[r]:
                    mask = above(g, at, least, at, shift, n)
                while mask != 0:
                    t = at + lowest_bit(mask)
                    mask &= mask - 1
                    gap = least_distance(similar, r, t) if similar.usable[r] else 0.0
                    crosses = predicts and may_cross(bounds, t, gap, alphas[r, z], lowest[r, z], base.others)
                    values = same[t] if z == code else other[t]
                    enters = learns and gap < values[k_max - 1]
                    if not (crosses or enters):
                        continue
                    distance = np.sqrt(squared_distance_of_rows(new.Q, r, base.X, t))
                    if crosses:
                        update_counts(distance, t, z, base, new, r)
                    if enters and distance < values[k_max - 1]:
                        entered[entering], apart[entering] = t, distance
                        entering += 1
        for u in range(earlier):
            t, z, distance = places[u], codes[u], within[r, u]
            if predicts and may_cross(bounds, t, distance, alphas[r, z], lowest[r, z], base.others):
                update_counts(distance, t, z, base, new, r)
            values = same[t] if z == code else other[t]
            if distance < values[k_max - 1]:
                entered[entering], apart[entering] = t, distance
                entering += 1
        if not learns:
            continue
        for e in range(entering + 1):
            if waiting == len(ranked.of):
                ranks.merge(ranked, waiting)
                waiting = 0
            if e < entering:
                t = entered[e]
                owner = np.int64(_class_of(t, starts))
                ranked.removed[:, waiting] = bounds[t, ALPHA]
                insert(same[t] if owner == code else other[t], apart[e])
            else:
                t, owner = np.int64(places[r]), np.int64(code)
                ranked.removed[:, waiting] = -np.inf
                same[t] = nearest[r, code]
                _nearest_of_others(nearest[r], code, other[t])
            base_bounds(same[t : t + 1], other[t : t + 1], ks, bounds[t : t + 1])
            ranked.added[:, waiting] = bounds[t, ALPHA]
            ranked.of[waiting] = min(owner, groups - 1)
            waiting += 1
            if limits[0, t] < np.inf:  # not of this block
                fill_limits(entered[e : e + 1], bounds, base.others, similar, limits)
    return waiting


@kernel
def _class_of(t, starts):
    """Return the class of a place."""
    lo, hi = 0, len(starts) - 1
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if starts[middle] <= t:
            lo = middle
        else:
            hi = middle
    return lo


@kernel
def _nearest_of_others(nearest, code, other):
    """Fill other (K,) with the smallest of nearest (c, K) over all classes but one."""
    other[:] = np.inf
    for z in range(len(nearest)):
        if z != code:
            for gap in nearest[z]:
                if not gap < other[-1]:
                    break
                insert(other, gap)
