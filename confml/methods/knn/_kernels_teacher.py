"""Kernel of votes in which the examples of a teacher have more weight than the others."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel
from confml.neighbours.votes import count_votes


@kernel
def teacher_vote(k, weight, distances, found, beyond, shares, winners):
    """Fill the shares (n, c) of the weighted votes of the k nearest, and the class of each winner (n,).

    Codes from c on are those of the teacher's examples: code c + j is class j with ``weight`` votes. Rows at
    the k-th distance count as in `count_votes`. Equal votes: the smaller sum of distances, with the same
    weights; then the first class.
    """
    n, c = shares.shape
    k = min(k, distances.shape[1])
    votes, tied, sums = np.empty(2 * c, np.int64), np.empty(2 * c, np.int64), np.empty(2 * c)
    for i in range(n):
        count_votes(k, distances[i], found[i], beyond[i], votes, tied, sums)
        total = 0.0
        for code in range(2 * c):
            total += votes[code] * (weight if code >= c else 1.0)
        best = 0
        most = -1.0
        least = 0.0
        for j in range(c):
            weighted = votes[j] + weight * votes[c + j]
            far = sums[j] + (weight * sums[c + j] if sums[c + j] > 0 else 0.0)
            shares[i, j] = weighted / total
            if weighted > most or (weighted == most and far < least):
                best, most, least = j, weighted, far
        winners[i] = best
