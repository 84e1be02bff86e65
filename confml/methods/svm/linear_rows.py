"""`linear_rows` and `row_products`: examples for the exact paths, products with weights, sizes, ties."""

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import argmax_with_tie_break

DENSE = 0.4  # smallest fraction of non-zero entries of examples that are kept as an array
TILE = 48  # rows of one product: a multiple of the rows of the tiles of all BLAS kernels
LARGEST_SYSTEM = 8000  # largest number of weights of one machine
TIE = 1e-9  # scores are tied if they differ by at most this fraction of the largest one


def linear_rows(X) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return examples X (m, d), an array or CSR, with a constant feature 1 in front, as arrays of kernels.

    The result is (inputs (m, 1 + d), starts, columns, values). Either the inputs or the parts of the CSR
    matrix are empty, whichever is slower to use.
    """
    from scipy.sparse import csr_matrix, hstack, issparse

    if issparse(X) and X.nnz >= DENSE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    if not issparse(X) and np.count_nonzero(X) >= DENSE * X.size:
        none = np.empty(0, dtype=np.int64)
        inputs = np.ascontiguousarray(np.hstack([np.ones((len(X), 1)), X]))
        return inputs, np.zeros(1, dtype=np.int64), none, np.empty(0)
    rows = csr_matrix(hstack([np.ones((X.shape[0], 1)), csr_matrix(X)], format="csr"))
    rows.sum_duplicates()
    rows.sort_indices()
    starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return np.empty((0, rows.shape[1])), starts, columns, rows.data.astype(np.float64)


def row_products(X, weights: np.ndarray) -> np.ndarray:
    """Return X @ weights (n, k) for examples X (n, d), an array or sparse, and weights (d, k).

    Each row of the result depends on its example only, to the last bit: BLAS multiplies 48 rows at a time,
    the last ones with rows of zeros. The order of its sums depends on the shapes and, without full tiles, on
    the place of a row.
    """
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ weights)
    n, d = X.shape
    full = n // TILE
    found = np.empty((full + 1, TILE, weights.shape[1]))
    np.matmul(X[: full * TILE].reshape(full, TILE, d), weights, out=found[:full])
    if n > full * TILE:
        rest = np.zeros((TILE, d))
        rest[: n - full * TILE] = X[full * TILE :]
        np.matmul(rest, weights, out=found[full])
    return found.reshape((full + 1) * TILE, weights.shape[1])[:n]


def check_size(weights: int, other: str) -> None:
    """Raise ConfmlError if a machine has too many weights for ``solver: path``. other: the other solver."""
    if weights > LARGEST_SYSTEM:
        raise ConfmlError(
            f"solver path solves equations with up to {LARGEST_SYSTEM} unknowns, and there are {weights}: "
            "classes times features",
            hint=f"use solver: {other}, or fewer features",
        )


def labels_with_ties(scores: np.ndarray, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the labels (n,) of the largest scores (n, c).

    Scores within 1e-9 of the largest absolute score of their row are tied. Ties go to the class with more
    training examples, counts (c,), then to the first class. Where the minimum of the objective has tied
    scores, the order of computed ones depends on rounding.
    """
    scale = np.abs(scores).max(axis=1, keepdims=True, initial=0.0)
    more = np.broadcast_to(counts.astype(np.float64), scores.shape)
    units = np.divide(scores, scale, out=np.zeros_like(scores), where=scale > 0)
    return classes[argmax_with_tie_break(units, more, TIE)]
