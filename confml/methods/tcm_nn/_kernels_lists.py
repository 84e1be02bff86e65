"""Kernels that find the k nearest examples with the bounds of a `DistanceFilter`.

The filter gives every pair (i, j) a similarity ``g`` such that, in the filter's units, the squared distance
lies between ``base_i - factor (g - low_j)`` and ``base_i - factor (g - high_j)``, up to the error ``slack_i``
of example i. A larger ``g - low_j`` means that j may be nearer. The distances of candidates that the filter
cannot exclude are computed exactly (`confml.neighbours.distances`).

A list holds unordered candidates, each with ``upper = g - high_j``. The k-th largest of these is a bound of
the k-th distance, and an example that is certainly not nearer is not a candidate. A full list is pruned; a
list that stays full is abandoned (count -1), and its owner is searched again without a filter.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distances
from confml.neighbours.lanes import RUN, above, lowest_bit

LANES = 64  # maxima kept side by side, a few vector registers full
SAMPLED = 2
LONG = 1024


class Lists(NamedTuple):
    """Lists of candidates: upper, who (rows, lists, capacity), filled (rows, lists), -1 for abandoned lists;
    error (m,), slack (rows,): the errors of the candidates and of the rows."""

    upper: np.ndarray
    who: np.ndarray
    filled: np.ndarray
    error: np.ndarray
    slack: np.ndarray


@kernel
def mark_space(n):
    """Return an array of n one-byte marks, and a view of it as 64-bit integers of eight marks each.

    A whole row is marked in vector registers; integers without marks are then skipped.
    """
    hits = np.zeros((n + 7) // 8 * 8, np.uint8)
    return hits, hits.view(np.uint64)


@kernel
def select(values, who, n, k):
    """Bring the k largest of values[:n] to the front, the k-th at k - 1, and who along with them."""
    lo, hi = 0, n - 1
    while lo < hi:
        pivot = values[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                who[i], who[j] = who[j], who[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            hi = j
        elif k - 1 >= i:
            lo = i
        else:
            break


@kernel
def _kth_of_lanes(g, high, begin, stop, k, lanes, who):
    """Return a lower bound of the k-th largest g - high in a range: the k-th largest of the maxima of its
    lanes.

    In a long range, only one in `SAMPLED` runs of LANES places is read; lane l holds the l-th place of each
    of these runs. About `SAMPLED` k values of the range are then above the bound. lanes, who (LANES,): work
    space.
    """
    for e in range(LANES):
        lanes[e] = g[begin + e] - high[begin + e]
    step = LANES if stop - begin < LONG else SAMPLED * LANES
    for first in range(begin + step, stop, step):
        last = min(first + LANES, stop)
        part, highs = g[first:last], high[first:last]
        for e in range(len(part)):
            upper = part[e] - highs[e]
            lanes[e] = upper if upper > lanes[e] else lanes[e]
    if k > 1:
        select(lanes, who, LANES, k)
        return lanes[k - 1]
    best = lanes[0]
    for e in range(1, LANES):
        best = max(best, lanes[e])
    return best


@kernel
def pruned(upper, who, n, k, error, slack):
    """Remove candidates that cannot be among the k nearest from a list of n; return how many are left.

    If at least k are left, the first k have the largest ``upper``, and the k-th largest is at k - 1.
    """
    if n < k:
        return n
    select(upper, who, n, k)
    limit = upper[k - 1] - slack
    kept = k
    for e in range(k, n):
        if upper[e] + error[who[e]] > limit:
            upper[kept], who[kept] = upper[e], who[e]
            kept += 1
    return kept


@kernel
def _prune_full_list(list_, i, k, error, slack, upper, who, count, limit):
    """Prune a full list and set the limit for new candidates: +inf where the list is abandoned."""
    n = pruned(upper[i, list_], who[i, list_], count[i, list_], k, error, slack[i])
    if n == upper.shape[2]:
        count[i, list_], limit[list_, i] = -1, np.inf
    else:
        count[i, list_], limit[list_, i] = n, upper[i, list_, k - 1] - slack[i]


@kernel
def scan_pairs(tile, row, column, k, code, starts, bounds, lists, limit):
    """Offer each pair in a tile of training examples to both: list 0 for equal classes, else list 1.

    tile (b, w): similarities of the examples from ``row`` and from ``column``; pairs with j <= i belong to
    the mirrored tile. code (m,) classes, sorted; starts (c + 1,). bounds: low, high (m,) of the filter.
    lists: two for each example; limit (2, m): the value that a new candidate must exceed.
    """
    low, high = bounds
    upper, who, count, error, slack = lists
    width, capacity = tile.shape[1], upper.shape[2]
    hits, words = mark_space(width)
    for_i, for_j = np.empty(width + 8, np.int32), np.empty(width + 8, np.int32)
    for r in range(tile.shape[0]):
        i = row + r
        first = max(column, i + 1)
        if first >= column + width:
            break
        low_i, high_i = low[i], high[i]
        for z in range(code[first], len(starts) - 1):
            begin, end = max(first, starts[z]), min(column + width, starts[z + 1])
            if begin >= column + width:
                break
            kind = 0 if z == code[i] else 1
            limit_i = limit[kind, i]
            g, lows, limits = tile[r, begin - column : end - column], low[begin:end], limit[kind, begin:end]
            words[(len(g) - 1) // 8] = 0
            for e in range(len(g)):
                hits[e] = np.uint8(g[e] - lows[e] > limit_i) | (
                    np.uint8(g[e] - limits[e] > low_i) << np.uint8(1)
                )
            to_i = to_j = np.int64(0)
            for word in range((len(g) + 7) // 8):
                if words[word] != 0:
                    for e in range(8 * word, 8 * word + 8):
                        for_i[to_i] = for_j[to_j] = e
                        to_i += np.int64(hits[e] & np.uint8(1))
                        to_j += np.int64(hits[e] >> np.uint8(1))
            for e in for_i[:to_i]:
                if g[e] - lows[e] > limit[kind, i]:
                    n = count[i, kind]
                    upper[i, kind, n], who[i, kind, n] = g[e] - high[begin + e], begin + e
                    count[i, kind] = n + 1
                    if k == 1:
                        limit[kind, i] = max(limit[kind, i], g[e] - high[begin + e] - slack[i])
                    if n + 1 == capacity:
                        _prune_full_list(kind, i, k, error, slack, upper, who, count, limit)
            for e in for_j[:to_j]:
                j = begin + e
                n = count[j, kind]
                upper[j, kind, n], who[j, kind, n] = g[e] - high_i, i
                count[j, kind] = n + 1
                if k == 1:
                    limits[e] = max(limits[e], g[e] - high_i - slack[j])
                if n + 1 == capacity:
                    _prune_full_list(kind, j, k, error, slack, upper, who, count, limit)


@kernel
def scan_rows(block, own, skip, k, starts, bounds, lists):
    """Offer all training examples to the lists of each of b rows, except to abandoned ones.

    block (b, m): similarities. own (b,): the row's class, whose members go to list 0 and all others to list
    1; or -1 for one list per class. skip (b,): the index of the row among the training examples, or -1.
    bounds: low, high (m,) of the filter.
    """
    low, high = bounds
    upper, who, count, error, slack = lists
    lowest = block.dtype.type(-np.inf)
    lanes, nobody = np.empty(LANES, block.dtype), np.zeros(LANES, np.int32)
    for r in range(block.shape[0]):
        for z in range(len(starts) - 1):
            kind = z if own[r] < 0 else (0 if own[r] == z else 1)
            n = count[r, kind]
            if n < 0:
                continue
            uppers, whos = upper[r, kind], who[r, kind]
            if n >= k:
                n = pruned(uppers, whos, n, k, error, slack[r])
                limit = uppers[k - 1] - slack[r]
            else:
                limit = lowest
                if skip[r] < 0 and starts[z + 1] - starts[z] >= 2 * LANES and k <= LANES:
                    reached = _kth_of_lanes(block[r], high, starts[z], starts[z + 1], k, lanes, nobody)
                    limit = np.nextafter(reached - slack[r], lowest)  # values equal to the bound must pass
            g = block[r]
            for at in range(starts[z], starts[z + 1], RUN):
                mask = above(g, at, low, at, limit, min(RUN, starts[z + 1] - at))
                while mask != 0 and n >= 0:
                    j = at + lowest_bit(mask)
                    mask &= mask - 1
                    if g[j] - low[j] > limit and j != skip[r]:
                        uppers[n], whos[n] = g[j] - high[j], j
                        n += 1
                        if k == 1:
                            limit = max(limit, uppers[n - 1] - slack[r])
                        if n == len(uppers):
                            n = pruned(uppers, whos, n, k, error, slack[r])
                            limit = uppers[k - 1] - slack[r]
                            n = -1 if n == len(uppers) else n
                if n < 0:
                    break
            count[r, kind] = n


@kernel
def compute_distances(Q, X, lists, nearest):
    """Fill nearest[r, l] (k,) with the distances of Q[r] to the k nearest of list l, ascending, then +inf.

    Only candidates that the filter does not exclude are computed; lists with count -1 are skipped.
    """
    rows, number, k = nearest.shape
    upper, who, count, error, slack = lists
    squares = np.empty(number * who.shape[2] + 8)
    candidates = np.empty(len(squares), np.int64)
    ends = np.empty(number, np.int64)
    for r in range(rows):
        n = 0
        for list_ in range(number):
            if count[r, list_] >= 0:
                left = pruned(upper[r, list_], who[r, list_], count[r, list_], k, error, slack[r])
                for e in range(left):
                    candidates[n + e] = who[r, list_, e]
                n += left
            ends[list_] = n
        if n:
            squared_distances(Q[r], X, candidates, n, squares)
        begin = 0
        for list_ in range(number):
            end = ends[list_]
            if count[r, list_] >= 0:
                squares[begin:end].sort()
                for e in range(k):
                    nearest[r, list_, e] = np.sqrt(squares[begin + e]) if begin + e < end else np.inf
            begin = end
