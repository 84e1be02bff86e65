"""Kernels of Bayesian k-NN: sorted neighbours with ties, and class counts among the k nearest.

Squared distances are sums of squared differences in feature order. The expansion |x|^2 - 2 <x, z> + |z|^2 is
not used, because its rounding would order equal distances arbitrarily. Distances with a relative difference
of at most `TIE` are equal. Rows at equal distances share the remaining places, so counts are real numbers: if
3 rows, 2 of them of class j, share the last place, they count as 2/3 of a neighbour of class j.
"""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distances_to_columns

TIE = 1e-12


@kernel
def select(values, size, rank):
    """Return the value of ``rank`` (from 0) among values[:size], which are reordered (quickselect)."""
    left = 0
    right = size - 1
    while left < right:
        # The median of three avoids quadratic time for sorted and constant input.
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
    """Write rows[:size] to sorted_rows[:size] by increasing key (stable); keys (n,) by row.

    Bucket sort: distances are spread evenly enough, and it is three times as fast as quicksort because it has
    few unpredictable branches. starts (b + 1,): work space for b buckets.
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
    for s in range(1, size):  # insertion sort: only rows of one bucket can be out of order
        row = sorted_rows[s]
        key = keys[row]
        t = s - 1
        while t >= 0 and keys[sorted_rows[t]] > key:
            sorted_rows[t + 1] = sorted_rows[t]
            t -= 1
        sorted_rows[t + 1] = row


@kernel
def sorted_neighbours(queries, columns, codes, classes, depth, leave_out, by_index):
    """Find the ``depth`` nearest of the examples ``columns`` (d, n) for each query (m, d), nearest first.

    leave_out: query i is example i and is not its own neighbour. by_index: equal distances are ordered by
    row; otherwise they form one group. Return labels (m, depth), the class codes by place; ends (m, depth),
    the first place after the group of equal distances to which a place belongs (it can exceed ``depth``);
    last (m, classes), the class counts of the whole group of the last place.
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
        squared_distances_to_columns(queries[i], columns, distances)
        if leave_out:
            distances[i] = np.inf
        for j in range(n):
            scratch[j] = distances[j]
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
        else:  # bucket sort could be slow for unevenly spread distances
            for s in range(found):
                scratch[s] = distances[rows[s]]
            places = np.argsort(scratch[:found])
            for s in range(found):
                order[s] = rows[places[s]]
        start = 0
        while start < depth:
            anchor = distances[order[start]]
            limit = anchor + TIE * anchor
            end = start + 1
            while end < found and distances[order[end]] <= limit:
                end += 1
            if by_index and end - start > 1:
                order[start:end].sort()
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
    """Return the initial state of `advance_counts`, with no neighbours."""
    counts = np.zeros((m, classes))
    whole = np.zeros((m, classes))  # neighbours of complete groups
    group = np.zeros((m, classes))  # class counts of the current group
    bounds = np.zeros((m, 2), dtype=np.int64)  # first place of the current group, and first place after it
    return counts, whole, group, bounds


@kernel
def advance_counts(k, labels, ends, last, counts, whole, group, bounds):
    """Update the class counts (m, c) from the k - 1 nearest to the k nearest neighbours.

    r places in a group of g equal distances count r / g of each member. The fraction is computed anew for
    each r, so the counts of complete groups are exact integers.
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
    """Return the class counts (depth, m, c) among the 1, 2, ..., depth nearest neighbours of each query."""
    m, depth = labels.shape
    classes = last.shape[1]
    counts, whole, group, bounds = begin_counts(m, classes)
    out = np.empty((depth, m, classes))
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, bounds)
        for i in range(m):
            for j in range(classes):
                out[k - 1, i, j] = counts[i, j]
    return out
