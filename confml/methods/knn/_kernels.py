"""Kernels of distance-weighted votes and of the comparison with a teacher."""

import numpy as np

from confml._jit import kernel
from confml.neighbours.votes import count_votes


@kernel
def weighted_vote(k, distances, codes, beyond, shares, winners):
    """Fill the shares (n, c) of Dudani's weights of the k nearest, and the class of each winner (n,).

    w_i = (d_k - d_i) / (d_k - d_1), and 1 where d_k = d_1 (Kubat 2015, eq. 3.4): then all rows at that
    distance count equally. Equal sums of weights: the smaller sum of the distances of rows with a weight;
    then the first class.
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
                weights[codes[i, end]] += 1.0
                end += 1
            if end == distances.shape[1]:
                for j in range(c):
                    weights[j] += beyond[i, j]
        else:
            for rank in range(k):
                distance = distances[i, rank]
                if distance == last:
                    break
                code = codes[i, rank]
                weights[code] += last - distance
                sums[code] += distance
        total = weights.sum()
        best = 0
        for j in range(c):
            shares[i, j] = weights[j] / total
            if weights[j] > weights[best] or (weights[j] == weights[best] and sums[j] < sums[best]):
                best = j
        winners[i] = best


@kernel
def teacher_vote(k, weight, distances, codes, beyond, shares, winners):
    """Fill the shares (n, c) of the weighted votes of the k nearest, and the class of each winner (n,).

    Codes from c on are those of the teacher's examples: code c + j is class j with ``weight`` votes. See
    `count_votes`. Equal votes: the smaller sum of distances, with the same weights; then the first class.
    """
    n, c = shares.shape
    k = min(k, distances.shape[1])
    rows = np.empty(2 * c, dtype=np.int64)
    tied = np.empty(2 * c, dtype=np.int64)
    sums = np.empty(2 * c, dtype=np.float64)
    for i in range(n):
        count_votes(k, distances[i], codes[i], beyond[i], rows, sums, tied)
        total = 0.0
        for code in range(2 * c):
            total += rows[code] * (weight if code >= c else 1.0)
        best = 0
        most = -1.0
        least = 0.0
        for j in range(c):
            votes = rows[j] + weight * rows[c + j]
            far = sums[j] + (weight * sums[c + j] if sums[c + j] > 0 else 0.0)
            shares[i, j] = votes / total
            if votes > most or (votes == most and far < least):
                best, most, least = j, votes, far
        winners[i] = best
