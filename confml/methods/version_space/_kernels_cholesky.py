"""Factorisation and non-negative least squares with a fixed order of summation.

A billiard trajectory amplifies the last bit of its walls and of its start, and the last bit of a BLAS product
depends on the processor. These functions give the same bits on every processor with IEEE arithmetic.
"""

import math

import numpy as np

from confml._jit import kernel


def pivoted_cholesky(gram: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return factor (n, r) and pivots (r,) of gram (n, n), so that gram = factor factor^T.

    The next pivot is the largest remaining diagonal element, the first one of equal ones. The factorisation
    ends when it is at most ``tolerance``, so r is the numerical rank. factor[pivots] is lower triangular.
    """
    rest, product = gram.copy(), np.empty_like(gram)
    columns, pivots = np.zeros_like(gram), np.empty(len(gram), np.int64)
    diagonal, rank = np.diag(gram).copy(), 0
    while rank < len(gram) and diagonal.max() > tolerance:
        pivot = diagonal.argmax()
        column, root = columns[rank], math.sqrt(diagonal[pivot])
        np.divide(rest[:, pivot], root, out=column, where=diagonal > -np.inf)
        column[pivot] = root
        rest -= np.multiply.outer(column, column, out=product)
        diagonal -= column * column
        diagonal[pivot], pivots[rank] = -np.inf, pivot
        rank += 1
    return np.ascontiguousarray(columns[:rank].T), pivots[:rank]


def inverse_of_lower(lower: np.ndarray) -> np.ndarray:
    """Return the inverse of a lower triangular matrix (r, r)."""
    inverse = np.zeros_like(lower)
    for k in range(len(lower)):
        inverse[k, :k] /= lower[k, k]
        inverse[k, k] = 1.0 / lower[k, k]
        inverse[k + 1 :, : k + 1] -= lower[k + 1 :, k, None] * inverse[k, : k + 1]
    return inverse


@kernel
def _append(gram, active, count, new, lower):
    """Append variable ``new`` to the Cholesky factor ``lower`` of gram[active, active].

    Return whether it is numerically independent of the active variables.
    """
    rest = gram[new, new]
    for i in range(count):
        total = gram[new, active[i]]
        for k in range(i):
            total -= lower[count, k] * lower[i, k]
        lower[count, i] = total / lower[i, i]
        rest -= lower[count, i] * lower[count, i]
    if rest <= 1e-14 * gram[new, new]:
        return False
    lower[count, count] = math.sqrt(rest)
    active[count] = new
    return True


@kernel
def _solve(lower, count, solution):
    """Solve lower lower^T s = 1 for the first ``count`` variables."""
    for i in range(count):
        total = 1.0
        for k in range(i):
            total -= lower[i, k] * solution[k]
        solution[i] = total / lower[i, i]
    for i in range(count - 1, -1, -1):
        total = solution[i]
        for k in range(i + 1, count):
            total -= lower[k, i] * solution[k]
        solution[i] = total / lower[i, i]


@kernel
def smallest_quadratic(gram, limit):
    """Minimise x G x / 2 - sum(x) over x >= 0 by the active-set method of Lawson and Hanson.

    gram (n, n): G, positive semidefinite. limit: largest number of changes of the active set. Return x (n,)
    and the largest violation of the optimality conditions.
    """
    n = gram.shape[0]
    x, slope, solution = np.zeros(n), np.ones(n), np.empty(n)
    active, is_active, refused = np.empty(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    lower = np.empty((n, n))
    count, violation = np.int64(0), 1.0
    for _ in range(limit):
        best = -1
        for j in range(n):
            if not is_active[j] and not refused[j] and (best < 0 or slope[j] > slope[best]):
                best = j
        if best < 0 or slope[best] <= 1e-12:
            break
        if not _append(gram, active, count, best, lower):
            refused[best] = True
            continue
        is_active[best] = True
        count += 1
        _solve(lower, count, solution)
        if solution[count - 1] <= 0.0:  # by rounding only
            count -= 1
            is_active[best], refused[best] = False, True
            continue
        while True:
            step = 1.0
            for i in range(count):
                if solution[i] <= 0.0:
                    step = min(step, x[active[i]] / (x[active[i]] - solution[i]))
            active_count = 0
            for i in range(count):
                j = active[i]
                x[j] += step * (solution[i] - x[j])
                if solution[i] <= 0.0 and x[j] <= 1e-14:
                    x[j], is_active[j] = 0.0, False
                else:
                    active[active_count] = j
                    active_count += 1
            if active_count == count:
                break
            before, count = active_count, np.int64(0)
            for i in range(before):
                if _append(gram, active, count, active[i], lower):
                    count += 1
                else:
                    x[active[i]], is_active[active[i]] = 0.0, False
            _solve(lower, count, solution)
        for j in range(n):
            total = 1.0
            for i in range(count):
                total -= gram[j, active[i]] * x[active[i]]
            slope[j] = total
            refused[j] = False
    violation = 0.0
    for j in range(n):
        violation = max(violation, abs(slope[j]) if is_active[j] else slope[j])
    return x, violation
