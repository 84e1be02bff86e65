"""Compiled kernel matrices, matrix products with a fixed order of summation, and a solver for such matrices.

Each element depends only on its own row and column, to the last bit, so the prediction of a test example does
not depend on the other test examples. With BLAS it would, because its order of summation depends on the
shape.
"""

import math

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distance_of_rows

LINEAR, POLY, RBF = 0, 1, 2


@kernel
def squared_distances(X, Z, out):
    """Fill out (n, m) with squared Euclidean distances of X (n, d) and Z (m, d), summed in feature order."""
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            out[i, j] = squared_distance_of_rows(X, i, Z, j)


@kernel
def gram(X, Z, kind, sigma, degree, coef0, out):
    """Fill out (n, m) with k(x, z) of X (n, d) and Z (m, d)."""
    if kind == RBF:
        squared_distances(X, Z, out)
        scale = -0.5 / (sigma * sigma)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = math.exp(scale * out[i, j])
        return
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            for a in range(X.shape[1]):
                total += X[i, a] * Z[j, a]
            if kind == POLY:
                base = total + coef0
                total = 1.0
                for _ in range(degree):
                    total *= base
            out[i, j] = total


@kernel
def products(A, B):
    """Return the product of A (n, r) and B (r, m), with each element summed over r in order."""
    out = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(A.shape[1]):
            factor = A[i, k]
            other = B[k]
            for j in range(row.size):
                row[j] += factor * other[j]
    return out


@kernel
def descend(gram, alpha, gradient, C, tolerance, steps):
    """Minimise a Q a / 2 - sum(a) over 0 <= a <= C by coordinate descent; return the number of steps.

    gram (n, n): Q = y_i y_j k(x_i, x_j), with a positive diagonal. alpha (n,): start and result. gradient
    (n,): Q alpha - 1, updated. Each step minimises over the coordinate with the largest decrease. The loop
    ends when no component violates the optimality conditions by more than ``tolerance``.
    """
    n = alpha.size
    for step in range(steps):
        best, gain, violation = -1, 0.0, 0.0
        for i in range(n):
            slope = gradient[i]
            if (slope > 0.0 and alpha[i] <= 0.0) or (slope < 0.0 and alpha[i] >= C):
                continue
            violation = max(violation, abs(slope))
            if slope * slope > gain * gram[i, i]:
                best, gain = i, slope * slope / gram[i, i]
        if violation <= tolerance:
            return step
        new = min(max(alpha[best] - gradient[best] / gram[best, best], 0.0), C)
        change = new - alpha[best]
        alpha[best] = new
        row = gram[best]
        for i in range(n):
            gradient[i] += change * row[i]
    return steps
