"""Crossings of fixed trees under shuffled labels."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel


@kernel
def as_few_crossings(u, v, inside, shuffles, observed, seed):
    """Return how many shuffles of the labels (n,) give at most `observed` edges with one end inside."""
    np.random.seed(seed)
    labels = inside.copy()
    count = 0
    for _ in range(shuffles):
        for i in range(labels.size - 1, 0, -1):
            j = np.random.randint(0, i + 1)
            labels[i], labels[j] = labels[j], labels[i]
        crossings = 0
        for e in range(u.size):
            crossings += labels[u[e]] != labels[v[e]]
        count += crossings <= observed
    return count
