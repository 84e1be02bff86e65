"""Kernels of nearest-neighbour search: exact distances, the K nearest with their ties, votes.

A distance is the root of the squared differences added one by one in attribute order, in float64: two rows
tie where these numbers are equal. Everything else here only spares the work of computing them all.

Every search fills, for each test row, the K smallest distances in ascending order, the class codes beside
them, and how many rows of each class lie at the K-th distance but found no place (``beyond``).
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel

# Of two squared distances whose roots are equal, the larger is at most this times the square of the root.
_ROOT_SLACK = 1.0 + 2.0**-50


@kernel
def squared_distance(a, b, limit):
    """Sum of squared differences of a (d,) and b (d,); a result above ``limit`` may be a part of it."""
    total = 0.0
    start = 0
    while start < a.size:
        stop = min(start + 16, a.size)
        for i in range(start, stop):
            difference = a[i] - b[i]
            total += difference * difference
        if total > limit:  # a sum of squares never falls
            return total
        start = stop
    return total


@kernel
def offer(distance, code, filled, distances, codes, beyond):
    """Offer one training row to the K nearest of one test row: how many places are filled now."""
    places = distances.size
    if filled == places:
        last = distances[places - 1]
        if distance > last:
            return filled
        if distance == last:
            beyond[code] += 1
            return filled
        if places > 1 and distances[places - 2] == last:
            beyond[codes[places - 1]] += 1  # it loses its place, but still ties with the last one
        else:
            beyond[:] = 0
        place = places - 1
    else:
        place = filled
        filled += 1
    while place > 0 and distances[place - 1] > distance:
        distances[place] = distances[place - 1]
        codes[place] = codes[place - 1]
        place -= 1
    distances[place] = distance
    codes[place] = code
    return filled


@kernel
def squared_limit(filled, distances):
    """No row whose squared distance is above this can still be among the K nearest, or tie with the last."""
    if filled < distances.size:
        return np.inf
    last = distances[distances.size - 1]
    return last * last * _ROOT_SLACK


@kernel
def search_candidates(row, X, codes, candidates, distances, found, beyond):
    """The K nearest of one test row (d,) among the rows of X (m, d) that ``candidates`` numbers."""
    filled = 0
    limit = np.inf
    for j in candidates:
        squared = squared_distance(row, X[j], limit)
        if squared <= limit:
            filled = offer(np.sqrt(squared), codes[j], filled, distances, found, beyond)
            limit = squared_limit(filled, distances)


@kernel
def box_distance(row, low, high):
    """No row in the box has a smaller squared distance: every operation rounds monotonously, in one order."""
    total = 0.0
    for i in range(row.size):
        difference = max(low[i] - row[i], row[i] - high[i], 0.0)
        total += difference * difference
    return total


@kernel
def search_tree(rows, X, codes, bounds, lows, highs, distances, found, beyond):
    """The K nearest of each test row (n, d) in a k-d tree over X (m, d).

    The tree is complete: node i has children 2i + 1 and 2i + 2. bounds: (nodes, 2) first row of X and the one
    after the last. lows, highs: (nodes, d) the smallest box around these rows.
    """
    nodes = len(bounds)
    waiting = np.empty(64, dtype=np.int64)
    waiting_distance = np.empty(64, dtype=np.float64)
    for i in range(len(rows)):
        row = rows[i]
        filled = 0
        limit = np.inf
        waiting[0] = 0
        waiting_distance[0] = 0.0
        top = 1
        while top > 0:
            top -= 1
            if waiting_distance[top] > limit:
                continue
            node = waiting[top]
            while 2 * node + 2 < nodes:
                near, far = 2 * node + 1, 2 * node + 2
                near_distance = box_distance(row, lows[near], highs[near])
                far_distance = box_distance(row, lows[far], highs[far])
                if far_distance < near_distance:
                    near, far = far, near
                    near_distance, far_distance = far_distance, near_distance
                if far_distance <= limit:
                    waiting[top] = far
                    waiting_distance[top] = far_distance
                    top += 1
                node = near
                if near_distance > limit:
                    break
            else:
                for j in range(bounds[node, 0], bounds[node, 1]):
                    squared = squared_distance(row, X[j], limit)
                    if squared <= limit:
                        filled = offer(np.sqrt(squared), codes[j], filled, distances[i], found[i], beyond[i])
                        limit = squared_limit(filled, distances[i])


@kernel
def search_products(
    rows, X, codes, products, row_norms, norms, error, slack, exact, distances, found, beyond
):
    """The K nearest of each test row (n, d) in X (m, d), by rough squared distances with an error bound.

    products: (n, m) float32 rough inner products of the shifted and scaled rows, whose squared lengths are
    row_norms (n,) and norms (m,). ``row_norms[i] + norms[j] - 2 products[i, j]`` differs from the true
    squared distance, in that scale, by at most ``error (row_norms[i] + norms[j]) + slack``. A row whose true
    squared distance is more than ``1 + exact`` times another's is farther by its computed distance, too. Rows
    that these bounds cannot exclude are computed exactly.
    """
    m = norms.size
    places = distances.shape[1]
    smallest = np.empty(places, dtype=np.float64)
    candidates = np.empty(m, dtype=np.int64)
    rough = np.empty(m, dtype=np.float64)
    every = np.arange(m)
    for i in range(len(rows)):
        own = row_norms[i]
        if not own < 1e30:  # far off the training rows: float32 may overflow
            search_candidates(rows[i], X, codes, every, distances[i], found[i], beyond[i])
            continue
        # `smallest` holds the K smallest upper ends so far: what begins above the last of them is out.
        smallest[:] = np.inf
        limit = np.inf
        count = 0
        for j in range(m):
            low = norms[j] * (1.0 - error) - 2.0 * products[i, j]
            if low <= limit:
                candidates[count] = j
                rough[count] = low
                count += 1
                high = low + 2.0 * error * norms[j]
                if high < smallest[places - 1]:
                    place = places - 1
                    while place > 0 and smallest[place - 1] > high:
                        smallest[place] = smallest[place - 1]
                        place -= 1
                    smallest[place] = high
                    last = smallest[places - 1]
                    # own * (1 - error) + low <= (own * (1 + error) + last) * (1 + exact) + 2 * slack
                    limit = last + exact * (last + own * (1.0 + error)) + 2.0 * (error * own + slack)
        kept = 0
        for one in range(count):
            if rough[one] <= limit:
                candidates[kept] = candidates[one]
                kept += 1
        search_candidates(rows[i], X, codes, candidates[:kept], distances[i], found[i], beyond[i])


@kernel
def vote(k, distances, found, beyond, shares, winners):
    """Shares of the votes of the k nearest (n, c), and the class of each winner (n,).

    All rows at the k-th distance count, each with the share of the places left. Equal votes: the smaller sum
    of distances, with those shares; then the first class.
    """
    n, c = shares.shape
    k = min(k, distances.shape[1])
    votes = np.empty(c, dtype=np.int64)
    tied = np.empty(c, dtype=np.int64)
    sums = np.empty(c, dtype=np.float64)
    for i in range(n):
        last = distances[i, k - 1]
        votes[:] = 0
        tied[:] = 0
        sums[:] = 0.0
        nearer = 0
        while distances[i, nearer] < last:
            votes[found[i, nearer]] += 1
            sums[found[i, nearer]] += distances[i, nearer]
            nearer += 1
        end = nearer
        while end < distances.shape[1] and distances[i, end] == last:
            tied[found[i, end]] += 1
            end += 1
        if end == distances.shape[1]:
            for j in range(c):
                tied[j] += beyond[i, j]
        # In parts of one row's share: equal votes are equal whole numbers, and sums of whole distances exact.
        parts = tied.sum()
        left = k - nearer
        best = 0
        for j in range(c):
            votes[j] = votes[j] * parts + tied[j] * left
            sums[j] *= parts
            if tied[j] > 0:  # the distance may be infinite
                sums[j] += tied[j] * left * last
            shares[i, j] = votes[j] / (k * parts)
            if votes[j] > votes[best] or (votes[j] == votes[best] and sums[j] < sums[best]):
                best = j
        winners[i] = best
