"""Literal versions of the algorithms, as slow as their definitions: what the tests compare confml with."""

import numpy as np


def distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """(a, b) Euclidean distances: squared differences added one by one in attribute order, then the root."""
    total = np.zeros((len(A), len(B)))
    with np.errstate(over="ignore"):
        for attribute in range(A.shape[1]):
            difference = A[:, attribute, None] - B[None, :, attribute]
            total = total + difference * difference
    return np.sqrt(total)


# ---- TCM-NN (Proedrou, Nouretdinov, Vovk, Gammerman 2002)


def sums_of_smallest(values: np.ndarray, k: int) -> np.ndarray:
    """(n,) sums of the k smallest of each row, added in ascending order; fewer than k count as +inf."""
    ascending = np.sort(values, axis=1)
    missing = np.full((len(values), max(0, k - values.shape[1])), np.inf)
    ascending = np.hstack([ascending, missing])
    total = np.zeros(len(values))
    for rank in range(k):
        total = total + ascending[:, rank]
    return total


def strangeness(same: np.ndarray, different: np.ndarray) -> np.ndarray:
    """Equation (2) of the two sums: +inf where same is, x/0 = +inf, 0/0 = 1."""
    out = np.empty(len(same))
    for i in range(len(same)):
        if np.isinf(same[i]):
            out[i] = np.inf
        elif different[i] == 0:
            out[i] = 1.0 if same[i] == 0 else np.inf
        else:
            out[i] = same[i] / different[i]
    return out


def all_alphas(D: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Strangeness of all examples with distances D (n, n) and labels y (n,), each leaving itself out."""
    itself = np.eye(len(y), dtype=bool)
    alike = y[:, None] == y[None, :]
    same = sums_of_smallest(np.where(alike & ~itself, D, np.inf), k)
    different = sums_of_smallest(np.where(~alike, D, np.inf), k)
    return strangeness(same, different)


def tcm_nn(X, y, T, k, within=False, classes=None, rows=True):
    """The definition: every completion of the training set from scratch.

    Returns (n_greater, n_equal, alpha), each (r, c); n_equal counts the new example too. ``within`` counts
    only examples of the label in question, and of the ``rows`` (m,) that count. ``classes`` are those of y by
    default.
    """
    classes = np.unique(y) if classes is None else classes
    shape = len(T), len(classes)
    greater, equal, alpha = np.zeros(shape, int), np.zeros(shape, int), np.zeros(shape)
    for r, x in enumerate(T):
        D = distances(np.vstack([X, x]), np.vstack([X, x]))
        for j, label in enumerate(classes):
            completed = np.append(y, label)
            alphas = all_alphas(D, completed, k)
            counted = alphas[np.append(rows & ((y == label) | (not within)), True)]
            alpha[r, j] = alphas[-1]
            greater[r, j] = np.sum(counted > alphas[-1])
            equal[r, j] = np.sum(counted == alphas[-1])
    return greater, equal, alpha


def tcm_nn_pseudo_code(X, y, T, k):
    """The paper's pseudo-code: alphas once, recalculated where a new example enters a list. As `tcm_nn`."""
    classes = np.unique(y)
    m = len(X)
    D = distances(X, X)
    alike, unlike = np.empty((m, k)), np.empty((m, k))
    for i in range(m):
        itself = np.arange(m) == i
        alike[i] = _k_smallest(D[i, (y == y[i]) & ~itself], k)
        unlike[i] = _k_smallest(D[i, y != y[i]], k)
    base = strangeness(sums_of_smallest(alike, k), sums_of_smallest(unlike, k))
    shape = len(T), len(classes)
    greater, equal, alpha = np.zeros(shape, int), np.zeros(shape, int), np.zeros(shape)
    for r, dist in enumerate(distances(T, X)):
        for j, label in enumerate(classes):
            alphas = base.copy()
            for t in np.flatnonzero((y == label) & (alike[:, k - 1] > dist)):
                longer = np.append(alike[t], dist[t])[None]
                alphas[t] = strangeness(sums_of_smallest(longer, k), sums_of_smallest(unlike[t][None], k))[0]
            for t in np.flatnonzero((y != label) & (unlike[:, k - 1] > dist)):
                longer = np.append(unlike[t], dist[t])[None]
                alphas[t] = strangeness(sums_of_smallest(alike[t][None], k), sums_of_smallest(longer, k))[0]
            same = sums_of_smallest(dist[y == label][None], k)
            different = sums_of_smallest(dist[y != label][None], k)
            alpha[r, j] = strangeness(same, different)[0]
            greater[r, j] = np.sum(alphas > alpha[r, j])
            equal[r, j] = np.sum(alphas == alpha[r, j]) + 1
    return greater, equal, alpha


def _k_smallest(values: np.ndarray, k: int) -> np.ndarray:
    smallest = np.sort(values)[:k]
    return np.append(smallest, np.full(k - len(smallest), np.inf))
