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
from confml.methods.tcm_nn._kernels_lists import Lists, compute_distances, pruned, select
from confml.neighbours.distances import insert, minus_squared_distances, squared_distance_of_rows
from confml.neighbours.lanes import GROUP, PANEL, lowest_bit, products_above, run_above


class Learnt(NamedTuple):
    """The learnt examples in the panels of the `GrowingFilter`, with its unit and factor; starts (c + 1,),
    filled (c,) and limits (2, cells)."""

    panels: np.ndarray
    low: np.ndarray
    error: np.ndarray
    unit: float
    factor: float
    starts: np.ndarray
    filled: np.ndarray
    limits: np.ndarray


class Arriving(NamedTuple):
    """New examples in panels of the `GrowingFilter`: panels (p, d, PANEL), low (p * PANEL,).

    order (b,): the new example of each place in the panels, sorted by class. slack (b,): of the filter. codes
    (b,): their classes, -1 if the examples are only predicted. places (b,): where they are learnt, or (0,).
    """

    panels: np.ndarray
    low: np.ndarray
    order: np.ndarray
    slack: np.ndarray
    codes: np.ndarray
    places: np.ndarray


class Work(NamedTuple):
    """Work space of a block.

    masks, values: results of `products_above`. least, best, nobody: of `_scan`. Hits are pairs of a new
    example and a panel in which some examples may matter: hit_values (h * PANEL,), hit_masks (h,), where
    (h, 3): the panel, its class, and the previous hit of the new example or -1; last (b,): the last hit of
    each. found, apart (cells,): examples that may matter for a new one, with distances.
    """

    masks: np.ndarray
    values: np.ndarray
    least: np.ndarray
    best: np.ndarray
    nobody: np.ndarray
    hit_values: np.ndarray
    hit_masks: np.ndarray
    where: np.ndarray
    last: np.ndarray
    found: np.ndarray
    apart: np.ndarray


@kernel
def process(arriving, learnt, capacity, base, ranked, waiting, new):
    """Process b new examples in order: predict each if there are alphas (b, c, q), then learn it if it has a
    place.

    capacity: of the lists of candidates. base: the learnt examples; those that arrive are put in their
    places. ranked, waiting: the alphas and the number of changes. Fills the counts and the alphas of the new
    examples. Returns the new ``waiting``, and the number of examples whose lists were too short.
    """
    b, classes, k, cells = len(arriving.codes), len(learnt.filled), base.ks[-1], len(base.X)
    places, kind = arriving.places, learnt.limits.dtype
    hits = b * len(learnt.panels)
    work = Work(
        np.empty((2, GROUP), np.int64), np.empty((GROUP, PANEL), kind),
        np.empty(len(arriving.low), kind), np.empty(PANEL, kind), np.zeros(PANEL, np.int32),
        np.empty(hits * PANEL, kind), np.empty(hits, np.int64), np.empty((hits, 3), np.int64),
        np.full(b, -1), np.empty(cells, np.int64), np.empty(cells),
    )  # fmt: skip
    upper, who = np.empty((b, classes, capacity), kind), np.empty((b, classes, capacity), np.int32)
    lists = Lists(upper, who, np.zeros((b, classes), np.int64), learnt.error, arriving.slack)
    _scan(arriving, learnt, k, lists, work)
    nearest, abandoned = np.empty((b, classes, k)), 0
    compute_distances(new.Q, base.X, lists, nearest)
    for r in range(b):
        if lists.filled[r].min() < 0:
            _nearest_directly(new.Q, r, base.X, learnt, nearest[r])
            abandoned += 1
    within = np.empty((len(places), len(places)))
    if len(places) > 0:
        minus_squared_distances(new.Q, np.ascontiguousarray(new.Q.T), 0, within)
        for r in range(b):
            base.X[places[r]] = new.Q[r]
            for u in range(b):
                within[r, u] = np.sqrt(abs(within[r, u]))
    waiting = _steps(arriving, learnt, within, base, ranked, waiting, nearest, new, work)
    fill_limits(places, base, learnt.unit, learnt.factor, learnt.limits)
    return waiting, abandoned


@kernel
def _nearest_directly(Q, r, X, learnt, nearest):
    """Fill nearest (c, K) with the distances of Q[r] to its K nearest of each class, without a filter."""
    last = nearest.shape[1] - 1
    nearest[:] = np.inf
    for z in range(len(learnt.filled)):
        for t in range(learnt.starts[z], learnt.starts[z] + learnt.filled[z]):
            distance = np.sqrt(squared_distance_of_rows(Q, r, X, t))
            if distance < nearest[z, last]:
                insert(nearest[z], distance)


@kernel
def _scan(arriving, learnt, k, lists, work):
    """Compare the new examples with the learnt ones in one pass: fill their lists and the hits.

    With k = 1, where the limits of row 1 only increase, they decide the hits of an example in its own class.
    """
    order, codes, masks, values = arriving.order, arriving.codes, work.masks, work.values
    arrived, known = (arriving.panels, arriving.low), (learnt.panels, learnt.low)
    b, number = len(order), 0
    for z in range(len(learnt.filled)):
        end = learnt.starts[z] + learnt.filled[z]
        work.least[:] = np.inf
        work.least[:b] = -np.inf
        for panel in range(learnt.starts[z] // PANEL, (end + PANEL - 1) // PANEL):
            for row in range(0, b, GROUP):
                stop = min(row + GROUP, b)
                own = k == 1 and codes[order[row]] == z and codes[order[stop - 1]] == z
                if products_above(
                    arrived, row, known, panel, work.least, learnt.limits[np.int64(own)], masks, values
                ) == 0:  # fmt: skip
                    continue
                for slot in range(row, stop):
                    r = order[slot]
                    if masks[0, slot - row] != 0:
                        _offer(row, slot, PANEL * panel, r, z, k, lists, work)
                    if masks[1, slot - row] != 0:
                        for e in range(PANEL):
                            work.hit_values[PANEL * number + e] = values[slot - row, e]
                        work.hit_masks[number] = masks[1, slot - row]
                        hit = work.where[number]
                        hit[0], hit[1], hit[2] = panel, z, work.last[r]
                        work.last[r] = number
                        number += 1


@kernel(inline="always")
def _offer(row, slot, first, r, z, k, lists, work):
    """Add places of the panel from ``first`` on to the list of new example r and class z."""
    upper, who, count, error, slack = lists
    place = slot - row
    values, best, mask = work.values, work.best, work.masks[0, place]
    limit, n = work.least[slot], count[r, z]
    if n == 0 and k <= PANEL:  # the k-th largest of the first panel is a bound
        for e in range(PANEL):
            best[e] = values[place, e] - error[first + e]
        if k == 1:
            for half in (PANEL // 2, PANEL // 4, PANEL // 8):
                for e in range(half):
                    best[e] = best[e] if best[e] > best[half + e] else best[half + e]
            for e in range(1, PANEL // 8):
                best[0] = max(best[0], best[e])
        else:
            select(best, work.nobody, PANEL, k)
        limit = np.nextafter(best[k - 1] - slack[r], best.dtype.type(-np.inf))  # equal values must pass
    while mask != 0:
        e = lowest_bit(mask)
        mask &= mask - 1
        if not values[place, e] > limit:
            continue
        upper[r, z, n], who[r, z, n] = values[place, e] - error[first + e], first + e
        n += 1
        if k == 1:
            limit = max(limit, upper[r, z, n - 1] - slack[r])
        if n == upper.shape[2]:
            n = pruned(upper[r, z], who[r, z], n, k, error, slack[r])
            limit = upper[r, z, k - 1] - slack[r]
            if n == upper.shape[2]:  # it stays full and is abandoned
                n, limit = -1, values.dtype.type(np.inf)
                break
    count[r, z], work.least[slot] = n, limit


@kernel
def fill_limits(places, base, unit, factor, limits):
    """Fill limits (2, cells) of some places. unit, factor: of the filter."""
    radius, bounds = np.empty((2, 1)), base.bounds
    end = bounds.shape[2] - 1
    for t in places:
        influence_radius(bounds[t : t + 1], base.others, radius)
        radius[0, 0] = max(bounds[t, RADIUS, end], bounds[t, OTHER_RADIUS, end])
        for kind in range(2):
            distance = radius[kind, 0] / unit
            limits[kind, t] = -distance * distance * _ABOVE_ONE / factor


@kernel
def _strange(lowest, r, z):
    """Return whether all alphas of new example r under labels other than z exceed 1."""
    for q in range(lowest.shape[2]):
        if not lowest[r, z, q] > _ABOVE_ONE:
            return False
    return True


@kernel
def _candidates(r, k, counts, lowest, arriving, learnt, work):
    """Find the learnt examples that may matter for new example r, and distances that they have at least.

    counts: whether an example changes the counts of other labels than its own. Row 1 of the limits is enough
    in the own class, or in any class if r is not learnt, if the alphas under other labels exceed 1. If these
    do not, the own class is compared again where `_scan` has used row 1. Returns the number of examples.
    """
    starts, limits, zero, n = learnt.starts, learnt.limits, learnt.limits.dtype.type(0.0), 0
    code, hit = arriving.codes[r], work.last[r]
    again = code >= 0 and k == 1 and counts and not _strange(lowest, r, code)
    while hit >= 0:
        panel, z, mask = work.where[hit, 0], work.where[hit, 1], work.hit_masks[hit]
        if z == code and again:
            mask = np.int64(0)
        elif (code < 0 or z == code) and (not counts or _strange(lowest, r, z)):
            mask &= run_above(work.hit_values, PANEL * hit, limits[1], PANEL * panel, zero)
        while mask != 0:
            e = lowest_bit(mask)
            mask &= mask - 1
            work.found[n] = PANEL * panel + e
            work.apart[n] = _least_distance(work.hit_values[PANEL * hit + e], learnt)
            n += 1
        hit = work.where[hit, 2]
    if again:
        slot = 0
        while arriving.order[slot] != r:
            slot += 1
        work.least[:] = np.inf
        end = starts[code] + learnt.filled[code]
        for panel in range(starts[code] // PANEL, (end + PANEL - 1) // PANEL):
            mask = products_above(
                (arriving.panels, arriving.low), slot // GROUP * GROUP, (learnt.panels, learnt.low), panel,
                work.least, limits[0], work.masks, work.values,
            )  # fmt: skip
            mask = work.masks[1, slot % GROUP] if mask != 0 else mask
            while mask != 0:
                e = lowest_bit(mask)
                mask &= mask - 1
                work.found[n] = PANEL * panel + e
                work.apart[n] = _least_distance(work.values[slot % GROUP, e], learnt)
                n += 1
    return n


@kernel(inline="always")
def _least_distance(value, learnt):
    """Return a distance, in the units of the data, that a pair with this value has at least."""
    return np.sqrt(max(-learnt.factor * np.float64(value), 0.0)) * learnt.unit * _TIGHT


@kernel
def _steps(arriving, learnt, within, base, ranked, waiting, nearest, new, work):
    """Predict and learn the new examples in order, as in `process`; return the new ``waiting``.

    within (b, b): their distances. nearest (b, c, K): distances to the K nearest examples of each class
    before the block; earlier examples of the block are added.
    """
    limits, places, codes = learnt.limits, arriving.places, arriving.codes
    same, other, bounds, ks = base.same, base.other, base.bounds, base.ks
    alphas, lowest = new.alphas, new.lowest
    predicts, learns, groups = len(alphas) > 0, len(places) > 0, len(ranked.first)
    classes, k_max, wanted = nearest.shape[1], nearest.shape[2], len(ks)
    entered, apart = work.found, work.apart
    for r in range(len(new.Q)):
        earlier = r if learns else 0
        code = codes[r]
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
        entering = 0
        for e in range(_candidates(r, k_max, predicts and base.others, lowest, arriving, learnt, work)):
            t, gap = work.found[e], work.apart[e]
            z = _class_of(t, learnt.starts)
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
                owner = np.int64(_class_of(t, learnt.starts))
                for q in range(wanted):
                    ranked.removed[q, waiting] = bounds[t, ALPHA, q]
                insert(same[t] if owner == code else other[t], apart[e])
            else:
                t, owner = np.int64(places[r]), np.int64(code)
                for q in range(wanted):
                    ranked.removed[q, waiting] = -np.inf
                for i in range(k_max):
                    same[t, i], other[t, i] = nearest[r, code, i], np.inf
                _nearest_of_others(nearest[r], code, other[t])
            base_bounds(same[t : t + 1], other[t : t + 1], ks, bounds[t : t + 1])
            for q in range(wanted):
                ranked.added[q, waiting] = bounds[t, ALPHA, q]
            ranked.of[waiting] = min(owner, groups - 1)
            waiting += 1
            if limits[0, t] < np.inf:  # not of this block
                fill_limits(entered[e : e + 1], base, learnt.unit, learnt.factor, limits)
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
    """Insert the smallest of nearest (c, K) over all classes but one into other (K,)."""
    for z in range(len(nearest)):
        if z != code:
            for gap in nearest[z]:
                if not gap < other[-1]:
                    break
                insert(other, gap)
