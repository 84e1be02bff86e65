"""Kernels of adaptive Bayesian k-NN: class counts in a metric M = Q Lambda Q^T (section 4.2 of the paper).

Distances in the metric M are Euclidean distances between the rows of Z = X Q Lambda^(1/2). Matrix products
are loops in a fixed order, so equal rows of X give equal rows of Z to the last bit. BLAS does not guarantee
this, and ties depend on equal distances.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.bayes_knn._kernels import TIE, kth_smallest
from confml.neighbours.distances import squared_distances_to_columns


@kernel
def _in_metric(columns, transform):
    """Return transform^T (r, d) columns (d, n), the examples in the new metric."""
    out = np.zeros((transform.shape[1], columns.shape[1]))
    for row in range(transform.shape[1]):
        for attribute in range(len(columns)):
            factor = transform[attribute, row]
            for j in range(columns.shape[1]):
                out[row, j] += factor * columns[attribute, j]
    return out


@kernel
def pair_distances(columns, transform, out):
    """Fill out (n, n) with squared distances of columns (d, n) in the metric; infinity on the diagonal."""
    z = _in_metric(columns, transform)
    rows = np.ascontiguousarray(z.T)
    for i in range(len(out)):
        squared_distances_to_columns(rows[i], z, i + 1, out[i, i + 1 :])
        out[i, i] = np.inf
        for j in range(i + 1, len(out)):
            out[j, i] = out[i, j]


@kernel
def _count_nearest(distances, k, codes, by_index, warm, counts):
    """Fill counts (c,) with the classes among the k nearest, from distances (n,); return the k-th distance.

    warm: guess of the k-th distance. It does not change the result; a guess that is slightly larger saves
    time. Rows at equal distances share the last rank, or are taken in order (by_index).
    """
    near = np.flatnonzero(distances <= warm)
    kth = kth_smallest(distances, near, k)
    if kth + TIE * kth > warm:  # there are not enough rows, or those that tie with the k-th
        near = np.arange(distances.size)
        kth = kth_smallest(distances, near, k)
    low, high = kth - TIE * kth, kth + TIE * kth
    counts[:] = 0.0
    free, tied = k, 0
    for j in near:
        if distances[j] < low:
            free -= 1
            counts[codes[j]] += 1.0
        else:
            tied += distances[j] <= high
    share = 1.0 if by_index or tied <= free else free / tied
    for j in near:
        if low <= distances[j] <= high and free > 0:
            counts[codes[j]] += share
            free -= share == 1.0
    return kth


@kernel
def count_nearest(distances, k, codes, classes, by_index, warm):
    """Return class counts (m, c) among the k nearest and the k-th distances (m,) of distances (m, n).

    warm (m,): guesses of the k-th distances.
    """
    counts, kth = np.empty((len(distances), classes)), np.empty(len(distances))
    for i in range(len(distances)):
        kth[i] = _count_nearest(distances[i], k, codes, by_index, warm[i], counts[i])
    return counts, kth


@kernel
def counts_log_likelihood(k, beta, counts, codes):
    """Return log L(D | beta, k) from the class counts (n, c) among the k nearest of each training example."""
    n, classes = counts.shape
    total = 0.0
    for i in range(n):
        class_count = counts[i, codes[i]]
        if class_count == k:
            total -= np.log1p((classes - 1.0) * np.exp(-beta))
            continue
        top = 0.0
        for j in range(classes):
            top = max(top, counts[i, j] - class_count)
        sum_of_powers = 0.0
        for j in range(classes):
            sum_of_powers += np.exp(beta * (counts[i, j] - class_count - top) / k)
        total -= beta * top / k + np.log(sum_of_powers)
    return total


@kernel
def predict_from_metrics(columns, codes, classes, queries, ks, betas, transforms, by_index, threshold):
    """Return mean, variance and envelope (m, c each) of m test examples over the s kept states of one chain.

    A fourth array (m, c) has the fraction of the states with a class probability above ``threshold``.
    columns (d, n): training examples. queries (d, m): test examples. transforms: (s, d, d).
    """
    m = queries.shape[1]
    mean = np.zeros((m, classes))
    spread = np.zeros((m, classes))
    envelope = np.zeros((m, classes))
    share = np.zeros((m, classes))
    distances, counts = np.empty(columns.shape[1]), np.empty(classes)
    warm = np.full(m, np.inf)
    for s in range(ks.size):
        k = ks[s]
        z = _in_metric(columns, transforms[s])
        points = np.ascontiguousarray(_in_metric(queries, transforms[s]).T)
        for i in range(m):
            squared_distances_to_columns(points[i], z, 0, distances)
            warm[i] = _count_nearest(distances, k, codes, by_index, 1.3 * warm[i], counts)
            large = counts.max()
            total = 0.0
            tied = 0
            for j in range(classes):
                total += np.exp(betas[s] * (counts[j] - large) / k)
                tied += counts[j] >= large - 1e-9
            for j in range(classes):
                p = np.exp(betas[s] * (counts[j] - large) / k) / total
                if counts[j] >= large - 1e-9:
                    envelope[i, j] += 1.0 / tied
                share[i, j] += p > threshold
                difference = p - mean[i, j]
                mean[i, j] += difference / (s + 1)
                spread[i, j] += difference * (p - mean[i, j])
    return mean, spread / ks.size, envelope / ks.size, share / ks.size
