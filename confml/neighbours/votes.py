"""Kernels of votes among the k nearest rows, with all rows at the k-th distance."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel


@kernel
def count_votes(k, distances, found, beyond, votes, tied, sums):
    """Count the votes of the k nearest rows of one query by class code; return the units of one vote.

    distances (K,), found (K,), beyond (c,): of `Neighbours`, k at most K. Fills votes (c,), in units, and
    sums (c,), the distances of the voters times their units; tied (c,) is work space. All rows at the k-th
    distance count, each with an equal share of the remaining places. In these units equal votes are equal
    integers, and sums of integer distances are exact.
    """
    last = distances[k - 1]
    votes[:] = 0
    tied[:] = 0
    sums[:] = 0.0
    nearer = 0
    while distances[nearer] < last:
        votes[found[nearer]] += 1
        sums[found[nearer]] += distances[nearer]
        nearer += 1
    end = nearer
    while end < distances.size and distances[end] == last:
        tied[found[end]] += 1
        end += 1
    if end == distances.size:
        for code in range(tied.size):
            tied[code] += beyond[code]
    units = tied.sum()
    left = k - nearer
    for code in range(votes.size):
        votes[code] = votes[code] * units + tied[code] * left
        sums[code] *= units
        if tied[code] > 0:  # the distance may be infinite
            sums[code] += tied[code] * left * last
    return units


@kernel
def vote(k, distances, found, beyond, shares, winners):
    """Fill the vote shares (n, c) of the k nearest and the class of each winner (n,).

    Equal votes: the smaller sum of distances; then the first class.
    """
    n, c = shares.shape
    k = min(k, distances.shape[1])
    votes, tied, sums = np.empty(c, np.int64), np.empty(c, np.int64), np.empty(c)
    for i in range(n):
        units = count_votes(k, distances[i], found[i], beyond[i], votes, tied, sums)
        best = 0
        for j in range(c):
            shares[i, j] = votes[j] / (k * units)
            if votes[j] > votes[best] or (votes[j] == votes[best] and sums[j] < sums[best]):
                best = j
        winners[i] = best
