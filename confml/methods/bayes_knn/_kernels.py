"""Kernel of Bayesian k-NN: class counts among the k nearest neighbours.

Squared distances are sums of squared differences in feature order. The expansion |x|^2 - 2 <x, z> + |z|^2 is
not used, because its rounding would order equal distances arbitrarily. Distances with a relative difference
of at most `TIE` are equal. Rows at equal distances share the remaining places, so counts are real numbers: if
3 rows, 2 of them of class j, share the last rank, they count as 2/3 of a neighbour of class j.
"""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import insert

TIE = 1e-12


@kernel
def kth_smallest(distances, rows, k):
    """Return the k-th smallest of the distances (n,) of ``rows``; infinity with fewer rows."""
    smallest = np.full(k, np.inf)
    for row in rows:
        if distances[row] < smallest[k - 1]:
            insert(smallest, distances[row])
    return smallest[k - 1]


@kernel
def count_groups(distances, order, codes, by_index, counts):
    """Fill counts (depth, c): counts[k - 1, j] of the k nearest examples belong to class j.

    order: examples by distance, equal ones by row, at least ``depth`` and all that tie with the last of
    these. by_index: distances that tie are ordered by row; otherwise they share their ranks.
    """
    depth, classes = counts.shape
    whole, group = np.zeros(classes), np.zeros(classes)  # neighbours before the group that ties, and in it
    start = 0
    while start < depth:
        anchor = distances[order[start]]
        end = start + 1
        while end < order.size and distances[order[end]] <= anchor + TIE * anchor:
            end += 1
        for rank in range(start, end):
            row, before = order[rank], rank
            while by_index and before > start and order[before - 1] > row:
                order[before] = order[before - 1]
                before -= 1
            order[before] = row
        for rank in range(start, end):
            group[codes[order[rank]]] += 1.0
            if by_index and rank < depth:
                for j in range(classes):
                    counts[rank, j] = whole[j] + group[j]
        if not by_index:
            for rank in range(start, min(end, depth)):
                for j in range(classes):  # exact for complete groups
                    counts[rank, j] = whole[j] + (rank + 1 - start) * group[j] / (end - start)
        for j in range(classes):
            whole[j] += group[j]
            group[j] = 0.0
        start = end
