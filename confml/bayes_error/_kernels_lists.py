"""Lists of the nearest rows by float32 products with a margin, decided exactly; votes of the lists."""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distance_of_rows


@kernel
def lists_of_block(product, begin, X, rank, low, high, lists):
    """Fill the lists (n, k) of positions begin, begin + 1, ... of `Points`, at their row numbers.

    product (b, n) float32: -2 Z_i . Z_j; low, high (n,): squared norms minus and plus the rounding margin.
    A list has the row numbers of the k nearest other rows in the order of (distance, row number).
    """
    n, k = lists.shape
    bounds = np.empty(k, np.float32)
    near, numbers = np.empty(k), np.empty(k, np.int64)
    for b in range(product.shape[0]):
        i = begin + b
        row, base = product[b], high[i]
        bounds[:] = np.inf
        last = np.float32(np.inf)
        for j in range(n):
            d = row[j] + (high[j] + base)
            if d < last and j != i:
                at = k - 1
                while at > 0 and bounds[at - 1] > d:
                    bounds[at] = bounds[at - 1]
                    at -= 1
                bounds[at] = d
                last = bounds[k - 1]
        near[:], numbers[:] = np.inf, np.iinfo(np.int64).max
        base = low[i]
        for j in range(n):
            if j == i or not row[j] + (low[j] + base) <= last:
                continue
            d, number = squared_distance_of_rows(X, i, X, j), rank[j]
            if d > near[k - 1] or (d == near[k - 1] and number >= numbers[k - 1]):
                continue
            at = k - 1
            while at > 0 and (near[at - 1] > d or (near[at - 1] == d and numbers[at - 1] > number)):
                near[at], numbers[at] = near[at - 1], numbers[at - 1]
                at -= 1
            near[at], numbers[at] = d, number
        for e in range(k):
            lists[rank[i], e] = numbers[e]


@kernel
def _add_vote(votes, code, top, tied):
    """Add a vote for a class; return the most votes of a class and the number of classes that have them."""
    votes[code] += 1
    if votes[code] > top:
        return votes[code], 1
    return top, tied + (votes[code] == top)


@kernel
def _error(label, top, tied):
    """Return the probability of another class than the own in a random choice among the classes with most
    votes.
    """
    return 1 - 1 / tied if label == top else 1.0


@kernel
def vote_sums(lists, codes, n_classes):
    """Return the sums over the rows for each k = 1..K: of the error, the vote risk, and the squares of the
    error and of the mean of both: (4, K).

    lists (n, K): row numbers of the neighbours, nearest first; codes (n,). The error of a row is that of
    `_error`; its vote risk is 1 - (most votes) / k.
    """
    n, most = lists.shape
    sums = np.zeros((4, most))
    votes = np.zeros(n_classes, np.int64)
    for i in range(n):
        top, tied = 0, 0
        for k in range(most):
            top, tied = _add_vote(votes, codes[lists[i, k]], top, tied)
            error = _error(votes[codes[i]], top, tied)
            risk = 1 - top / (k + 1)
            sums[0, k] += error
            sums[1, k] += risk
            sums[2, k] += error * error
            sums[3, k] += (error + risk) * (error + risk) / 4
        for k in range(most):
            votes[codes[lists[i, k]]] = 0
    return sums


@kernel
def vote_values(lists, codes, n_classes):
    """Return the error and vote risk of each row by the votes of its whole list: two arrays (n,)."""
    n, k = lists.shape
    errors, risks = np.empty(n), np.empty(n)
    votes = np.zeros(n_classes, np.int64)
    for i in range(n):
        top, tied = 0, 0
        for place in range(k):
            top, tied = _add_vote(votes, codes[lists[i, place]], top, tied)
        errors[i] = _error(votes[codes[i]], top, tied)
        risks[i] = 1 - top / k
        for place in range(k):
            votes[codes[lists[i, place]]] = 0
    return errors, risks
