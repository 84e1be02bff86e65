"""Kinds of distances: Euclidean, Minkowski, Mahalanobis and polar.

Kubat (An Introduction to Machine Learning, section 3.2) defines the Euclidean distance and names the other
three in a footnote, without formulas. All of them are never negative, symmetric, and satisfy the triangle
inequality; the polar distance is one of directions, the Mahalanobis distance one of the directions in which
the training examples vary.
"""

import math
from typing import Any, Protocol

import numpy as np

from confml.errors import DataError
from confml.neighbours import _kernels_kinds as kernels
from confml.neighbours.checks import check_arrays, check_range, check_width
from confml.neighbours.mixed_rows import nearest_rows, nominal_first
from confml.neighbours.nearest_rows import NearestRows, Neighbours, check_rows
from confml.neighbours.scaling import SafeScale

# Directions whose variance is below this fraction of the largest one are rounding errors of the covariance.
_VARIANCE_SHARE = 1e-10
# Standardised values are cut here; their squares are far from the limits of float64.
_FARTHEST = 2.0**400


class Rows(Protocol):
    """A training set that is prepared for a search."""

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        ...


def prepare_rows(
    X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray, distance: str, power: float | str
) -> Rows:
    """Return training rows X (m, d) with class codes (m,) below ``classes``, prepared for a search.

    nominal: (d,) bool. Raises DataError for nominal features with a distance that cannot use them.
    """
    power = math.inf if power == "max" else float(power)
    if distance == "euclidean" or (distance == "minkowski" and power == 2.0):
        return nearest_rows(X, codes, classes, nominal)
    if distance == "minkowski":
        return MinkowskiRows(X, codes, classes, nominal, power)
    if nominal.any():
        raise DataError(
            f"the {distance} distance needs numbers, and {int(nominal.sum())} features are nominal",
            hint="set nominal: dummy, which codes them as 0/1 columns",
        )
    kind = MahalanobisRows if distance == "mahalanobis" else PolarRows
    return kind(X, codes, classes)


class MinkowskiRows:
    """Training rows for a full scan by Minkowski distance; a nominal feature adds 0 or 1 to the sum."""

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray, power: float):
        self.order, self.count = nominal_first(nominal)
        self.scale = SafeScale() if nominal.all() else SafeScale.of(X[:, ~nominal])
        if self.count and self.scale.exponent:
            raise DataError(
                "the numeric features are too large or too small to be compared with nominal features",
                hint="scale them first, for example with the step 'min-max'",
            )
        self.power, self.codes, self.classes = power, codes, classes
        self.X = self._ordered(X)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_rows(self)
        check_arrays(vars(self), order="i8 d", X="f8 n d")
        check_range("count", np.array([self.count]), 0, len(self.order) + 1)

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        nearest = Neighbours.empty(len(rows), min(k, len(self.X)), self.classes, self.scale.unit)
        out = nearest.distances, nearest.codes, nearest.beyond
        kernels.search_minkowski(self._ordered(rows), self.X, self.codes, self.count, self.power, *out)
        return nearest

    def _ordered(self, rows: np.ndarray) -> np.ndarray:
        return self.scale.apply(np.ascontiguousarray(rows[:, self.order]))


class MahalanobisRows:
    """Training rows for a search by sqrt((x - z)^T S^+ (x - z)).

    S is the covariance of all training rows, S^+ its pseudo-inverse: directions in which they do not vary
    are left out. The search is Euclidean among rows that are scaled to unit covariance.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int):
        self.scale = SafeScale.of(X)
        X = self.scale.apply(X)
        self.centre = X.mean(axis=0)
        centred = X - self.centre
        self.spread = np.sqrt((centred**2).sum(axis=0) / max(len(X) - 1, 1))
        self.spread[(X == X[0]).all(axis=0)] = 0.0
        standard = self._standardised(X)
        variances, vectors = np.linalg.eigh(standard.T @ standard / max(len(X) - 1, 1))
        kept = variances > _VARIANCE_SHARE * max(variances.max(initial=0.0), 0.0)
        matrix = vectors[:, kept] / np.sqrt(variances[kept])
        self.matrix = np.ascontiguousarray(matrix) if kept.any() else np.zeros((X.shape[1], 1))
        self.rows = NearestRows(self._mapped(standard), codes, classes)

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        return self.rows.query(self._mapped(self._standardised(self.scale.apply(rows))), k)

    def _standardised(self, rows: np.ndarray) -> np.ndarray:
        used = self.spread > 0
        standard = np.zeros(rows.shape)
        with np.errstate(over="ignore"):
            standard[:, used] = (rows[:, used] - self.centre[used]) / self.spread[used]
        return np.clip(standard, -_FARTHEST, _FARTHEST)

    def _mapped(self, standard: np.ndarray) -> np.ndarray:
        check_width(standard, len(self.matrix))
        out = np.empty((len(standard), self.matrix.shape[1]))
        kernels.mapped(standard, self.matrix, out)
        return out


class PolarRows:
    """Training rows for a full scan by the angle between two rows, in radians from 0 to pi.

    The angle between a row of zeros and any other row is pi / 2, and 0 between two rows of zeros.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int):
        self.X, self.codes, self.classes = _directions(X), codes, classes

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_rows(self)

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        check_width(rows, self.X.shape[1] - 1)
        nearest = Neighbours.empty(len(rows), min(k, len(self.X)), self.classes)
        out = nearest.distances, nearest.codes, nearest.beyond
        kernels.search_angles(_directions(rows), self.X, self.codes, *out)
        return nearest


def _directions(X: np.ndarray) -> np.ndarray:
    out = np.empty((len(X), X.shape[1] + 1))
    kernels.directions(np.ascontiguousarray(X), out)
    return out
