"""Kernels that add up the values of one-vs-one problems by class, in the order of the pairs (a, b), a < b."""

import numpy as np

from confml._jit import kernel


@kernel
def add_by_class(second, first, sums):
    """Fill sums (n, c): for each class, second (n, pairs) of its pairs as b plus first (n, pairs) of those as
    a."""
    classes = sums.shape[1]
    for i in range(len(sums)):
        sums[i] = 0.0
        pair = 0
        for a in range(classes):
            total = sums[i, a]  # of the pairs in which a is the second class, all of which are before these
            for b in range(a + 1, classes):
                total += first[i, pair]
                sums[i, b] += second[i, pair]
                pair += 1
            sums[i, a] = total


@kernel
def count_votes(values, votes, sums):
    """Fill votes (n, c) and sums (n, c) of the decision values (n, pairs), which are positive for b.

    0 is half a vote for each class. A value counts with its own sign for b and the opposite sign for a.
    """
    classes = votes.shape[1]
    for i in range(len(votes)):
        votes[i] = 0.0
        sums[i] = 0.0
        pair = 0
        for a in range(classes):
            own, total = votes[i, a], sums[i, a]
            for b in range(a + 1, classes):
                value = values[i, pair]
                for_second = (np.sign(value) + 1.0) / 2.0
                own += 1.0 - for_second
                votes[i, b] += for_second
                total -= value
                sums[i, b] += value
                pair += 1
            votes[i, a], sums[i, a] = own, total
