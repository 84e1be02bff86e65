"""Kinds of distances: Euclidean, Minkowski, Mahalanobis and polar, also with nominal features.

Kubat (An Introduction to Machine Learning, section 3.2) defines the Euclidean distance and the one with
nominal features (eq. 3.2), and names the other three in a footnote, without formulas. All of them are never
negative, symmetric, and satisfy the triangle inequality; the polar distance is one of directions, the
Mahalanobis distance one of the directions in which the training examples vary.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from confml.errors import DataError
from confml.neighbours import _kernels as kernels
from confml.neighbours.checks import check_arrays, check_range, check_width
from confml.neighbours.nearest_rows import NearestRows, Neighbours, check_rows
from confml.neighbours.scaling import SafeScale

# Directions whose variance is below this fraction of the largest one are rounding errors of the covariance.
_VARIANCE_SHARE = 1e-10
# Standardised values are cut here; their squares are far from the limits of float64.
_FARTHEST = 2.0**400
# A sum of powers below this has lost digits to underflow.
_SMALLEST_SUM = 1e-290
_GRID = 2.0**40


class Rows(Protocol):
    """A training set that is prepared for a search."""

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        ...


def prepare_rows(
    X: np.ndarray,
    codes: np.ndarray,
    classes: int,
    nominal: np.ndarray,
    distance: str = "euclidean",
    power: float | str = 2.0,
) -> Rows:
    """Return training rows X (m, d) with class codes (m,) below ``classes``, prepared for a search.

    nominal: (d,) bool. Raises DataError for nominal features with a distance that cannot use them.
    """
    power = math.inf if power == "max" else float(power)
    if distance in ("euclidean", "minkowski"):
        if power == 2.0 and not nominal.any():
            return NearestRows(X, codes, classes)
        return MinkowskiRows(X, codes, classes, nominal, power)
    if nominal.any():
        raise DataError(
            f"the {distance} distance needs numbers, and {int(nominal.sum())} features are nominal",
            hint="set nominal: dummy, which codes them as 0/1 columns",
        )
    kind = MahalanobisRows if distance == "mahalanobis" else PolarRows
    return kind(X, codes, classes)


class ScannedRows(ABC):
    """Training rows X (m, d) for a search that compares a row with all of them, feature by feature."""

    X: np.ndarray  # in Fortran order: a feature is contiguous
    codes: np.ndarray
    classes: int
    unit = 1.0

    @abstractmethod
    def prepared(self, rows: np.ndarray) -> np.ndarray:
        """Return rows (n, d) in the form of X."""

    @abstractmethod
    def distances(self, row: np.ndarray) -> np.ndarray:
        """Return the distances (m,) of a prepared row (d,); each is a sum in the order of the features."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_rows(self)

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        nearest = Neighbours.empty(len(rows), min(k, len(self.X)), self.classes, self.unit)
        for row, *lists in zip(
            self.prepared(rows), nearest.distances, nearest.codes, nearest.beyond, strict=True
        ):
            kernels.search_distances(self.distances(row), self.codes, *lists)
        return nearest


class MinkowskiRows(ScannedRows):
    """Training rows for the Minkowski distance (sum |x_i - z_i|^power)^(1/power).

    A nominal feature adds 1 to the sum if the codes differ, so with ``power`` 2 this is eq. 3.2. With nominal
    features only, the distance is the number that differ.
    """

    def __init__(
        self, X: np.ndarray, codes: np.ndarray, classes: int, nominal: np.ndarray, power: float = 2.0
    ):
        self.order, self.count = np.argsort(~nominal, kind="stable"), int(nominal.sum())
        self.scale = SafeScale() if nominal.all() else SafeScale.of(X[:, ~nominal])
        if self.count and self.scale.exponent:
            raise DataError(
                f"the numeric features are too {'large' if self.scale.exponent < 0 else 'small'} to be "
                "compared with nominal features",
                hint="scale them first, for example with the step 'min-max'",
            )
        self.power, self.codes, self.classes = power, codes, classes
        self.X = np.asfortranarray(self.prepared(X))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        check_arrays(vars(self), order="i8 d", X="f8 n d")
        check_range("count", np.array([self.count]), 0, len(self.order) + 1)

    @property
    def unit(self) -> float:  # type: ignore[override]
        return self.scale.unit

    def prepared(self, rows: np.ndarray) -> np.ndarray:
        """Return rows with the nominal columns first, on a safe scale."""
        check_width(rows, len(self.order))
        return self.scale.apply(np.ascontiguousarray(rows[:, self.order]))

    def distances(self, row: np.ndarray) -> np.ndarray:
        """Return the distances (m,) of a prepared row (d,)."""
        nominal, numeric = np.split(self.X.T, [self.count])
        codes, values = np.split(row, [self.count])
        differing = (nominal != codes[:, None]).sum(axis=0).astype(np.float64)
        if not len(numeric):
            return differing
        total = np.minimum(differing, 1.0) if self.power == math.inf else differing.copy()
        with np.errstate(over="ignore", under="ignore"):
            for column, value in zip(numeric, values, strict=True):
                difference = np.abs(column - value)
                if self.power == math.inf:
                    np.maximum(total, difference, out=total)
                else:
                    total += difference**self.power
            if self.power in (1.0, 2.0, math.inf):  # a safe scale has room for squares
                return np.sqrt(total) if self.power == 2.0 else total
            distances = total ** (1.0 / self.power)
            lost = np.flatnonzero(~((total > _SMALLEST_SUM) & (total < np.inf)))
            differences = np.abs(numeric[:, lost] - values[:, None])
            largest = np.maximum(differences.max(axis=0), differing[lost] > 0)
            if largest.any():  # the same with all terms divided by the largest one
                unit = np.where(largest > 0, largest, 1.0)
                total = differing[lost] * np.where(differing[lost] > 0, 1.0 / unit, 0.0) ** self.power
                for column in differences / unit:
                    total += column**self.power
                distances[lost] = largest * total ** (1.0 / self.power)
            return distances


class PolarRows(ScannedRows):
    """Training rows for the angle between two rows, in radians from 0 to pi.

    The angle between a row of zeros and any other row is pi / 2, and 0 between two rows of zeros.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int):
        self.X, self.codes, self.classes = np.asfortranarray(_directions(X)), codes, classes

    def prepared(self, rows: np.ndarray) -> np.ndarray:
        """Return the directions of rows."""
        check_width(rows, self.X.shape[1] - 1)
        return _directions(rows)

    def distances(self, row: np.ndarray) -> np.ndarray:
        """Return the angles (m,) of a direction (d + 1,)."""
        squares = _sum_of_columns((self.X - row) ** 2)
        squares[self.X[:, -1] != row[-1]] = 2.0  # one of them is zero: a right angle
        return 2.0 * np.arcsin(np.minimum(1.0, 0.5 * np.sqrt(squares)))


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
        components = variances > _VARIANCE_SHARE * max(variances.max(initial=0.0), 0.0)
        matrix = vectors[:, components] / np.sqrt(variances[components])
        self.matrix = matrix if components.any() else np.zeros((X.shape[1], 1))
        self.rows = NearestRows(self._mapped(standard), codes, classes)

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d)."""
        check_width(rows, len(self.matrix))
        return self.rows.query(self._mapped(self._standardised(self.scale.apply(rows))), k)

    def _standardised(self, rows: np.ndarray) -> np.ndarray:
        used = self.spread > 0
        standard = np.zeros(rows.shape)
        with np.errstate(over="ignore"):
            standard[:, used] = (rows[:, used] - self.centre[used]) / self.spread[used]
        return np.clip(standard, -_FARTHEST, _FARTHEST)

    def _mapped(self, standard: np.ndarray) -> np.ndarray:
        """Return rows (n, r) of unit covariance; equal rows have equal ones, as every sum is in order."""
        mapped = np.zeros((len(standard), self.matrix.shape[1]))
        for column, weights in zip(standard.T, self.matrix, strict=True):
            mapped += column[:, None] * weights
        return mapped


def _directions(X: np.ndarray) -> np.ndarray:
    """Return the rows of X (n, d), scaled to length 1, and a column that is 1 for rows of zeros.

    Each row is first multiplied by a power of two, so that its squares neither overflow nor vanish. Results
    are rounded to multiples of 2^-40: rows of the same direction are then equal, whatever their lengths.
    """
    exponents = np.frexp(np.abs(X).max(axis=1, keepdims=True))[1]
    scaled = np.ldexp(X, 1 - exponents)
    lengths = np.sqrt(_sum_of_columns(scaled**2))[:, None]
    units = np.divide(scaled, lengths, out=np.zeros_like(scaled), where=lengths > 0)
    return np.hstack([np.rint(units * _GRID) / _GRID, lengths == 0])


def _sum_of_columns(values: np.ndarray) -> np.ndarray:
    """Return the sums (n,) over the columns of values (n, d), one after the other."""
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total
