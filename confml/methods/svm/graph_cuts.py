"""Cuts of a small weighted graph into two sides: minimum (Stoer and Wagner), normalised, balanced."""

import numpy as np

EXHAUSTIVE = 14  # largest number of vertices for which all bipartitions are compared


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
    best, found = np.inf, sides[0].copy()
    while len(alive) > 1:
        ties = merged[alive[0]].copy()
        rest, before, last = alive[1:], alive[0], alive[0]
        while rest:
            before, last = last, rest[int(np.argmax(ties[rest]))]
            phase = ties[last]
            rest.remove(last)
            ties += merged[last]
        if phase < best:
            best, found = phase, sides[last].copy()
        sides[before] |= sides[last]
        merged[before] += merged[last]
        merged[:, before] = merged[before]
        merged[before, before] = 0.0
        alive.remove(last)
    return ~found if found[0] else found


def normalised_cut(weights: np.ndarray) -> np.ndarray:
    """Return one side (k,) bool of a cut with a small ``cut/vol(A) + cut/vol(B)`` (Shi and Malik 2000).

    vol is the sum of the weights at the vertices of a side. The cut is optimal for at most `EXHAUSTIVE`
    vertices. With more, it is the best cut along the second eigenvector, improved by moving single vertices.
    """
    return _best_cut(weights, "normalised")


def balanced_cut(weights: np.ndarray) -> np.ndarray:
    """Return one side (k,) bool of a cut with a small mean edge weight, ``cut / (|A| |B|)``.

    It is optimal under the same condition as `normalised_cut`.
    """
    return _best_cut(weights, "balanced")


def cut_value(weights: np.ndarray, sides: np.ndarray, kind: str = "minimum") -> np.ndarray:
    """Return the value that a cut of this kind minimises, for each row of ``sides`` (..., k) bool."""
    weights = np.array(weights, dtype=np.float64)
    np.fill_diagonal(weights, 0.0)
    inside = sides.astype(np.float64)
    cut = np.sum((inside @ weights) * (1.0 - inside), axis=-1)
    if kind == "minimum":
        return cut
    if kind == "balanced":
        size = inside.sum(axis=-1)
        return cut / (size * (len(weights) - size))
    degree = weights.sum(axis=1)
    one, other = inside @ degree, (1.0 - inside) @ degree
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(cut > 0, cut / one + cut / other, 0.0)


CUTS = {"minimum": minimum_cut, "normalised": normalised_cut, "balanced": balanced_cut}


def _best_cut(weights: np.ndarray, kind: str) -> np.ndarray:
    k = len(weights)
    if k <= EXHAUSTIVE:
        bits = np.arange(1, 2 ** (k - 1))
        sides = np.zeros((len(bits), k), dtype=bool)
        sides[:, 1:] = (bits[:, None] >> np.arange(k - 1)) & 1
        return sides[int(np.argmin(cut_value(weights, sides, kind)))]
    clean = np.array(weights, dtype=np.float64)
    np.fill_diagonal(clean, 0.0)
    degree = clean.sum(axis=1)
    scale = 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)) if kind == "normalised" else np.ones(k)
    laplacian = scale[:, None] * (np.diag(degree) - clean) * scale
    second = np.linalg.eigh(laplacian)[1][:, 1] * scale
    order = np.argsort(second, kind="stable")
    sides = np.zeros((k - 1, k), dtype=bool)
    for size in range(1, k):
        sides[size - 1, order[:size]] = True
    side = sides[int(np.argmin(cut_value(clean, sides, kind)))]
    while True:
        moved = side ^ np.eye(k, dtype=bool)
        moved = moved[moved.any(axis=1) & ~moved.all(axis=1)]
        values = cut_value(clean, moved, kind)
        best = int(np.argmin(values))
        if not values[best] < cut_value(clean, side, kind) * (1 - 1e-12):
            return ~side if side[0] else side
        side = moved[best]
