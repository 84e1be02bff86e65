"""Kernels of the votes of nearest neighbours."""

import numpy as np

from confml._jit import kernel


@kernel
def count_votes(k, distances, codes, beyond, votes, sums, tied):
    """Fill the votes (c,) of the k nearest of one row and their sums of distances (c,); return the unit.

    All rows at the k-th distance count, each with an equal share of the remaining places. The unit is one
    row's share: equal votes are equal integers, and sums of integer distances are exact. tied: (c,) space for
    the kernel.
    """
    last = distances[k - 1]
    votes[:] = 0
    tied[:] = 0
    sums[:] = 0.0
    nearer = 0
    while distances[nearer] < last:
        votes[codes[nearer]] += 1
        sums[codes[nearer]] += distances[nearer]
        nearer += 1
    end = nearer
    while end < distances.size and distances[end] == last:
        tied[codes[end]] += 1
        end += 1
    if end == distances.size:
        for j in range(votes.size):
            tied[j] += beyond[j]
    unit = tied.sum()
    left = k - nearer
    for j in range(votes.size):
        votes[j] = votes[j] * unit + tied[j] * left
        sums[j] *= unit
        if tied[j] > 0:  # the distance may be infinite
            sums[j] += tied[j] * left * last
    return unit


@kernel
def vote(k, distances, codes, beyond, shares, winners):
    """Fill the vote shares (n, c) of the k nearest and the class of each winner (n,).

    Equal votes: the smaller sum of distances, with the shares of `count_votes`; then the first class.
    """
    n, c = shares.shape
    k = min(k, distances.shape[1])
    votes = np.empty(c, dtype=np.int64)
    tied = np.empty(c, dtype=np.int64)
    sums = np.empty(c, dtype=np.float64)
    for i in range(n):
        unit = count_votes(k, distances[i], codes[i], beyond[i], votes, sums, tied)
        best = 0
        for j in range(c):
            shares[i, j] = votes[j] / (k * unit)
            if votes[j] > votes[best] or (votes[j] == votes[best] and sums[j] < sums[best]):
                best = j
        winners[i] = best
