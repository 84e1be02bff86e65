"""`SafeScale`: multiply rows by a power of two so that squared distances stay inside the range of float64.

A difference above about 1e154 has an infinite square, and one below about 1e-162 has the square 0: distances
between such rows would all be equal. A power of two changes no digit of a number, so that the scaled
distances keep their order and their ties, and ratios of distances do not change.
"""

import math
from dataclasses import dataclass

import numpy as np

SMALLEST_RANGE = 2.0**-200
LARGEST_RANGE = 2.0**400
"""Rows whose largest range over the features is between these two are used as they are."""
FARTHEST = 2.0**490
"""Scaled values are cut here: a billion squares of such numbers still have a finite sum. A new row so far
away is equally far from all training rows in float64, with and without the cut."""


@dataclass(frozen=True)
class SafeScale:
    """The power of two for one training set.

    exponent: scaled values are 2^exponent times the given ones; 0 for all data of usual size.
    """

    exponent: int = 0

    @classmethod
    def of(cls, X: np.ndarray) -> "SafeScale":
        """Return the scale of training rows X (m, d), finite; equal rows are scaled by the largest value."""
        if X.size == 0:
            return cls()
        size = half_range(X) or 0.5 * float(np.abs(X).max(initial=0.0))
        usual = size == 0 or SMALLEST_RANGE <= 2.0 * size <= LARGEST_RANGE
        return cls(0 if usual else unit_exponent(X, size))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return rows X (n, d) on this scale: a new array, or X itself where nothing changes."""
        if self.exponent:
            with np.errstate(over="ignore", under="ignore"):
                X = np.ldexp(X, self.exponent)
        if np.abs(X).max(initial=0.0) > FARTHEST:
            X = np.clip(X, -FARTHEST, FARTHEST)
        return np.ascontiguousarray(X)

    @property
    def unit(self) -> float:
        """The distance, in the units of the data, of rows whose scaled distance is 1."""
        return math.ldexp(1.0, -self.exponent)


def half_range(X: np.ndarray) -> float:
    """Return half of the largest range over the features of X (m, d); the range itself may overflow.

    The whole range where the half underflows to 0.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    return float((high / 2 - low / 2).max() or (high - low).max())


def unit_exponent(X: np.ndarray, size: float) -> int:
    """Return the exponent of the power of two that brings ``size`` near 1, without overflow of X or of the
    way back.
    """
    exponent = -math.frexp(size)[1] if size > 0 else 0
    return max(min(exponent, 1023 - math.frexp(max(float(X.max()), -float(X.min())))[1]), -1023)
