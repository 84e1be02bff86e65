"""`row_products`: products of examples with weights, the same for each row in any set of rows."""

import numpy as np

TILE = 48  # rows of one product: a multiple of the rows of the tiles of all BLAS kernels


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
    products = np.empty((full + 1, TILE, weights.shape[1]))
    np.matmul(X[: full * TILE].reshape(full, TILE, d), weights, out=products[:full])
    if n > full * TILE:
        rest = np.zeros((TILE, d))
        rest[: n - full * TILE] = X[full * TILE :]
        np.matmul(rest, weights, out=products[full])
    return products.reshape((full + 1) * TILE, weights.shape[1])[:n]
