"""Minimum cut of a small weighted graph by the algorithm of Stoer and Wagner (1997)."""

import numpy as np


def minimum_cut(weights: np.ndarray) -> np.ndarray:
    """Return the side (k,) bool without vertex 0 of a cut with the smallest total weight.

    weights: (k, k) symmetric and non-negative, k >= 2; the diagonal is ignored. The algorithm is that of
    Stoer and Wagner (1997): each phase adds the vertex with the largest total weight to the added ones, the
    cut of the last vertex is a candidate, and the last two vertices are merged. Ties go to the first cut
    found.
    """
    k = len(weights)
    merged = np.array(weights, dtype=np.float64)
    np.fill_diagonal(merged, 0.0)
    sides = np.eye(k, dtype=bool)  # the original vertices of each merged vertex
    alive = list(range(k))
    best, side = np.inf, sides[0].copy()
    while len(alive) > 1:
        ties = merged[alive[0]].copy()
        rest, before, last = alive[1:], alive[0], alive[0]
        while rest:
            before, last = last, rest[int(np.argmax(ties[rest]))]
            phase = ties[last]
            rest.remove(last)
            ties += merged[last]
        if phase < best:
            best, side = phase, sides[last].copy()
        sides[before] |= sides[last]
        merged[before] += merged[last]
        merged[:, before] = merged[before]
        merged[before, before] = 0.0
        alive.remove(last)
    return ~side if side[0] else side
