"""Kernels that find neighbours, and update counts, with the bounds of `IntegerRows`.

The lists are those of `_kernels_lists`, with ``upper`` = -sqrt(delta) in the units of the integers. Half of
minus delta comes out of one product.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn._kernels import may_cross, update_counts
from confml.methods.tcm_nn._kernels_lists import pruned
from confml.neighbours.distances import squared_distance_of_rows
from confml.neighbours.lanes import GROUP, PANEL, lowest_bit, products_above

NONE = np.int32(2**31 - 1)  # no pair has half of minus delta above it
EVERY = np.int32(-(2**31))
_TIGHT = 1.0 - 1e-9
_ABOVE_ONE = 1.0 + 1e-6


class Panels(NamedTuple):
    """Rows as arguments of the kernels: panels and norms of `IntegerRows`, and least (kinds, rows of the
    panels), int32: half of minus delta must exceed the smaller number of the two rows of a pair."""

    panels: np.ndarray
    norms: np.ndarray
    least: np.ndarray


@kernel(counts_references=False)
def _root(norm, other, half):
    """Return sqrt(delta) from two squared lengths and `products_above`."""
    odd = np.int64(norm & 1) + np.int64(other & 1)
    return np.sqrt(np.float64(odd - 2 * np.int64(half)))


@kernel(counts_references=False)
def _least_half(root):
    """Return a number that half of minus delta exceeds where sqrt(delta) is below ``root``."""
    if root <= 0.0:
        return NONE
    half = 0.5 * root * root * (1.0 + 1e-9)
    return EVERY if half >= 2.0**30 else np.int32(-np.int64(half) - 1)


@kernel(counts_references=False)
def _add(list_, i, j, value, k, error, slack, upper, who, count, limit):
    """Add the candidate j to a list of i, and prune the list if it is full."""
    n = count[i, list_]
    upper[i, list_, n], who[i, list_, n] = value, j
    n += 1
    if k == 1:
        limit[list_, i] = max(limit[list_, i], value - slack[i])
    if n == upper.shape[2]:
        n = pruned(upper[i, list_], who[i, list_], n, k, error, slack[i])
        limit[list_, i] = upper[i, list_, k - 1] - slack[i]
        if n == upper.shape[2]:  # it stays full and is abandoned
            n, limit[list_, i] = -1, np.inf
    count[i, list_] = n


@kernel(counts_references=False)
def scan_integer_pairs(ends, k, codes, rows, lists, limit, space):
    """Offer each pair i < j of the examples first <= i < last and left <= j < right to the lists of both.

    ends: first, last, left, right, of which first and left are multiples of PANEL. codes (m,): classes,
    sorted. rows: `Panels` with the kinds list 0, list 1, and any of the two; `NONE` beyond m. lists, limit
    (2, m): as in `scan_pairs`, with errors of twice the error of `IntegerRows`. space: of `IntegerRows`.
    """
    first, last, left, right = ends
    upper, who, count, error, slack = lists
    panels, norms, least = rows
    masks, halves = space[0][0, 0], space[1][0, 0]
    for panel in range(left // PANEL, (right + PANEL - 1) // PANEL):
        begin = panel * PANEL
        end = min(begin + PANEL, right)
        z = codes[begin] if codes[begin] == codes[end - 1] else -1
        for row in range(first, min(last, end), GROUP):
            stop = min(row + GROUP, last)
            kind = 2
            if z >= 0 and codes[row] == codes[stop - 1]:
                kind = 0 if z == codes[row] else 1
            if products_above(
                panels, row, norms, least, panels, panel, norms, least, kind, masks, halves
            ) == 0:  # fmt: skip
                continue
            for i in range(row, stop):
                mask = masks[0, i - row] | masks[1, i - row]
                while mask != 0:
                    e = lowest_bit(mask)
                    mask &= mask - 1
                    j = begin + e
                    if j <= i or j >= end:
                        continue
                    list_ = 0 if codes[i] == codes[j] else 1
                    value = -_root(norms[i], norms[j], halves[i - row, e])
                    for own, other in ((i, j), (j, i)):
                        if value + error[other] > limit[list_, own]:
                            _add(list_, own, other, value, k, error, slack, upper, who, count, limit)
                            least[list_, own] = _least_half(error[own] - limit[list_, own])
                            least[2, own] = min(least[0, own], least[1, own])


@kernel(counts_references=False)
def _classes_between(starts, z, begin, end):
    """Return the classes of the first and the last of the rows begin <= j < end; z: a class before them."""
    while starts[z + 1] <= begin:
        z += 1
    last = z
    while starts[last + 1] < end:
        last += 1
    return z, last


@kernel(counts_references=False)
def _least_of_classes(limit, r, z, last, error):
    """Return the smallest `_least_half` of the lists z to ``last`` of row r."""
    least = NONE
    for label in range(z, last + 1):
        least = min(least, _least_half(error - limit[label, r]))
    return least


@kernel(counts_references=False)
def scan_integer_rows(start, stop, k, starts, rows, queries, lists, limit, space):
    """Offer all training examples to the lists, one per class, of the new examples start <= r < stop.

    start is a multiple of GROUP. starts (c + 1,): of the classes. rows, queries: `Panels` of training and new
    examples, with any ``least`` for training examples, and `NONE` beyond the last new example; the others are
    work space. lists, limit (c, stop - start): of the block, with errors of twice the errors of
    `IntegerRows`, and limit inf for new examples that are skipped. space: masks (groups, panels, 2, GROUP)
    and halves (groups, panels, GROUP, PANEL) of `products_above`, for `update_counts_by_integers`.
    """
    upper, who, count, error, slack = lists
    panels, norms, most = rows
    new_panels, new_norms, least = queries
    z = 0
    for panel in range(len(panels)):
        begin, before = panel * PANEL, z
        end = min(begin + PANEL, starts[-1])
        z, last = _classes_between(starts, z, begin, end)
        if panel == 0 or z != before or last != z:
            for r in range(stop - start):
                least[0, start + r] = _least_of_classes(limit, r, z, last, error[0])
        for row in range(start, stop, GROUP):
            group = (row - start) // GROUP
            masks, halves = space[0][group, panel], space[1][group, panel]
            if products_above(
                new_panels, row, new_norms, least, panels, panel, norms, most, 0, masks, halves
            ) == 0:  # fmt: skip
                continue
            for i in range(row, min(row + GROUP, stop)):
                mask, r, label = masks[0, i - row], i - start, z
                while mask != 0:
                    e = lowest_bit(mask)
                    mask &= mask - 1
                    j = begin + e
                    if j >= end:
                        break
                    while starts[label + 1] <= j:
                        label += 1
                    value = -_root(new_norms[i], norms[j], halves[i - row, e])
                    if value + error[j] > limit[label, r]:
                        _add(label, r, j, value, k, error, slack, upper, who, count, limit)
                if masks[0, i - row] != 0:
                    least[0, i] = _least_of_classes(limit, r, z, last, error[0])


@kernel(counts_references=False)
def limits_of(radius, scale, error, most):
    """Fill most (kinds, rows of the panels) for distances below radius (kinds, m); the rest is kept."""
    for kind in range(len(radius)):
        for t in range(radius.shape[1]):
            most[kind, t] = _least_half(radius[kind, t] * scale + error)


@kernel(counts_references=False)
def update_counts_by_integers(starts, rows, new_norms, usable, unit, error, base, new, space):
    """Update the base counts of a block of new examples, as `update_counts_by_scan`.

    rows: `Panels` of the training examples, with `limits_of` the distances of `influence_radius` of both
    kinds. new_norms, usable (b,): of the new examples. unit: distance in the data of one unit. error: the sum
    of the errors of both kinds of rows. space: what `scan_integer_rows` filled with these panels.
    """
    norms, most = rows.norms, rows.least
    bounds, others, alphas, lowest = base.bounds, base.others, new.alphas, new.lowest
    masks, halves = space
    for r in range(len(usable)):
        group, place, z, end, strange = r // GROUP, r % GROUP, -1, 0, False
        for panel in range(len(rows.panels) if usable[r] else 0):
            mask, first = masks[group, panel, 1, place], PANEL * panel
            if mask == 0:
                continue
            if strange and first + PANEL <= end:
                mask = np.int64(0)
                for e in range(PANEL):
                    mask |= np.int64(halves[group, panel, place, e] > most[1, first + e]) << e
            while mask != 0:
                e = lowest_bit(mask)
                mask &= mask - 1
                t, half = first + e, halves[group, panel, place, e]
                while end <= t:
                    z, strange = z + 1, True
                    end = starts[z + 1]
                    for q in range(len(base.ks)):
                        strange = strange and lowest[r, z, q] > _ABOVE_ONE
                if strange and half <= most[1, t]:
                    continue
                gap = max(_root(new_norms[r], norms[t], half) - error, 0.0) * unit * _TIGHT
                if may_cross(bounds, t, gap, alphas[r, z], lowest[r, z], others):
                    distance = np.sqrt(squared_distance_of_rows(new.Q, r, base.X, t))
                    update_counts(distance, t, z, base, new, r)
