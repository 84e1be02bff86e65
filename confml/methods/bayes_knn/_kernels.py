"""Kernel of Bayesian k-NN: class counts among the k nearest neighbours.

Squared distances are sums of squared differences in feature order. The expansion |x|^2 - 2 <x, z> + |z|^2 is
not used, because its rounding would order equal distances arbitrarily. Distances with a relative difference
of at most `TIE` are equal. Rows at equal distances share the remaining places, so counts are real numbers: if
3 rows, 2 of them of class j, share the last rank, they count as 2/3 of a neighbour of class j.
"""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distances_to_columns

TIE = 1e-12


@kernel
def class_counts(queries, columns, codes, classes, depth, leave_out, by_index):
    """Return a (depth, m, c): a[k - 1, i, j] of the k nearest of the examples to query i belong to class j.

    queries (m, d). columns (d, n): the examples. leave_out: query i is example i and is not its own
    neighbour. by_index: equal distances are ordered by row; otherwise they share their ranks.
    """
    m = queries.shape[0]
    counts = np.empty((depth, m, classes))
    distances = np.empty(columns.shape[1])
    whole, group = np.empty(classes), np.empty(classes)
    for i in range(m):
        squared_distances_to_columns(queries[i], columns, 0, distances)
        if leave_out:
            distances[i] = np.inf
        largest = np.partition(distances, depth - 1)[depth - 1]
        near = np.flatnonzero(distances <= largest + TIE * largest)
        order = near[np.argsort(distances[near])]
        whole[:] = 0.0  # neighbours before the group of equal distances
        start = 0
        while start < depth:
            anchor = distances[order[start]]
            end = start + 1
            while end < order.size and distances[order[end]] <= anchor + TIE * anchor:
                end += 1
            if by_index:
                order[start:end].sort()
            group[:] = 0.0
            for rank in range(start, end):
                group[codes[order[rank]]] += 1.0
                if by_index and rank < depth:
                    counts[rank, i] = whole + group
            if not by_index:
                for rank in range(start, min(end, depth)):
                    for j in range(classes):  # exact for complete groups
                        counts[rank, i, j] = whole[j] + (rank + 1 - start) * group[j] / (end - start)
            whole += group
            start = end
    return counts
