"""Layout of the rows of a data set for spanning trees: grouped by class, with near rows next to each
other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from confml.bayes_error import _kernels_boxes as boxes
from confml.errors import DataError
from confml.neighbours.distance_filter import DistanceFilter
from confml.neighbours.scaling import half_range, unit_exponent

FEW_ATTRIBUTES = 12
"""Number of features up to which boxes of cells exclude enough distances to be faster."""
LEAF = 96
"""Largest number of rows in a leaf; its trees are computed from a full distance matrix."""


@dataclass(frozen=True)
class Points:
    """Rows in an order in which each class, and each cell of its k-d tree, is a range of positions.

    X (n, d) float64, times a power of two so that squares neither overflow nor vanish; rank (n,) row numbers;
    Z (n, d) float32, centred; low, high (n,) float32: squared norms of Z minus and plus the slack of
    `DistanceFilter`, so that low[i] + low[j] - 2 Z[i].Z[j] <= d^2 <= high[i] + high[j] - 2 Z[i].Z[j]; starts
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
    X = np.ascontiguousarray(X)  # a kernel is compiled for each memory layout
    by_class = np.argsort(codes, kind="stable")
    cell = boxes.CELL if X.shape[1] <= FEW_ATTRIBUTES else LEAF
    starts = np.searchsorted(codes[by_class], np.arange(n_classes + 1))
    order = np.concatenate(
        [boxes.nearby_order(X, by_class[starts[k] : starts[k + 1]], cell) for k in range(n_classes)]
    )
    X, scale = to_unit(X[order])
    # Distances are compared with those of X: the filter keeps its scale.
    products = DistanceFilter(X, X.min(axis=0) / 2 + X.max(axis=0) / 2)
    Z, norms, slack = products.rows.values, products.rows.norms, products.rows.slack
    low = np.nextafter((norms - slack).astype(np.float32), np.float32(-np.inf))
    high = np.nextafter((norms + slack).astype(np.float32), np.float32(np.inf))
    cells, roots = boxes_around(X, starts) if X.shape[1] <= FEW_ATTRIBUTES else (None, None)
    return Points(X, order.astype(np.int64), Z, -2 * Z, low, high, starts, scale, cells, roots)


def to_unit(X: np.ndarray) -> tuple[np.ndarray, float]:
    """Return X (n, d) times a power of two that brings the largest range near 1, and the factor that takes
    distances back.
    """
    exponent = unit_exponent(X, half_range(X))
    return np.ascontiguousarray(np.ldexp(X, exponent)), math.ldexp(1.0, -exponent)


def boxes_around(X: np.ndarray, starts: np.ndarray) -> tuple[boxes.Boxes, list[int]]:
    """Return the boxes of the ranges between starts (K + 1,) of rows X in `nearby_order`, and the first node
    of each range.
    """
    # These boxes are not a `WideTree`: the filter compares nodes of two sets with each other, and the cells
    # must be ranges of positions; the vectors of `WideTree` compare one row with many boxes.
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
