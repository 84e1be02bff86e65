"""Kernels of sorted alphas that change: counts above and equal to a value.

The alphas are sorted in groups: all examples, or one group per class. A count is a binary search and a pass
over the changes that wait.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel


class Ranked(NamedTuple):
    """Alphas (q, cells), ``size[g]`` ascending values of group g from place first[g] on.

    Changes wait in ``removed`` and ``added`` (q, pending), with their groups ``of`` (pending,), until `merge`
    applies them; removed is -inf for new examples.
    """

    alphas: np.ndarray
    first: np.ndarray
    size: np.ndarray
    removed: np.ndarray
    added: np.ndarray
    of: np.ndarray


@kernel
def places_of(values, first, last, alpha):
    """Return the first place of ascending values[first:last] that is not below, and that is above, alpha."""
    lo, hi = first, last
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < alpha:
            lo = middle + 1
        else:
            hi = middle
    start = lo
    if lo < last and values[lo] == alpha:
        hi = last
        while lo < hi:
            middle = (lo + hi) // 2
            if values[middle] <= alpha:
                lo = middle + 1
            else:
                hi = middle
    return start, lo


@kernel
def count(ranked, waiting, group, q, alpha):
    """Return the numbers of alphas of a group above, and equal to, one value for the q-th value of k."""
    begin = ranked.first[group]
    end = begin + ranked.size[group]
    start, stop = places_of(ranked.alphas[q], begin, end, alpha)
    above, equal = np.int64(end - stop), np.int64(stop - start)
    gone, new, groups = ranked.removed[q, :waiting], ranked.added[q, :waiting], ranked.of[:waiting]
    if len(ranked.first) == 1:
        for e in range(waiting):
            above += np.int64(new[e] > alpha) - np.int64(gone[e] > alpha)
            equal += np.int64(new[e] == alpha) - np.int64(gone[e] == alpha)
    else:
        for e in range(waiting):
            if groups[e] == group:
                above += np.int64(new[e] > alpha) - np.int64(gone[e] > alpha)
                equal += np.int64(new[e] == alpha) - np.int64(gone[e] == alpha)
    return above, equal


@kernel
def merge(ranked, waiting):
    """Apply the waiting changes to the sorted alphas."""
    alphas, first, size, removed, added, of = ranked
    for group in range(len(first)):
        number = leaving = np.int64(0)
        for e in range(waiting):
            if of[e] == group:
                number += 1
                leaving += np.int64(removed[0, e] > -np.inf)
        if number == 0:
            continue
        new, gone = np.empty(number), np.empty(leaving)
        longer = np.empty(size[group] + number - leaving)
        begin = first[group]
        for q in range(len(alphas)):
            i = j = 0
            for e in range(waiting):
                if of[e] == group:
                    new[i] = added[q, e]
                    i += 1
                    if removed[q, e] > -np.inf:
                        gone[j] = removed[q, e]
                        j += 1
            new.sort()
            gone.sort()
            values = alphas[q, begin : begin + size[group]]
            at = old = entered = left = 0
            while entered < number or left < leaving:
                adds = left == leaving or (entered < number and new[entered] <= gone[left])
                if adds and left < leaving and new[entered] == gone[left]:  # added and removed
                    entered, left = entered + 1, left + 1
                    continue
                value = new[entered] if adds else gone[left]
                stop = places_of(values, old, len(values), value)[0]
                longer[at : at + stop - old] = values[old:stop]
                at, old = at + stop - old, stop
                if adds:
                    longer[at] = value
                    at, entered = at + 1, entered + 1
                else:
                    old, left = old + 1, left + 1
            longer[at:] = values[old:]
            alphas[q, begin : begin + len(longer)] = longer
        size[group] += number - leaving
