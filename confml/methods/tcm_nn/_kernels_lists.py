"""Compiled pieces of exact nearest-neighbour search: a filter that may be inexact, then direct differences.

The filter gives every pair (i, j) a *closeness* ``g`` such that, in the filter's own units, the squared
distance lies between ``base_i - factor (g - low_j)`` and ``base_i - factor (g - high_j)``, give or take an
error ``slack_i`` that belongs to i. A larger ``g - low_j`` means that j may be nearer. Candidates that the
filter cannot exclude are measured again by direct differences, so the distances that come out are those of
the definition: squared differences added one by one in attribute order, in float64, then the root.

A list holds candidates in no order, each with ``upper = g - high_j``; the k-th largest of these bounds the
k-th distance from above, and whoever is certainly not nearer than that is not a candidate. A list that is
full is thinned out; one that stays full is given up (count -1), and its owner done again without a filter.
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel

LANES = 64  # maxima kept side by side, a few vector registers full


@kernel
def minus_squared_distances(rows, columns, first, out):
    """out[i, j] = -(squared distance of rows[i] (d,) and columns[:, first + j]), added in attribute order.

    rows (b, d); columns (d, m), that is, transposed; out (b, w). Four attributes at a time pass over a
    row of out, which is a matter of speed alone: each sum still grows one square after the other.
    """
    last = first + out.shape[1]
    attributes = rows.shape[1]
    whole = attributes - attributes % 4
    for i in range(rows.shape[0]):
        row = out[i]
        row[:] = 0.0
        for a in range(0, whole, 4):
            x0, x1, x2, x3 = rows[i, a], rows[i, a + 1], rows[i, a + 2], rows[i, a + 3]
            c0, c1 = columns[a, first:last], columns[a + 1, first:last]
            c2, c3 = columns[a + 2, first:last], columns[a + 3, first:last]
            for j in range(len(row)):
                e0, e1, e2, e3 = x0 - c0[j], x1 - c1[j], x2 - c2[j], x3 - c3[j]
                row[j] = (((row[j] - e0 * e0) - e1 * e1) - e2 * e2) - e3 * e3
        for a in range(whole, attributes):
            x0, c0 = rows[i, a], columns[a, first:last]
            for j in range(len(row)):
                e0 = x0 - c0[j]
                row[j] -= e0 * e0


@kernel
def hit_room(n):
    """Room for n marks, one byte each, and the same as words of eight: a whole row is tested at once, in
    vector registers, and then nearly all of it is passed over in words that are zero."""
    hits = np.zeros((n + 7) // 8 * 8, np.uint8)
    return hits, hits.view(np.uint64)


@kernel
def largest_deviation(X, centre):
    """The largest |X[i, a] - centre[a]|; NaN where a centre is not finite."""
    largest = 0.0
    for i in range(len(X)):
        for a in range(len(centre)):
            deviation = abs(X[i, a] - centre[a])
            if not deviation <= largest:
                largest = deviation
    return largest


@kernel
def shifted(X, centre, scale, out, norms):
    """out[i] = float32(scale (X[i] - centre)), norms[i] = squared length of out[i] in float64."""
    for i in range(len(X)):
        row = X[i]
        norm = 0.0
        for a in range(len(row)):
            value = np.float32((row[a] - centre[a]) * scale)
            out[i, a] = value
            norm += np.float64(value) * np.float64(value)
        norms[i] = norm


@kernel
def squared_distance(Q, r, X, t):
    """Squared differences of Q[r] and X[t] (d,) added in attribute order."""
    total = 0.0
    for a in range(X.shape[1]):
        e = Q[r, a] - X[t, a]
        total += e * e
    return total


@kernel
def squared_distances(x, X, who, n, out):
    """out[:n] = squared distances of x (d,) and the rows who[:n] of X.

    Eight sums run side by side, because each waits for its own last addition; who and out need room for a
    multiple of eight, in which the last row is repeated.
    """
    padded = (n + 3) // 4 * 4 if n % 8 <= 4 else (n + 7) // 8 * 8
    for e in range(n, padded):
        who[e] = who[n - 1]
    whole = padded // 8 * 8
    for e in range(0, whole, 8):
        z0, z1, z2, z3 = X[who[e]], X[who[e + 1]], X[who[e + 2]], X[who[e + 3]]
        z4, z5, z6, z7 = X[who[e + 4]], X[who[e + 5]], X[who[e + 6]], X[who[e + 7]]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for a in range(len(x)):
            e0, e1, e2, e3 = x[a] - z0[a], x[a] - z1[a], x[a] - z2[a], x[a] - z3[a]
            e4, e5, e6, e7 = x[a] - z4[a], x[a] - z5[a], x[a] - z6[a], x[a] - z7[a]
            s0 += e0 * e0
            s1 += e1 * e1
            s2 += e2 * e2
            s3 += e3 * e3
            s4 += e4 * e4
            s5 += e5 * e5
            s6 += e6 * e6
            s7 += e7 * e7
        out[e], out[e + 1], out[e + 2], out[e + 3] = s0, s1, s2, s3
        out[e + 4], out[e + 5], out[e + 6], out[e + 7] = s4, s5, s6, s7
    for e in range(whole, padded, 4):
        z0, z1, z2, z3 = X[who[e]], X[who[e + 1]], X[who[e + 2]], X[who[e + 3]]
        s0 = s1 = s2 = s3 = 0.0
        for a in range(len(x)):
            e0, e1, e2, e3 = x[a] - z0[a], x[a] - z1[a], x[a] - z2[a], x[a] - z3[a]
            s0 += e0 * e0
            s1 += e1 * e1
            s2 += e2 * e2
            s3 += e3 * e3
        out[e], out[e + 1], out[e + 2], out[e + 3] = s0, s1, s2, s3


@kernel
def _select(values, who, n, k):
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
    """A value that k of the g - high in a range reach: the k-th largest of the maxima of its lanes.

    Lane l holds the places begin + l, begin + l + LANES, ...; lanes, who (LANES,): room.
    """
    lanes[:] = g[begin : begin + LANES] - high[begin : begin + LANES]
    for first in range(begin + LANES, stop, LANES):
        last = min(first + LANES, stop)
        part, highs = g[first:last], high[first:last]
        for e in range(len(part)):
            upper = part[e] - highs[e]
            lanes[e] = upper if upper > lanes[e] else lanes[e]
    if k > 1:
        _select(lanes, who, LANES, k)
        return lanes[k - 1]
    best = lanes[0]
    for e in range(1, LANES):
        best = max(best, lanes[e])
    return best


@kernel
def thinned(upper, who, n, k, error, slack):
    """Take those who can no longer be among the k nearest out of a list of n, and return how many are left.

    If there are k, the first k are then those with the largest ``upper``, and the k-th of them is at k - 1.
    """
    if n < k:
        return n
    _select(upper, who, n, k)
    limit = upper[k - 1] - slack
    kept = k
    for e in range(k, n):
        if upper[e] + error[who[e]] > limit:
            upper[kept], who[kept] = upper[e], who[e]
            kept += 1
    return kept


@kernel
def _after_thinning(list_, i, k, error, slack, upper, who, count, limit):
    """Thin out a list that is full, and set what a newcomer has to beat: +inf where the list is given up."""
    n = thinned(upper[i, list_], who[i, list_], count[i, list_], k, error, slack[i])
    if n == upper.shape[2]:
        count[i, list_], limit[list_, i] = -1, np.inf
    else:
        count[i, list_], limit[list_, i] = n, upper[i, list_, k - 1] - slack[i]


@kernel
def scan_pairs(tile, row, column, k, code, starts, low, high, error, slack, upper, who, count, limit):
    """Offer each pair of a tile of training examples to both: list 0 if of one class, else list 1.

    tile (b, w): closeness of examples row.. and column..; pairs with j <= i are left to the other tile.
    code (m,) classes, sorted; starts (c + 1,). low, high, error, slack (m,): the filter's bounds.
    upper, who (m, 2, capacity) and count (m, 2): the lists; limit (2, m): what a newcomer has to beat.
    """
    width, capacity = tile.shape[1], upper.shape[2]
    hits, words = hit_room(width)
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
            to_i = to_j = 0
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
                        _after_thinning(kind, i, k, error, slack, upper, who, count, limit)
            for e in for_j[:to_j]:
                j = begin + e
                n = count[j, kind]
                upper[j, kind, n], who[j, kind, n] = g[e] - high_i, i
                count[j, kind] = n + 1
                if k == 1:
                    limits[e] = max(limits[e], g[e] - high_i - slack[j])
                if n + 1 == capacity:
                    _after_thinning(kind, j, k, error, slack, upper, who, count, limit)


@kernel
def scan_rows(block, own, skip, k, starts, low, high, error, slack, upper, who, count):
    """Offer all training examples to each of b rows. Lists given up have count -1, before and after.

    block (b, m): closeness. own (b,): the row's class, whose members go to list 0 and all others to list 1;
    or -1 for one list a class. skip (b,): the training example that the row itself is, or -1.
    upper, who (b, lists, capacity), count (b, lists).
    """
    lowest = block.dtype.type(-np.inf)
    lanes, nobody = np.empty(LANES, block.dtype), np.zeros(LANES, np.int32)
    hits, words = hit_room(block.shape[1])
    for r in range(block.shape[0]):
        for z in range(len(starts) - 1):
            kind = z if own[r] < 0 else (0 if own[r] == z else 1)
            n = count[r, kind]
            if n < 0:
                continue
            uppers, whos = upper[r, kind], who[r, kind]
            if n >= k:
                n = thinned(uppers, whos, n, k, error, slack[r])
                limit = uppers[k - 1] - slack[r]
            else:
                limit = lowest
                if skip[r] < 0 and starts[z + 1] - starts[z] >= 2 * LANES and k <= LANES:
                    reached = _kth_of_lanes(block[r], high, starts[z], starts[z + 1], k, lanes, nobody)
                    limit = np.nextafter(reached - slack[r], lowest)  # those that reach it have to pass
            g, lows = block[r, starts[z] : starts[z + 1]], low[starts[z] : starts[z + 1]]
            words[(len(g) - 1) // 8] = 0
            for e in range(len(g)):
                hits[e] = np.uint8(g[e] - lows[e] > limit)
            for word in range((len(g) + 7) // 8):
                if words[word] == 0 or n < 0:
                    continue
                for e in range(8 * word, min(8 * word + 8, len(g))):
                    j = starts[z] + e
                    if hits[e] != 0 and n >= 0 and g[e] - lows[e] > limit and j != skip[r]:
                        uppers[n], whos[n] = g[e] - high[j], j
                        n += 1
                        if k == 1:
                            limit = max(limit, uppers[n - 1] - slack[r])
                        if n == len(uppers):
                            n = thinned(uppers, whos, n, k, error, slack[r])
                            limit = uppers[k - 1] - slack[r]
                            n = -1 if n == len(uppers) else n
            count[r, kind] = n


@kernel
def measure(Q, X, upper, who, count, error, slack, nearest):
    """nearest[r, l] (k,) = the distances of Q[r] to the k nearest of list l, ascending, padded with +inf.

    Only candidates that the filter leaves open are measured; lists with count -1 are left alone.
    """
    k = nearest.shape[2]
    squares = np.empty(who.shape[2] + 8)
    candidates = np.empty(len(squares), np.int64)
    for r in range(nearest.shape[0]):
        for list_ in range(nearest.shape[1]):
            n = count[r, list_]
            if n < 0:
                continue
            n = thinned(upper[r, list_], who[r, list_], n, k, error, slack[r])
            candidates[:n] = who[r, list_, :n]
            squared_distances(Q[r], X, candidates, n, squares)
            squares[:n].sort()
            out = nearest[r, list_]
            for e in range(k):
                out[e] = np.sqrt(squares[e]) if e < n else np.inf
