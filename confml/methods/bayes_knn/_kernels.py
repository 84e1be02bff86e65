"""Kernels of Bayesian k-NN: sorted neighbours with their ties, and class counts among the k nearest.

Squared distances are sums of squared differences, attribute by attribute in order: never a Gram expansion,
whose rounding would order equal distances at random. Distances within `TIE` of each other, relatively, are
equal. Counts are real numbers: equal distances share their places (3 rows of which 2 are of class j, on
the last place: 2/3 of a neighbour of class j).
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel

TIE = 1e-12


@kernel
def squared_distances_to_all(point, columns, out):
    """out (n,) = squared Euclidean distances of ``point`` (d,) to the examples in ``columns`` (d, n)."""
    n = columns.shape[1]
    for j in range(n):
        out[j] = 0.0
    for attribute in range(columns.shape[0]):
        value = point[attribute]
        column = columns[attribute]
        for j in range(n):
            difference = value - column[j]
            out[j] += difference * difference


@kernel
def select(values, size, rank):
    """The value of ``rank`` (from 0) among values[:size], which are reordered (Hoare's quickselect)."""
    left = 0
    right = size - 1
    while left < right:
        # The middle one of three keeps sorted and constant input from taking quadratic time.
        middle = (left + right) >> 1
        a, b, c = values[left], values[middle], values[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i = left
        j = right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            right = j
        elif rank >= i:
            left = i
        else:
            break
    return values[rank]


@kernel
def sort_rows(rows, keys, size, starts, sorted_rows):
    """sorted_rows[:size] = rows[:size] by increasing key, keys (n,) by row; equal keys keep their order.

    Bucket sort: distances up to the largest spread out well enough, and three passes without guesses by the
    processor beat a quicksort threefold. starts (b + 1,): work space, b buckets.
    """
    low = high = keys[rows[0]]
    for s in range(size):
        low, high = min(low, keys[rows[s]]), max(high, keys[rows[s]])
    buckets = starts.size - 1
    factor = (buckets - 1) / (high - low) if high > low else 0.0
    if not factor < np.inf:
        factor = 0.0
    starts[:] = 0
    for s in range(size):
        starts[int((keys[rows[s]] - low) * factor) + 1] += 1
    for b in range(buckets):
        starts[b + 1] += starts[b]
    for s in range(size):
        bucket = int((keys[rows[s]] - low) * factor)
        sorted_rows[starts[bucket]] = rows[s]
        starts[bucket] += 1
    for s in range(1, size):  # insertion: only members of one bucket can still be out of order
        row = sorted_rows[s]
        key = keys[row]
        t = s - 1
        while t >= 0 and keys[sorted_rows[t]] > key:
            sorted_rows[t + 1] = sorted_rows[t]
            t -= 1
        sorted_rows[t + 1] = row


@kernel
def sorted_neighbours(queries, columns, codes, classes, depth, leave_out, by_index):
    """The ``depth`` nearest of the examples in ``columns`` (d, n) for each query (m, d), nearest first.

    leave_out: query i is example i, which is not its own neighbour. by_index: equal distances are ordered
    by row; else they form one group. Returns labels (m, depth) class codes by place; ends (m, depth), the
    place behind the last of the group of equal distances that holds this place (it may lie beyond
    ``depth``); last (m, classes), the class counts of the whole group that holds the last place.
    """
    m = queries.shape[0]
    n = columns.shape[1]
    labels = np.empty((m, depth), dtype=np.int32)
    ends = np.empty((m, depth), dtype=np.int32)
    last = np.zeros((m, classes), dtype=np.int32)
    distances = np.empty(n)
    scratch = np.empty(n)
    rows, order = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    starts = np.empty(2 * depth + 2, dtype=np.int64)
    for i in range(m):
        squared_distances_to_all(queries[i], columns, distances)
        if leave_out:
            distances[i] = np.inf
        scratch[:] = distances
        available = n
        if leave_out:
            scratch[i] = scratch[n - 1]
            available = n - 1
        reach = select(scratch, available, depth - 1)
        reach += TIE * reach
        found = 0
        for j in range(n):
            if distances[j] <= reach and not (leave_out and j == i):
                rows[found] = j
                found += 1
        if found <= 1000:
            sort_rows(rows, distances, found, starts, order)
        else:  # so many that badly spread distances would make buckets slow
            order[:found] = rows[:found][np.argsort(distances[rows[:found]])]
        start = 0
        while start < depth:
            anchor = distances[order[start]]
            limit = anchor + TIE * anchor
            end = start + 1
            while end < found and distances[order[end]] <= limit:
                end += 1
            if by_index and end - start > 1:
                order[start:end] = np.sort(order[start:end])
            for place in range(start, min(end, depth)):
                labels[i, place] = codes[order[place]]
                ends[i, place] = place + 1 if by_index else end
            if end >= depth:
                if by_index:
                    last[i, codes[order[depth - 1]]] = 1
                else:
                    for place in range(start, end):
                        last[i, codes[order[place]]] += 1
            start = end
    return labels, ends, last


@kernel
def begin_counts(m, classes):
    """The state that `advance_counts` carries from k to k + 1, before the first neighbour."""
    counts = np.zeros((m, classes))
    whole = np.zeros((m, classes))  # neighbours of complete groups
    group = np.zeros((m, classes))  # the class counts of the group under way
    bounds = np.zeros((m, 2), dtype=np.int64)  # its first place, and the place behind its last
    return counts, whole, group, bounds


@kernel
def advance_counts(k, labels, ends, last, counts, whole, group, bounds):
    """Turn the class counts (m, c) among the k - 1 nearest into those among the k nearest.

    Inside a group of g equal distances r places count r / g of its members, computed afresh for each r, so
    that counts of complete groups are whole numbers exactly.
    """
    m, depth = labels.shape
    classes = counts.shape[1]
    place = k - 1
    for i in range(m):
        if place == bounds[i, 1]:
            if bounds[i, 1] - bounds[i, 0] > 1:
                for j in range(classes):
                    whole[i, j] += group[i, j]
                    counts[i, j] = whole[i, j]
            end = ends[i, place]
            bounds[i, 0] = place
            bounds[i, 1] = end
            if end == place + 1:
                label = labels[i, place]
                whole[i, label] += 1.0
                counts[i, label] = whole[i, label]
            elif end < depth:
                for j in range(classes):
                    group[i, j] = 0.0
                for other in range(place, end):
                    group[i, labels[i, other]] += 1.0
            else:
                for j in range(classes):
                    group[i, j] = last[i, j]
        size = bounds[i, 1] - bounds[i, 0]
        if size > 1:
            taken = k - bounds[i, 0]
            for j in range(classes):
                counts[i, j] = whole[i, j] + taken * group[i, j] / size


@kernel
def all_counts(labels, ends, last):
    """(depth, m, c) class counts among the 1, 2, ... depth nearest of every query."""
    m, depth = labels.shape
    classes = last.shape[1]
    counts, whole, group, bounds = begin_counts(m, classes)
    out = np.empty((depth, m, classes))
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, bounds)
        out[k - 1] = counts
    return out
