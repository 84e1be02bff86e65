"""Kernel of the posterior of k: sums over all segmentations of the labels, from far to near."""

import math

import numpy as np

from confml._jit import kernel


@kernel
def predict(change, prior, distances, codes, beyond, probabilities, k_means):
    """Fill the class probabilities (n, c) and the posterior means of k (n,).

    distances, codes (n, K), beyond (n, c): the K nearest training rows, see `confml.neighbours`. Rows at one
    distance are one group: segments end at ends of groups only.
    """
    n, c = probabilities.shape
    most = distances.shape[1] + 1
    ends = np.empty(most, dtype=np.int64)
    counts = np.empty((most, c), dtype=np.int64)
    log_z = np.empty(most, dtype=np.float64)
    terms = np.empty(most, dtype=np.float64)
    log_stay, log_change = math.log1p(-change), math.log(change)
    tables = np.empty((2, 0), dtype=np.float64)
    for i in range(n):
        groups = fill_groups(distances[i], codes[i], beyond[i], ends, counts)
        if ends[groups] >= tables.shape[1]:
            tables = log_gammas(prior, c, ends[groups])
        log_z[groups] = 0.0
        for t in range(groups - 1, -1, -1):
            for u in range(t + 1, groups + 1):
                terms[u] = (ends[u] - ends[t] - 1) * log_stay + log_z[u]
                terms[u] += log_evidence(counts, t, u, ends[u] - ends[t], tables)
                if u < groups:
                    terms[u] += log_change
            log_z[t] = log_sum(terms[t + 1 : groups + 1])
        for u in range(groups + 1):
            terms[u] = ends[u] * log_stay + log_z[u] + log_evidence(counts, 0, u, ends[u], tables)
            if u < groups:
                terms[u] += log_change
        total = log_sum(terms[: groups + 1])
        probabilities[i] = 0.0
        k_means[i] = 0.0
        for u in range(groups + 1):
            mass = math.exp(terms[u] - total)
            k_means[i] += mass * ends[u]
            for j in range(c):
                probabilities[i, j] += mass * (prior + counts[u, j]) / (c * prior + ends[u])


@kernel
def fill_groups(distances, codes, beyond, ends, counts):
    """Fill the numbers of rows, and of rows per class, up to the end of each group, from entry 1 on.

    A group has equal distances. Entry 0 has no rows. Return the number of groups.
    """
    ends[0] = 0
    counts[0] = 0
    groups = 0
    for place in range(distances.size):
        if place == 0 or distances[place] > distances[place - 1]:
            groups += 1
            ends[groups] = ends[groups - 1]
            for j in range(beyond.size):
                counts[groups, j] = counts[groups - 1, j]
        ends[groups] += 1
        counts[groups, codes[place]] += 1
    for j in range(beyond.size):
        ends[groups] += beyond[j]
        counts[groups, j] += beyond[j]
    return groups


@kernel
def log_gammas(prior, c, most):
    """Return log Gamma(a + m) - log Gamma(a) and log Gamma(c a + m) - log Gamma(c a) for m = 0 .. most."""
    tables = np.zeros((2, most + 1), dtype=np.float64)
    for m in range(1, most + 1):
        tables[0, m] = tables[0, m - 1] + math.log(prior + m - 1)
        tables[1, m] = tables[1, m - 1] + math.log(c * prior + m - 1)
    return tables


@kernel
def log_evidence(counts, t, u, size, tables):
    """Return the log probability of the labels of groups t + 1 .. u if they are one segment."""
    total = -tables[1, size]
    for j in range(counts.shape[1]):
        total += tables[0, counts[u, j] - counts[t, j]]
    return total


@kernel
def log_sum(terms):
    """Return the log of the sum of exp(terms), of at least one term."""
    largest = terms.max()
    total = 0.0
    for term in terms:
        total += math.exp(term - largest)
    return largest + math.log(total)
