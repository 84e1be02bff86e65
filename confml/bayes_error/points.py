"""Layout of the rows of a data set for spanning trees: grouped by class, with near rows next to each
other."""

import math
from dataclasses import dataclass

import numpy as np

from confml.data.large_integers import warn_of_rounded_integers
from confml.errors import DataError
from confml.neighbours.distance_filter import DistanceFilter
from confml.neighbours.scaling import half_range, unit_exponent
from confml.neighbours.wide_tree import sort_into_leaves

FEW_ATTRIBUTES = 12
"""Number of features up to which boxes exclude enough distances to be faster."""
LEAF = 96
"""Largest number of rows in a leaf; its trees are computed from a full distance matrix."""


@dataclass(frozen=True)
class Points:
    """Rows in an order in which each class, and each leaf of its k-d tree, is a range of positions.

    X (n, d) float64, times a power of two so that squares neither overflow nor vanish; rank (n,) row numbers;
    Z (n, d) float32, centred; low, high (n,) float32: squared norms of Z minus and plus the slack of
    `DistanceFilter`, so that low[i] + low[j] - 2 Z[i].Z[j] <= d^2 <= high[i] + high[j] - 2 Z[i].Z[j]; starts
    (K + 1,): class k holds positions starts[k]..starts[k + 1] - 1; scale: true d = d * scale.
    """

    X: np.ndarray
    rank: np.ndarray
    Z: np.ndarray
    minus_2Z: np.ndarray
    low: np.ndarray
    high: np.ndarray
    starts: np.ndarray
    scale: float

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def few_attributes(self) -> bool:
        """Return whether boxes can be a faster filter than products."""
        return self.X.shape[1] <= FEW_ATTRIBUTES


def check_rows(X) -> np.ndarray:
    """Return X as a two-dimensional float64 array of finite numbers; DataError otherwise."""
    warn_of_rounded_integers(X)
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
    X, scale = to_unit(X)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_classes + 1))
    for k in range(n_classes):
        sort_into_leaves(X, order[starts[k] : starts[k + 1]], LEAF)
    X = X[order]
    # Distances are compared with those of X: the filter keeps its scale.
    products = DistanceFilter(X, X.min(axis=0) / 2 + X.max(axis=0) / 2)
    Z, norms, slack = products.rows.values, products.rows.norms, products.rows.slack
    low = np.nextafter((norms - slack).astype(np.float32), np.float32(-np.inf))
    high = np.nextafter((norms + slack).astype(np.float32), np.float32(np.inf))
    return Points(X, order.astype(np.int64), Z, -2 * Z, low, high, starts, scale)


def to_unit(X: np.ndarray) -> tuple[np.ndarray, float]:
    """Return X (n, d) times a power of two that brings the largest range near 1, and the factor that takes
    distances back.
    """
    exponent = unit_exponent(X, half_range(X))
    return np.ascontiguousarray(np.ldexp(X, exponent)), math.ldexp(1.0, -exponent)


def halves(start: int, stop: int) -> int:
    """Return the position at which the k-d tree divides a range of more than `LEAF` rows."""
    rows = LEAF
    while 2 * rows < stop - start:
        rows *= 2
    return start + rows
