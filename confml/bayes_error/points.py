"""Rows of a data set in the order in which spanning trees are computed, and checks of rows and labels."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confml.data.large_integers import warn_of_rounded_integers
from confml.errors import ConfigError, DataError
from confml.neighbours.distance_filter import DistanceFilter
from confml.neighbours.scaling import half_range, unit_exponent


@dataclass(frozen=True)
class Points:
    """Rows in an order in which each class is a range of positions.

    X (n, d) float64, times a power of two so that squares neither overflow nor vanish; rank (n,) row numbers;
    starts (K + 1,): class k holds positions starts[k]..starts[k + 1] - 1; scale: true d = d * scale.
    """

    X: np.ndarray
    rank: np.ndarray
    starts: np.ndarray
    scale: float

    @classmethod
    def of(cls, X: np.ndarray, codes: np.ndarray, n_classes: int) -> "Points":
        """Return the points of rows X (n, d), finite, with class codes (n,) from 0 to n_classes - 1."""
        exponent = unit_exponent(X, half_range(X))
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(n_classes + 1))
        return cls(np.ldexp(X[order], exponent), order, starts, math.ldexp(1.0, -exponent))

    def range(self, k: int) -> slice:
        """Return the positions of class k."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    @cached_property
    def rounded(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows Z (n, d) float32 and low (n,), with d2 >= low_i + low_j - 2 Z_i . Z_j; see
        `DistanceFilter`, whose scale is that of X."""
        rows = DistanceFilter(self.X, self.X.min(axis=0) / 2 + self.X.max(axis=0) / 2).rows
        return rows.values, rows.norms - rows.slack


def check_problem(X, y, trees: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, the classes (K,) and class codes (n,); DataError or ConfigError for invalid input."""
    X = check_rows(X, trees)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise DataError(f"expected one label per row, got {X.shape[0]} rows and labels of shape {y.shape}")
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise DataError(f"expected at least two classes, got only {classes[0]!r}")
    return X, classes, codes


def check_rows(X, trees: int) -> np.ndarray:
    """Return X as a two-dimensional float64 array of finite numbers; DataError or ConfigError otherwise."""
    if isinstance(trees, bool) or not isinstance(trees, (int, np.integer)) or not 1 <= trees <= 100:
        raise ConfigError(f"trees: expected a whole number from 1 to 100, got {trees!r}")
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
