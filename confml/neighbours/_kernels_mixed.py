"""Kernels of distances between rows with nominal attributes, which stand first (eq. 3.2 of Kubat's book)."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel
from confml.neighbours._kernels import offer, squared_distance


@kernel
def mixed_distance(a, b, nominal, limit):
    """The distance of rows a (d,) and b (d,), whose first ``nominal`` columns hold codes.

    The root of the number of codes that differ and the squared differences of the rest, added in this order;
    where all columns hold codes, their number (Hamming). A result above ``limit`` may be too small.
    """
    differing = 0
    for i in range(nominal):
        differing += a[i] != b[i]
    if nominal == a.size:
        return float(differing)
    squared = limit * limit * (1.0 + 2.0**-50)
    if nominal == 0:
        return np.sqrt(squared_distance(a, b, squared))
    if differing > squared:
        return np.sqrt(float(differing))
    total = float(differing)
    for i in range(nominal, a.size):
        difference = a[i] - b[i]
        total += difference * difference
        if total > squared:
            break
    return np.sqrt(total)


@kernel
def search_mixed(rows, X, codes, nominal, distances, found, beyond):
    """The K nearest of each test row (n, d) in X (m, d): see `_kernels_knn` for what is filled in."""
    places = distances.shape[1]
    for i in range(len(rows)):
        filled = 0
        limit = np.inf
        for j in range(len(X)):
            distance = mixed_distance(rows[i], X[j], nominal, limit)
            if distance <= limit:
                filled = offer(distance, codes[j], filled, distances[i], found[i], beyond[i])
                if filled == places:
                    limit = distances[i, places - 1]
