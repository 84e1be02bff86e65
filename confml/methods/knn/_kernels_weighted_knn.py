"""Kernel of distance-weighted votes."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel


@kernel
def weighted_vote(k, distances, found, beyond, shares, winners):
    """Fill the shares (n, c) of Dudani's weights of the k nearest, and the class of each winner (n,).

    w_i = (d_k - d_i) / (d_k - d_1), and 1 where d_k = d_1: then all rows at that distance count equally.
    Equal sums of weights: the smaller sum of the distances of rows with a weight; then the first class.
    """
    n, c = shares.shape
    k = min(k, distances.shape[1])
    weights = np.empty(c, dtype=np.float64)
    sums = np.empty(c, dtype=np.float64)
    for i in range(n):
        first, last = distances[i, 0], distances[i, k - 1]
        weights[:] = 0.0
        sums[:] = 0.0
        if first == last:
            end = 0
            while end < distances.shape[1] and distances[i, end] == last:
                weights[found[i, end]] += 1.0
                end += 1
            if end == distances.shape[1]:
                for j in range(c):
                    weights[j] += beyond[i, j]
        else:
            for place in range(k):
                distance = distances[i, place]
                if distance == last:
                    break
                code = found[i, place]
                weights[code] += last - distance
                sums[code] += distance
        total = weights.sum()
        best = 0
        for j in range(c):
            shares[i, j] = weights[j] / total
            if weights[j] > weights[best] or (weights[j] == weights[best] and sums[j] < sums[best]):
                best = j
        winners[i] = best
