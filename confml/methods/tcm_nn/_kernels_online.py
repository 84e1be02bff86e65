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


class Queries(NamedTuple):
    """New examples in panels of the `GrowingFilter`: panels (p, d, PANEL), low (p * PANEL,).

    order (b,): the new example of each place in the panels, sorted by class; slots (b,): the place of each
    new example; codes (b,): classes, -1 if the examples are only predicted. usable (b,): whether the bounds
    hold.
    """

    panels: np.ndarray
    low: np.ndarray
    order: np.ndarray
    slots: np.ndarray
    codes: np.ndarray
    usable: np.ndarray


class Rows(NamedTuple):
    """Learnt examples in panels of the `GrowingFilter`, with its unit and factor."""

    panels: np.ndarray
    low: np.ndarray
    unit: float
    factor: float


class Hits(NamedTuple):
    """Pairs of a new example and a panel in which some examples may matter.

    values (h * PANEL,) of `products_above`; masks (h,): the places that may matter; where (h, 3): the panel,
    its class, and the previous hit of the new example or -1; last (b,): the last hit of each new example or
    -1.
    """

    values: np.ndarray
    masks: np.ndarray
    where: np.ndarray
    last: np.ndarray


class Space(NamedTuple):
    """Work space: of `products_above` and `scan`; places that matter for a new example, with distances, and
    places whose limits decrease in a block, which are ``marked`` (cells,)."""

    masks: np.ndarray
    values: np.ndarray
    flat: np.ndarray
    least: np.ndarray
    best: np.ndarray
    nobody: np.ndarray
    found: np.ndarray
    apart: np.ndarray
    changed: np.ndarray
    marked: np.ndarray


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


@kernel(counts_references=False)
def scan(queries, rows, learnt, k, lists, hits, space):
    """Compare b new examples with the learnt ones in one pass: fill their lists and the hits.

    lists: one for each class. The hits of an example in its own class are those of the limits of row 1.
    """
    starts, filled, limits = learnt
    order, masks, values, least = queries.order, space.masks, space.values, space.least
    b, number, zero, near = len(order), 0, limits.dtype.type(0.0), limits[1:]
    hits.last[:b] = -1
    for z in range(len(filled)):
        end = starts[z] + filled[z]
        least[0] = np.inf
        for slot in range(b):
            if queries.usable[order[slot]]:
                least[0, slot] = -np.inf
        for panel in range(starts[z] // PANEL, (end + PANEL - 1) // PANEL):
            first = PANEL * panel
            for row in range(0, b, GROUP):
                stop = min(row + GROUP, b)
                own = queries.codes[order[row]] == z and queries.codes[order[stop - 1]] == z
                if products_above(
                    queries.panels, row, queries.low, least,
                    rows.panels, panel, rows.low, near if own else limits, 0, masks, values,
                ) == 0:  # fmt: skip
                    continue
                for slot in range(row, stop):
                    r = order[slot]
                    if masks[0, slot - row] != 0:
                        _offer(row, slot, first, r, z, k, lists, space)
                    mask = masks[1, slot - row]
                    if mask != 0 and queries.codes[r] == z and not own:
                        mask &= run_above(space.flat, PANEL * (slot - row), limits[1], first, zero)
                    if mask != 0 and queries.usable[r]:
                        for e in range(PANEL):
                            hits.values[PANEL * number + e] = values[slot - row, e]
                        number = _hit(hits, number, r, panel, z, mask)
            for r in range(b):
                if not queries.usable[r]:  # all pairs, with the bound 0
                    hits.values[PANEL * number : PANEL * number + PANEL] = 0.0
                    n = end - first
                    mask = np.int64(-1) if n >= PANEL else (np.int64(1) << np.int64(n)) - np.int64(1)
                    number = _hit(hits, number, r, panel, z, mask)


@kernel(counts_references=False, inline="always")
def _hit(hits, number, r, panel, z, mask):
    """Add a hit of row r, whose values are set; return the new number of hits."""
    hits.masks[number] = mask
    hits.where[number, 0], hits.where[number, 1], hits.where[number, 2] = panel, z, hits.last[r]
    hits.last[r] = number
    return number + 1


@kernel(counts_references=False, inline="always")
def _offer(row, slot, first, r, z, k, lists, space):
    """Add places of the panel from ``first`` on to the list of new example r and class z."""
    upper, who, count, error, slack = lists
    place = slot - row
    values, best, mask = space.values, space.best, space.masks[0, place]
    limit, n = space.least[0, slot], count[r, z]
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
            select(best, space.nobody, PANEL, k)
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
    count[r, z], space.least[0, slot] = n, limit


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


@kernel(counts_references=False)
def _strange(lowest, r, z):
    """Return whether all alphas of new example r under labels other than z exceed 1."""
    for q in range(lowest.shape[2]):
        if not lowest[r, z, q] > _ABOVE_ONE:
            return False
    return True


@kernel(counts_references=False)
def _candidates(r, counts, lowest, queries, rows, learnt, hits, space, changed):
    """Find the learnt examples that may matter for new example r, and distances that they have at least.

    counts: whether an example changes the counts of other labels than its own. Row 1 of the limits is enough
    in the own class, or in any class if r is not learnt, if the alphas under other labels exceed 1. If these
    do not, the own class is compared again. changed: the number of examples whose limit in row 1 has
    decreased since `scan`. Returns the number of examples.
    """
    starts, filled, limits = learnt
    code, zero, n, hit = queries.codes[r], limits.dtype.type(0.0), 0, np.int64(hits.last[r])
    again = code >= 0 and counts and queries.usable[r] and not _strange(lowest, r, code)
    while hit >= 0:
        panel, z, mask = hits.where[hit, 0], hits.where[hit, 1], hits.masks[hit]
        if z == code and again:
            mask = np.int64(0)
        elif code < 0 and (not counts or _strange(lowest, r, z)):
            mask &= run_above(hits.values, PANEL * hit, limits[1], PANEL * panel, zero)
        while mask != 0:
            e = lowest_bit(mask)
            mask &= mask - 1
            if z != code or not space.marked[PANEL * panel + e]:
                space.found[n] = PANEL * panel + e
                space.apart[n] = _least_distance(hits.values[PANEL * hit + e], rows)
                n += 1
        hit = np.int64(hits.where[hit, 2])
    if again:
        row, place = queries.slots[r] // GROUP * GROUP, queries.slots[r] % GROUP
        space.least[0] = np.inf
        end = starts[code] + filled[code]
        for panel in range(starts[code] // PANEL, (end + PANEL - 1) // PANEL):
            if products_above(
                queries.panels, row, queries.low, space.least,
                rows.panels, panel, rows.low, limits, 0, space.masks, space.values,
            ) == 0:  # fmt: skip
                continue
            mask = space.masks[1, place]
            while mask != 0:
                e = lowest_bit(mask)
                mask &= mask - 1
                space.found[n] = PANEL * panel + e
                space.apart[n] = _least_distance(space.values[place, e], rows)
                n += 1
    else:
        for e in range(changed):
            t = space.changed[e]
            if _class_of(t, starts) == code:
                space.found[n], space.apart[n] = t, 0.0
                n += 1
    return n


@kernel(counts_references=False, inline="always")
def _least_distance(value, rows):
    """Return a distance, in the units of the data, that a pair with this value has at least."""
    return np.sqrt(max(-rows.factor * np.float64(value), 0.0)) * rows.unit * _TIGHT


@kernel(counts_references=False)
def steps(queries, rows, learnt, arriving, base, ranked, waiting, nearest, new, hits, space):
    """Process b new examples in order: predict each if there are alphas (b, c, q), then learn it if it is
    ``arriving``.

    learnt: `Places`; base: the learnt examples and those that arrive, in their places. ranked, waiting: the
    alphas and the number of changes. nearest (b, c, K): distances to the K nearest examples of each class
    before the block; earlier examples of the block are added. hits: of `scan`, before the block. Fills the
    counts of new examples and their alphas; returns the new ``waiting``.
    """
    starts, filled, limits = learnt
    places, codes, within = arriving
    same, other, bounds, ks = base.same, base.other, base.bounds, base.ks
    alphas, lowest = new.alphas, new.lowest
    predicts, learns, groups = len(alphas) > 0, len(codes) > 0, len(ranked.first)
    classes, k_max, wanted = nearest.shape[1], nearest.shape[2], len(ks)
    entered, apart, changed = space.found, space.apart, 0
    for r in range(len(new.Q)):
        earlier = r if learns else 0
        code = queries.codes[r]
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
        for e in range(
            _candidates(r, predicts and base.others, lowest, queries, rows, learnt, hits, space, changed)
        ):
            t, gap = space.found[e], space.apart[e]
            z = _class_of(t, starts)
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
                owner = np.int64(_class_of(t, starts))
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
                before = limits[1, t]
                fill_limits(entered[e : e + 1], bounds, base.others, rows.unit, rows.factor, limits)
                if limits[1, t] < before and not space.marked[t]:
                    space.changed[changed], space.marked[t] = t, True
                    changed += 1
    for e in range(changed):
        space.marked[space.changed[e]] = False
    return waiting


@kernel(counts_references=False)
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


@kernel(counts_references=False)
def _nearest_of_others(nearest, code, other):
    """Insert the smallest of nearest (c, K) over all classes but one into other (K,)."""
    for z in range(len(nearest)):
        if z != code:
            for gap in nearest[z]:
                if not gap < other[-1]:
                    break
                insert(other, gap)
