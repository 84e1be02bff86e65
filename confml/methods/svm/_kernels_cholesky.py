"""Compiled Cholesky factors of the exact paths: lower triangles in square tiles.

Tile (i, j), with i >= j, has the number i (i + 1) / 2 + j. The tiles on the diagonal hold the inverses of the
triangles of the factor, so that a solution takes products only.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.svm._kernels_rows import copy_into

TILE = 128  # largest side of a tile


@kernel
def tiles_for(N):
    """Return work space for `factorise` of a matrix (N, N): the tiles of its lower triangle.

    The last row of tiles is padded with the identity matrix.
    """
    count = max(1, (N + TILE - 1) // TILE)
    side = (N + count - 1) // count
    return np.zeros((count * (count + 1) // 2, side, side))


@kernel
def factorise(H, tiles):
    """Set ``tiles`` to the Cholesky factor of H (N, N), and return whether it exists.

    Only the lower triangle of H is read. A small multiple of the largest diagonal entry is added to the
    diagonal, larger ones until the factor exists.
    """
    N = len(H)
    largest = 0.0
    for a in range(N):
        if not np.isfinite(H[a, a]):
            return False
        largest = max(largest, H[a, a])
    shift = 1e-13 * largest
    for _ in range(10):
        for a in range(N):
            H[a, a] += shift
        if factorise_once(H, tiles):
            return True
        shift *= 30.0
    return False


@kernel
def factorise_once(H, tiles):
    """Set ``tiles`` as `factorise` does, and return False where H is not positive definite."""
    N, side = len(H), tiles.shape[1]
    inverse, part = np.zeros((side, side)), np.empty((side, side))
    for j in range((N + side - 1) // side):
        for i in range(j, (N + side - 1) // side):
            tile = tiles[i * (i + 1) // 2 + j]
            copy_tile(H, i, j, tile)
            for k in range(j):
                np.dot(tiles[i * (i + 1) // 2 + k], tiles[j * (j + 1) // 2 + k].T, part)
                for a in range(side):
                    for b in range(side):
                        tile[a, b] -= part[a, b]
            if i > j:
                np.dot(tile, inverse.T, part)
                copy_into(tile, part)
                continue
            if not factorise_tile(tile):
                return False
            invert_tile(tile, inverse)
        copy_into(tiles[j * (j + 1) // 2 + j], inverse)
    return True


@kernel
def copy_tile(H, i, j, tile):
    """Set ``tile`` to tile (i, j) of the lower triangle of H; beyond H, to the identity matrix."""
    N, side = len(H), len(tile)
    for a in range(side):
        row = i * side + a
        for b in range(side):
            column = j * side + b
            if row < N and column <= row:
                tile[a, b] = H[row, column]
            else:
                tile[a, b] = 1.0 if row == column else 0.0


@kernel
def factorise_tile(tile):
    """Replace the lower triangle of a tile by its Cholesky factor, and return whether it exists."""
    side = len(tile)
    column = np.empty(side)
    for k in range(side):
        if not tile[k, k] > 0.0:
            return False
        pivot = np.sqrt(tile[k, k])
        tile[k, k] = pivot
        for i in range(k + 1, side):
            factor = tile[i, k] / pivot
            tile[i, k] = column[i] = factor
            for j in range(k + 1, i + 1):
                tile[i, j] -= factor * column[j]
    return True


@kernel
def invert_tile(tile, inverse):
    """Set ``inverse`` to the inverse of the lower triangle of a tile; its upper triangle is 0 already."""
    for i in range(len(tile)):
        for j in range(i + 1):
            inverse[i, j] = 0.0
        for k in range(i):
            factor = tile[i, k]
            for j in range(k + 1):
                inverse[i, j] -= factor * inverse[k, j]
        inverse[i, i] = 1.0
        pivot = tile[i, i]
        for j in range(i + 1):
            inverse[i, j] /= pivot


@kernel
def solve_factorised(tiles, b):
    """Return the solution (N,) of L L' x = b for the factor L in ``tiles``, see `factorise`."""
    N, side = len(b), tiles.shape[1]
    count = (N + side - 1) // side
    x, part = np.zeros((count, side)), np.empty(side)
    for a in range(N):
        x[a // side, a % side] = b[a]
    for j in range(count):
        np.dot(tiles[j * (j + 1) // 2 + j], x[j], part)
        x[j] = part
        for i in range(j + 1, count):
            np.dot(tiles[i * (i + 1) // 2 + j], x[j], part)
            x[i] -= part
    for j in range(count - 1, -1, -1):
        np.dot(tiles[j * (j + 1) // 2 + j].T, x[j], part)
        x[j] = part
        for i in range(j):
            np.dot(tiles[j * (j + 1) // 2 + i].T, x[j], part)
            x[i] -= part
    return x.reshape(count * side)[:N].copy()
