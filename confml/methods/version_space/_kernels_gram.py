"""Compiled kernel matrices, and matrix products with a fixed order of summation.

Each element depends only on its own row and column, to the last bit, so the prediction of a test example does
not depend on the other test examples. With BLAS it would, because its order of summation depends on the
shape.
"""

import math

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import squared_distance_of_rows


@kernel
def squared_distances(X, Z, out):
    """Fill out (n, m) with squared Euclidean distances of X (n, d) and Z (m, d), summed in feature order."""
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            out[i, j] = squared_distance_of_rows(X, i, Z, j)


@kernel
def rbf_gram(X, Z, sigma, out):
    """Fill out (n, m) with exp(-|x - z|^2 / (2 sigma^2)) of X (n, d) and Z (m, d)."""
    squared_distances(X, Z, out)
    scale = -0.5 / (sigma * sigma)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = math.exp(scale * out[i, j])


@kernel
def polynomial_gram(X, Z, degree, coef0, out):
    """Fill out (n, m) with (<x, z> + coef0)^degree of X (n, d) and Z (m, d)."""
    for i in range(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            for a in range(X.shape[1]):
                total += X[i, a] * Z[j, a]
            out[i, j] = 1.0
            for _ in range(degree):
                out[i, j] *= total + coef0


@kernel
def products(A, B):
    """Return the product of A (n, r) and B (r, m), with each element summed over r in order."""
    out = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        row = out[i]
        for k in range(A.shape[1]):
            factor = A[i, k]
            summand = B[k]
            for j in range(row.size):
                row[j] += factor * summand[j]
    return out
