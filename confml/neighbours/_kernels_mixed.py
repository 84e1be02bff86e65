"""Kernel of the search among rows with nominal features, whose columns come first."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel
from confml.neighbours._kernels import offer
from confml.neighbours.distances import mixed_distance


@kernel
def search_mixed(rows, X, codes, nominal, distances, found, beyond):
    """Search the K nearest of each query row (n, d) in X (m, d); see `_kernels` for the arrays that are
    filled.
    """
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
