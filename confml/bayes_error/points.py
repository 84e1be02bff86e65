"""Layout of the rows of a data set for spanning trees: grouped by class, with near rows next to each
other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confml.bayes_error import _kernels_boxes as boxes
from confml.errors import DataError

FEW_ATTRIBUTES = 12
"""Number of features up to which boxes of cells exclude enough distances to be faster."""
LEAF = 96
"""Largest number of rows in a leaf; its trees are computed from a full distance matrix."""


@dataclass(frozen=True)
class Points:
    """Rows in an order in which each class, and each cell of its k-d tree, is a range of positions.

    X (n, d) float64, times a power of two so that squares neither overflow nor vanish; rank (n,) row numbers;
    Z (n, d) float32, centred; low, high (n,) float32: squared norms of Z less and plus the rounding margin of
    float32 distances, so that low[i] + low[j] - 2 Z[i].Z[j] <= d^2 <= high[i] + high[j] - 2 Z[i].Z[j]; starts
    (K + 1,): class k holds positions starts[k]..starts[k + 1] - 1; scale: true d = d * scale; cells, roots:
    see `boxes_around`, for few attributes only.
    """

    X: np.ndarray
    rank: np.ndarray
    Z: np.ndarray
    minus_2Z: np.ndarray
    low: np.ndarray
    high: np.ndarray
    starts: np.ndarray
    scale: float
    cells: boxes.Boxes | None
    roots: list[int] | None

    def __len__(self) -> int:
        return self.X.shape[0]


def check_rows(X) -> np.ndarray:
    """Return X as a two-dimensional float64 array of finite numbers; DataError otherwise."""
    try:
        X = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"expected a table of numbers, rows and features: {error}") from None
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise DataError(f"expected a table with rows and features, got an array of shape {X.shape}")
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise DataError(
            f"row {row}, feature {column} is {X[row, column]}; distances need finite numbers",
            hint="drop or fill missing values first",
        )
    return X


def lay_out(X: np.ndarray, codes: np.ndarray, n_classes: int) -> Points:
    """Return the points of rows X (n, d), finite, with class codes (n,) from 0 to n_classes - 1."""
    by_class = np.argsort(codes, kind="stable")
    cell = boxes.CELL if X.shape[1] <= FEW_ATTRIBUTES else LEAF
    starts = np.searchsorted(codes[by_class], np.arange(n_classes + 1))
    order = np.concatenate(
        [boxes.nearby_order(X, by_class[starts[k] : starts[k + 1]], cell) for k in range(n_classes)]
    )
    X, scale = to_unit(X[order])
    Z = (X - (X.min(axis=0) / 2 + X.max(axis=0) / 2)).astype(np.float32)
    norms = np.einsum("ij,ij->i", Z, Z, dtype=np.float64)
    # Rounding of the product (d terms), of the conversion to float32, of the norms and of three sums, each at
    # most 2^-24 of |Z_i|^2 + |Z_j|^2 times a small number; with a floor for products that vanish.
    margin = norms * ((X.shape[1] + 16) * 2.0**-24 * 1.01) + 1e-30
    low = np.nextafter((norms - margin).astype(np.float32), np.float32(-np.inf))
    high = np.nextafter((norms + margin).astype(np.float32), np.float32(np.inf))
    cells, roots = boxes_around(X, starts) if X.shape[1] <= FEW_ATTRIBUTES else (None, None)
    return Points(X, order.astype(np.int64), Z, -2 * Z, low, high, starts, scale, cells, roots)


def to_unit(X: np.ndarray) -> tuple[np.ndarray, float]:
    """Return X (n, d) times a power of two, so that squared distances neither overflow nor vanish, and the
    factor that restores distances."""
    # halved before subtracting, so that the span of the largest floats does not overflow
    reach = float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())
    exponent = -math.frexp(reach)[1] if reach > 0 else 0
    # neither the largest number nor the factor back may overflow
    exponent = max(min(exponent, 1023 - math.frexp(float(np.abs(X).max()))[1]), -1023)
    return np.ascontiguousarray(np.ldexp(X, exponent)), math.ldexp(1.0, -exponent)


def boxes_around(X: np.ndarray, starts: np.ndarray) -> tuple[boxes.Boxes, list[int]]:
    """Return the boxes of the ranges between starts (K + 1,) of rows X in `nearby_order`, and the first node
    of each range."""
    # halving stops at cells of more than CELL / 2 rows, or one cell a range
    room = int(np.sum(4 * np.diff(starts) // boxes.CELL + 3))
    low, high = np.empty((room, X.shape[1])), np.empty((room, X.shape[1]))
    first, last, left, right = (np.empty(room, np.int64) for _ in range(4))
    roots = [0]
    for start, stop in zip(starts[:-1], starts[1:], strict=True):
        roots.append(boxes.boxes_of(X, start, stop, low, high, first, last, left, right, roots[-1]))
    return boxes.Boxes(X, np.ascontiguousarray(X.T), low, high, first, last, left, right), roots


def halves(start: int, stop: int) -> int:
    """Return the position at which a range is divided in two."""
    return start + (stop - start) // 2
