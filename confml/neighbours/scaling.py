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
"""Scaled values are cut here: a billion squares of such numbers still have a finite sum."""
JOINED = 256
"""Number of values per joined row in `half_range`."""


@dataclass(frozen=True)
class SafeScale:
    """The power of two for one training set.

    exponent: scaled values are 2^exponent times the given ones; 0 for all data of usual size. farthest: the
    largest scaled value of a new row. A new row so far away is equally far from all training rows in
    float64, with and without the cut.
    """

    exponent: int = 0
    farthest: float = FARTHEST

    @classmethod
    def of(
        cls,
        X: np.ndarray,
        smallest: float = SMALLEST_RANGE,
        largest: float = LARGEST_RANGE,
        farthest: float = FARTHEST,
    ) -> "SafeScale":
        """Return the scale of training rows X (m, d), finite; equal rows are scaled by the largest value."""
        if X.size == 0:
            return cls(0, farthest)
        size = half_range(X) or 0.5 * float(np.abs(X).max(initial=0.0))
        usual = size == 0 or smallest <= 2.0 * size <= largest
        return cls(0 if usual else unit_exponent(X, size), farthest)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return rows X (n, d) on this scale: a new array, or X itself where nothing changes."""
        if self.exponent:
            with np.errstate(over="ignore", under="ignore"):
                X = np.ldexp(X, self.exponent)
        if np.abs(X).max(initial=0.0) > self.farthest:
            X = np.clip(X, -self.farthest, self.farthest)
        return np.ascontiguousarray(X)

    @property
    def unit(self) -> float:
        """The distance, in the units of the data, of rows whose scaled distance is 1."""
        return math.ldexp(1.0, -self.exponent)


def half_range(X: np.ndarray) -> float:
    """Return half of the largest range over the features of X (m, d); the range itself may overflow.

    The whole range where the half underflows to 0.
    """
    low, high = _extremes(X, np.min), _extremes(X, np.max)
    return float((high / 2 - low / 2).max() or (high - low).max())


def _extremes(X: np.ndarray, reduce) -> np.ndarray:
    """Return the smallest or largest value of each feature; reduce: np.min or np.max.

    NumPy takes about ten times longer per value for short rows. Consecutive rows are joined into rows of
    about JOINED values.
    """
    m, d = X.shape
    joined = JOINED // max(d, 1)
    whole = m - m % joined if joined > 1 and X.flags.c_contiguous else 0
    if not whole:
        return reduce(X, axis=0)
    of_joined = reduce(X[:whole].reshape(-1, joined * d), axis=0).reshape(joined, d)
    return reduce(np.concatenate([of_joined, X[whole:]]), axis=0)


def unit_exponent(X: np.ndarray, size: float) -> int:
    """Return the exponent of the power of two that brings ``size`` near 1, without overflow of X or of the
    way back.
    """
    exponent = -math.frexp(size)[1] if size > 0 else 0
    return max(min(exponent, 1023 - math.frexp(max(float(X.max()), -float(X.min())))[1]), -1023)
