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
    _TIGHT,
    ALPHA,
    OTHER_RADIUS,
    RADIUS,
    base_bounds,
    influence_radius,
    may_cross,
    new_alphas,
    update_counts,
)
from confml.methods.tcm_nn._kernels_lists import pruned, select
from confml.neighbours.distances import insert, squared_distance_of_rows
from confml.neighbours.lanes import GROUP, PANEL, lowest_bit, products_above, run_above


class Places(NamedTuple):
    """The places of learnt examples: starts (c + 1,), filled (c,) and limits (2, cells)."""

    starts: np.ndarray
    filled: np.ndarray
    limits: np.ndarray


class Panels(NamedTuple):
    """Examples in panels of the `GrowingFilter`: panels (p, d, PANEL) and low (p * PANEL,)."""

    panels: np.ndarray
    low: np.ndarray


class Hits(NamedTuple):
    """Pairs of a new example and a panel in which some examples may matter.

    values (h, PANEL) of `products_above`; masks (h,): the places that may matter; where (h, 3): the panel,
    its class, and the previous hit of the new example or -1; last (b,): the last hit of each new example or
    -1.
    """

    values: np.ndarray
    masks: np.ndarray
    where: np.ndarray
    last: np.ndarray


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
def scan(queries, rows, learnt, k, lists, hits):
    """Compare b new examples with the learnt ones in one pass: fill their lists and the hits.

    queries, rows: `Panels` of the new and of the learnt examples. lists: one for each class, -1 filled where
    the bounds do not hold for a new example; all its pairs are then hits, with the bound 0.
    """
    starts, filled, limits = learnt
    upper, who, count, error, slack = lists
    b = len(slack)
    least = np.empty((1, len(queries.low)), limits.dtype)
    masks, values = np.empty((2, GROUP), np.int64), np.empty((GROUP, PANEL), limits.dtype)
    space = np.empty(PANEL, limits.dtype), np.zeros(PANEL, np.int32)
    number = 0
    usable = np.empty(b, np.bool_)
    for r in range(b):
        usable[r], hits.last[r] = count[r, 0] >= 0, -1
    for z in range(len(filled)):
        end = starts[z] + filled[z]
        least[:] = np.inf
        for r in range(b):
            if usable[r]:
                least[0, r] = -np.inf
        for panel in range(starts[z] // PANEL, (end + PANEL - 1) // PANEL):
            first = PANEL * panel
            for row in range(0, b, GROUP):
                if products_above(
                    queries.panels, row, queries.low, least,
                    rows.panels, panel, rows.low, limits, 0, masks, values,
                ) == 0:  # fmt: skip
                    continue
                for r in range(row, min(row + GROUP, b)):
                    if masks[0, r - row] != 0:
                        least[0, r] = _offer(
                            values[r - row], masks[0, r - row], first, least[0, r], r, z, k, lists, space
                        )
                    if masks[1, r - row] != 0 and usable[r]:
                        number = _hit(hits, number, r, panel, z, masks[1, r - row])
                        hits.values[number - 1] = values[r - row]
            for r in range(b):
                if not usable[r]:
                    n = end - first
                    mask = np.int64(-1) if n >= PANEL else (np.int64(1) << np.int64(n)) - np.int64(1)
                    number = _hit(hits, number, r, panel, z, mask)
                    hits.values[number - 1] = 0.0


@kernel(counts_references=False)
def _hit(hits, number, r, panel, z, mask):
    """Add a hit of row r, whose values are set by the caller; return the new number of hits."""
    hits.masks[number] = mask
    hits.where[number, 0], hits.where[number, 1], hits.where[number, 2] = panel, z, hits.last[r]
    hits.last[r] = number
    return number + 1


@kernel(counts_references=False, inline="always")
def _offer(values, mask, first, limit, r, z, k, lists, space):
    """Add the places of a mask to the list of row r and class z; return what a new candidate must exceed."""
    upper, who, count, error, slack = lists
    uppers, whos, n = upper[r, z], who[r, z], count[r, z]
    if n == 0 and k <= PANEL:  # the k-th largest of the first panel is a bound
        best = space[0]
        for e in range(PANEL):
            best[e] = values[e] - error[first + e]
        if k == 1:
            for half in (PANEL // 2, PANEL // 4, PANEL // 8):
                for e in range(half):
                    best[e] = best[e] if best[e] > best[half + e] else best[half + e]
            for e in range(1, PANEL // 8):
                best[0] = max(best[0], best[e])
        else:
            select(best, space[1], PANEL, k)
        reached = best[k - 1]
        limit = np.nextafter(reached - slack[r], best.dtype.type(-np.inf))  # equal values must pass
    while mask != 0:
        e = lowest_bit(mask)
        mask &= mask - 1
        if not values[e] > limit:
            continue
        uppers[n], whos[n] = values[e] - error[first + e], first + e
        n += 1
        if k == 1:
            limit = max(limit, uppers[n - 1] - slack[r])
        if n == len(uppers):
            n = pruned(uppers, whos, n, k, error, slack[r])
            limit = uppers[k - 1] - slack[r]
            if n == len(uppers):  # it stays full and is abandoned
                n, limit = -1, values.dtype.type(np.inf)
                break
    count[r, z] = n
    return limit


@kernel
def fill_limits(places, bounds, others, unit, factor, limits):
    """Fill limits (2, cells) of some places. unit, factor: of the filter."""
    radius = np.empty((2, 1))
    end = bounds.shape[2] - 1
    for t in places:
        influence_radius(bounds[t : t + 1], others, radius)
        learns = max(bounds[t, RADIUS, end], bounds[t, OTHER_RADIUS, end])
        for kind in range(2):
            distance = (radius[1, 0] if kind == 1 else learns) / unit
            limits[kind, t] = -distance * distance * _ABOVE_ONE / factor


@kernel
def steps(hits, learnt, arriving, base, ranked, waiting, nearest, new, unit, factor):
    """Process b new examples in order: predict each if there are alphas (b, c, q), then learn it if it is
    ``arriving``.

    hits: of `scan`, before the block. learnt: `Places`; base: the learnt examples and those that arrive, in
    their places. ranked, waiting: the alphas and the number of changes. nearest (b, c, K): distances to the K
    nearest examples of each class before the block; earlier examples of the block are added. unit, factor: of
    the filter. Fills the counts of new examples and their alphas; returns the new ``waiting``.
    """
    starts, filled, limits = learnt
    places, codes, within = arriving
    same, other, bounds, ks = base.same, base.other, base.bounds, base.ks
    alphas, lowest = new.alphas, new.lowest
    predicts, learns, groups = len(alphas) > 0, len(codes) > 0, len(ranked.first)
    classes, k_max, wanted = nearest.shape[1], nearest.shape[2], len(ks)
    entered, apart = np.empty(len(base.X) if learns else 0, np.int64), np.empty(len(base.X) if learns else 0)
    values, zero = hits.values.reshape(hits.values.size), limits.dtype.type(0.0)
    strange = np.empty(classes, np.bool_)
    for r in range(len(new.Q)):
        earlier = r if learns else 0
        code = codes[r] if learns else np.int64(-1)
        for u in range(earlier):
            near = nearest[r, codes[u]]
            if within[r, u] < near[k_max - 1]:
                insert(near, within[r, u])
        if predicts:
            new_alphas(nearest[r : r + 1], ks, alphas[r : r + 1], lowest[r : r + 1])
            for j in range(classes):
                for q in range(wanted):
                    more, alike = ranks.count(ranked, waiting, min(j, groups - 1), q, alphas[r, j, q])
                    new.greater[r, j, q], new.equal[r, j, q] = more, alike + 1
        for z in range(classes):
            strange[z] = code < 0 or z == code
            if predicts and base.others:
                for q in range(wanted):
                    strange[z] = strange[z] and lowest[r, z, q] > _ABOVE_ONE
        entering = 0
        hit = np.int64(hits.last[r])
        while hit >= 0:
            panel, z = hits.where[hit, 0], hits.where[hit, 1]
            mask = hits.masks[hit]
            if strange[z]:
                mask &= run_above(values, PANEL * hit, limits[1], PANEL * panel, zero)
            while mask != 0:
                e = lowest_bit(mask)
                mask &= mask - 1
                t = PANEL * panel + e
                gap = np.sqrt(max(-factor * np.float64(hits.values[hit, e]), 0.0)) * unit * _TIGHT
                crosses = predicts and may_cross(bounds, t, gap, alphas[r, z], lowest[r, z], base.others)
                near = same[t] if z == code else other[t]
                enters = learns and gap < near[k_max - 1]
                if not (crosses or enters):
                    continue
                distance = np.sqrt(squared_distance_of_rows(new.Q, r, base.X, t))
                if crosses:
                    update_counts(distance, t, z, base, new, r)
                if enters and distance < near[k_max - 1]:
                    entered[entering], apart[entering] = t, distance
                    entering += 1
            hit = hits.where[hit, 2]
        for u in range(earlier):
            t, z, distance = places[u], codes[u], within[r, u]
            if predicts and may_cross(bounds, t, distance, alphas[r, z], lowest[r, z], base.others):
                update_counts(distance, t, z, base, new, r)
            near = same[t] if z == code else other[t]
            if distance < near[k_max - 1]:
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
                fill_limits(entered[e : e + 1], bounds, base.others, unit, factor, limits)
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
