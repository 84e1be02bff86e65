"""`Closeness`: how near every training example is, fast and within a known error, or slowly and exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confml.methods.tcm_nn import _kernels_lists as kernels

_UNIT_ROUNDOFF = 2.0**-24  # of float32
_EXACT_NORM = 2.0**22  # whole numbers and their halves up to here are exact in float32
_HUGE_NORM = 2.0**100  # rows longer than this are left to direct differences


@dataclass(frozen=True)
class Rows:
    """Examples as a closeness wants them.

    values: (b, d) in its own type. norms, slack: (b,) float64, squared lengths and shares of the error, in
    the filter's units. usable: (b,) where the filter's bound holds.
    """

    values: np.ndarray
    norms: np.ndarray
    slack: np.ndarray
    usable: np.ndarray

    def part(self, start: int, stop: int) -> Rows:
        rows = slice(start, stop)
        return Rows(self.values[rows], self.norms[rows], self.slack[rows], self.usable[rows])


class DirectCloseness:
    """Closeness as minus the squared distance itself: direct differences in float64, without any error."""

    factor, unit = 1.0, 1.0
    dtype = np.dtype(np.float64)

    def __init__(self, X: np.ndarray):
        """X: (m, d) float64."""
        zeros = np.zeros(len(X))
        self.rows = Rows(X, zeros, zeros, np.ones(len(X), dtype=bool))
        self.low = self.high = self.error = zeros
        self._columns = np.ascontiguousarray(X.T)

    def query(self, T: np.ndarray) -> Rows:
        zeros = np.zeros(len(T))
        return Rows(T, zeros, zeros, np.ones(len(T), dtype=bool))

    def tile(self, rows: Rows, first: int, last: int, room: np.ndarray) -> np.ndarray:
        """(b, last - first) closeness of some rows and the training examples from ``first`` to ``last``.

        It lies in ``room``, a flat array, until that is used again.
        """
        tile = room[: len(rows.values) * (last - first)].reshape(len(rows.values), last - first)
        with np.errstate(over="ignore"):
            kernels.minus_squared_distances(rows.values, self._columns, first, tile)
        return tile

    def reach(self, distances: np.ndarray) -> np.ndarray:
        """What closeness must exceed for distances below these (..., m)."""
        with np.errstate(over="ignore"):
            return -(distances * distances) * (1 + 1e-9)


class ProductCloseness:
    """Closeness as float32 matrix product: x.z - |z|^2 / 2, which grows as the distance falls.

    Examples are moved to their mean and scaled by a power of two, so that the longest has length below 1, and
    rounded to float32. With u = 2^-24, that moves a squared distance by at most 4 u (|x|^2 + |z|^2) and terms
    in u^2; a product of d terms added in any order is off by at most d u / (1 - d u) |x| |z| (Higham,
    Accuracy and Stability of Numerical Algorithms, 2002, eq. 3.5), and 2 |x| |z| <= |x|^2 + |z|^2; the few
    float32 operations on top of it in the kernels, on numbers of that size, add less than 20 u
    (|x|^2 + |z|^2). The bound e (|x|^2 + |z|^2) with e = (d + 32) u / (1 - (d + 32) u) covers the sum; each
    example carries its own share e |x|^2.

    Whole numbers of moderate size have exact products: then there is no error at all.
    """

    factor = 2.0
    dtype = np.dtype(np.float32)

    @classmethod
    def of(cls, X: np.ndarray) -> ProductCloseness | None:
        """The filter for training examples X (m, d); None where its bound would not hold: examples all alike,
        squares that leave float64, more attributes than float32 sums bear."""
        attributes = X.shape[1]
        share = (attributes + 32) * _UNIT_ROUNDOFF
        if share > 0.1:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            centre = X.mean(axis=0)
        if np.all(np.abs(centre) < 2.0**40) and _are_whole(X):
            exact = cls(X, np.rint(centre), 1.0, 0.0)
            if exact.rows.norms.max() <= _EXACT_NORM:
                return exact
        deviation = kernels.largest_deviation(X, centre)
        if not 1e-100 < deviation < 1e100:
            return None
        scale = 2.0 ** -np.ceil(np.log2(deviation * np.sqrt(attributes)))
        return cls(X, centre, scale, share / (1 - share))

    def __init__(self, X: np.ndarray, centre: np.ndarray, scale: float, share: float):
        """share: e of the bound; 0 for whole numbers."""
        self._centre, self._scale, self._share = centre, scale, share
        self.unit = 1.0 / scale
        self._tiny = X.shape[1] * 2.0**-120 if share else 0.0  # what is smaller than float32 can hold
        values, norms = self._shifted(X)
        slack = norms * share + self._tiny
        self.rows = Rows(values, norms, slack, np.ones(len(X), dtype=bool))
        self.low = ((norms - slack) / 2).astype(np.float32)
        self.high = ((norms + slack) / 2).astype(np.float32)
        self.error = (slack * (1 + 1e-6)).astype(np.float32)

    def _shifted(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, norms = np.empty(X.shape, dtype=np.float32), np.empty(len(X))
        kernels.shifted(X, self._centre, self._scale, values, norms)
        return values, norms

    def query(self, T: np.ndarray) -> Rows:
        """New examples T (r, d)."""
        values, norms = self._shifted(T)
        if self._share:
            slack = norms * self._share + self._tiny
        else:
            share = (T.shape[1] + 32) * _UNIT_ROUNDOFF
            exact = (T == np.rint(T)).all(axis=1) & (norms <= _EXACT_NORM)
            slack = np.where(exact, 0.0, (norms + self.rows.norms.max()) * share / (1 - share))
        return Rows(values, norms, slack, norms < _HUGE_NORM)

    def tile(self, rows: Rows, first: int, last: int, room: np.ndarray) -> np.ndarray:
        """(b, last - first) closeness, in ``room`` as above."""
        tile = room[: len(rows.values) * (last - first)].reshape(len(rows.values), last - first)
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(rows.values, self.rows.values[first:last].T, out=tile)
        return tile

    def reach(self, distances: np.ndarray) -> np.ndarray:
        """What closeness, less a term of the new example, must exceed for distances below these (..., m)."""
        with np.errstate(over="ignore"):
            squares = np.square(distances * self._scale) * (1 + 1e-6)
            return (self.low - squares / 2).astype(np.float32)


def _are_whole(values: np.ndarray) -> bool:
    """Whether all are whole numbers; one that is not is mostly among the first."""
    first = values.reshape(-1)[:256]
    return bool(np.array_equal(first, np.rint(first)) and np.array_equal(values, np.rint(values)))
