"""`DistanceFilter`: squared distances from float32 matrix products, with a proved error bound.

The filter excludes rows that cannot be neighbours; the distances of all others are computed exactly, so that
results do not depend on it. This is the only error bound of rounded distances in confml.
"""

from dataclasses import dataclass

import numpy as np

from confml.errors import DataError
from confml.neighbours import _kernels_filter as kernels
from confml.neighbours.distances import minus_squared_distances
from confml.neighbours.lanes import PANEL

_UNIT_ROUNDOFF = 2.0**-24  # of float32
_EXACT_NORM = 2.0**22  # integers and their halves up to here are exact in float32
_HUGE_NORM = 2.0**100  # products of longer rows may overflow
MOST_FEATURES = 2**23 - 32
"""Features up to which the error bound holds."""


@dataclass(frozen=True)
class FilterRows:
    """Rows in the form that a filter compares.

    values: (b, d) rows. norms, slack: (b,) float64, squared lengths and error bounds, in the filter's units.
    usable: (b,) bool, whether the bound holds for this row.
    """

    values: np.ndarray
    norms: np.ndarray
    slack: np.ndarray
    usable: np.ndarray

    def part(self, start: int, stop: int) -> "FilterRows":
        rows = slice(start, stop)
        return FilterRows(self.values[rows], self.norms[rows], self.slack[rows], self.usable[rows])


class DistanceFilter:
    """Squared distances of training rows and other rows, by a float32 matrix product.

    Rows x are replaced by z = float32(scale (x - centre)), with a power of two as scale. For rows i and j
    with the float32 product p = z_i . z_j, n = |z|^2 and the slack s of each row::

        | scale^2 |x_i - x_j|^2 - (n_i + n_j - 2 p) |  <=  s_i + s_j,     s = e n + d 2^-120,
        e = (d + 32) u / (1 - (d + 32) u),     u = 2^-24.

    Proof. (1) Rounding changes coordinate a of the scaled row y by at most u |y_a|, so the difference of two
    rows by at most u (|y_i| + |y_j|), and its square by at most (2 u + u^2) (|y_i| + |y_j|)^2, which is below
    4 u (|y_i|^2 + |y_j|^2) and terms in u^2. (2) A float32 product of d terms, added in any order, has an
    error of at most d u / (1 - d u) |z_i| |z_j| (Higham, Accuracy and Stability of Numerical Algorithms,
    2002, eq. 3.5), and 2 |z_i| |z_j| <= n_i + n_j. (3) Float64 rounding of the centre's subtraction, of the
    norms and of the exact distance itself is below u (n_i + n_j) in total while (d + 32) u <= 1/2. (4)
    Coordinates and terms below float32's normal range, 2^-126, lose at most that much each: together less
    than d 2^-120. The sum (d + 5) u (n_i + n_j) leaves 27 u (n_i + n_j), which covers terms in u^2 and up to
    20 float32 operations on numbers of this size: callers may round n, s and their sums to float32.

    Integers whose squared lengths stay below 2^22 have exact products: the slack is 0.

    rows: the training rows (m, d) as `FilterRows`. low, high: (m,) float32, (n - s) / 2 and (n + s) / 2.
    error: (m,) float32, s. unit: the distance in the data that is 1 in the filter.
    """

    factor = 2.0
    dtype = np.dtype(np.float32)

    @classmethod
    def of(cls, X: np.ndarray) -> "DistanceFilter | None":
        """Return the filter for training rows X (m, d), scaled such that the longest row has length at most
        1.

        None where the bound would not hold: equal rows, squares outside the range of float64, too many
        features for float32 sums.
        """
        features = X.shape[1]
        if features > MOST_FEATURES:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            centre = X.mean(axis=0)
        if np.all(np.abs(centre) < 2.0**40) and are_integers(X):
            exact = cls(X, np.rint(centre), exact=True)
            if exact.rows.norms.max() <= _EXACT_NORM:
                return exact
        deviation = kernels.largest_deviation(X, centre)
        if not 1e-100 < deviation < 1e130:
            return None
        return cls(X, centre, 2.0 ** -np.ceil(np.log2(deviation * np.sqrt(features))))

    def __init__(self, X: np.ndarray, centre: np.ndarray, scale: float = 1.0, exact: bool = False):
        """X: (m, d), with lengths of about 1 at most after ``scale``. exact: integers with exact products."""
        if X.shape[1] > MOST_FEATURES:
            raise DataError(f"expected at most {MOST_FEATURES} features, got {X.shape[1]}")
        self._centre, self._scale, self._exact = centre, scale, exact
        self._share = (X.shape[1] + 32) * _UNIT_ROUNDOFF / (1 - (X.shape[1] + 32) * _UNIT_ROUNDOFF)
        self._floor = X.shape[1] * 2.0**-120
        self.unit = 1.0 / scale
        values, norms = self._centred(X)
        slack = np.zeros(len(X)) if exact else norms * self._share + self._floor
        self.rows = FilterRows(values, norms, slack, np.ones(len(X), dtype=bool))
        self.low = ((norms - slack) / 2).astype(np.float32)
        self.high = ((norms + slack) / 2).astype(np.float32)
        self.error = (slack * (1 + 1e-6)).astype(np.float32)

    def _centred(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, norms = np.empty(X.shape, dtype=np.float32), np.empty(len(X))
        kernels.centred(X, self._centre, self._scale, values, norms)
        return values, norms

    def query(self, T: np.ndarray) -> FilterRows:
        """Return a query of new rows T (r, d)."""
        values, norms = self._centred(T)
        if self._exact:
            exact = (T == np.rint(T)).all(axis=1) & (norms <= _EXACT_NORM)
            # One row that is not exact makes all its products inexact: it carries both shares of the error.
            slack = np.where(exact, 0.0, (norms + self.rows.norms.max()) * self._share + self._floor)
        else:
            slack = norms * self._share + self._floor
        return FilterRows(values, norms, slack, norms < _HUGE_NORM)

    def similarities(self, rows: FilterRows, first: int, last: int, space: np.ndarray) -> np.ndarray:
        """Return products (b, last - first) of rows and the training rows from ``first`` to ``last``.

        The similarity g = z_i . z_j increases as the distance decreases. The result is a view of ``space``,
        a flat array.
        """
        tile = space[: len(rows.values) * (last - first)].reshape(len(rows.values), last - first)
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(rows.values, self.rows.values[first:last].T, out=tile)
        return tile

    def similarity_limits(self, distances: np.ndarray) -> np.ndarray:
        """Return similarities, minus a term of the new row, above which distances can be below these (...,
        m).
        """
        with np.errstate(over="ignore"):
            squares = np.square(distances * self._scale) * (1 + 1e-6)
            return (self.low - squares / 2).astype(np.float32)


class DirectDistances:
    """The interface of `DistanceFilter` without a filter: minus the exact squared distance in float64."""

    factor, unit = 1.0, 1.0
    dtype = np.dtype(np.float64)

    def __init__(self, X: np.ndarray):
        """X: (m, d) float64."""
        self.rows = self.query(X)
        self.low = self.high = self.error = self.rows.norms
        self._columns = np.ascontiguousarray(X.T)

    def query(self, T: np.ndarray) -> FilterRows:
        zeros = np.zeros(len(T))
        return FilterRows(T, zeros, zeros, np.ones(len(T), dtype=bool))

    def similarities(self, rows: FilterRows, first: int, last: int, space: np.ndarray) -> np.ndarray:
        tile = space[: len(rows.values) * (last - first)].reshape(len(rows.values), last - first)
        minus_squared_distances(rows.values, self._columns, first, tile)
        return tile

    def similarity_limits(self, distances: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return -(distances * distances) * (1 + 1e-9)


class GrowingFilter:
    """A `DistanceFilter` or `DirectDistances` whose rows have places in panels, some of which are free.

    `lanes.products_above` gives a value v for each pair of a new row i and a place j, with which the squared
    distance, in the filter's units, is at least -factor v, and at most -factor (v - s_i - s_j), up to the
    rounding that the slacks s include. Free places have low = +inf, so that no value there exceeds a limit. A
    row is put into a place if the error bound of the filter holds for it (`accepts`); for other rows a new
    filter is needed.

    X: (n, d) float64. places: the places of its first rows; the other rows can be put later. cells: number of
    places, a multiple of `PANEL`. products: use float32 products where the bound holds.
    """

    def __init__(self, X: np.ndarray, places: np.ndarray, cells: int, products: bool):
        found = DistanceFilter.of(X) if products and len(X) else None
        self.direct = found is None
        self._filter = found or DirectDistances(X)
        self.factor, self.unit, self.dtype = self._filter.factor, self._filter.unit, self._filter.dtype
        self._exact = found is not None and not found.error.any()
        self._longest = float(self._filter.rows.norms.max(initial=0.0))
        self.panels = np.zeros((cells // PANEL, X.shape[1], PANEL), dtype=self.dtype)
        self.low = np.full(cells, np.inf, dtype=self.dtype)
        self.error = np.zeros(cells, dtype=self.dtype)
        self.put(self._filter.rows.part(0, len(places)), places)

    def query(self, T: np.ndarray) -> FilterRows:
        """Return rows T (r, d) in the form that the filter compares."""
        return self._filter.query(T)

    def columns(self, rows: FilterRows, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the panels (p, d, PANEL) of new rows in this order (r,), and low (p * PANEL,)."""
        number = -(-len(order) // PANEL)
        padded = np.zeros((number * PANEL, rows.values.shape[1]), dtype=self.dtype)
        padded[: len(order)] = rows.values[order]
        low = np.zeros(len(padded), dtype=self.dtype)
        low[: len(order)] = ((rows.norms - rows.slack) / 2)[order]
        return np.ascontiguousarray(padded.reshape(number, PANEL, -1).transpose(0, 2, 1)), low

    def accepts(self, rows: FilterRows) -> bool:
        """Return whether these rows can be put into free places."""
        if self.direct:
            return True
        if self._exact and (rows.slack.any() or rows.norms.max(initial=0.0) > self._longest):
            return False
        return bool(rows.usable.all())

    def put(self, rows: FilterRows, places: np.ndarray) -> None:
        """Store rows in free places (r,)."""
        self.panels[places // PANEL, :, places % PANEL] = rows.values
        self.low[places] = (rows.norms - rows.slack) / 2
        self.error[places] = rows.slack * (1 + 1e-6)


def are_integers(values: np.ndarray) -> bool:
    """Return whether all values are integers; the first values show most that are not."""
    first = values.reshape(-1)[:256]
    return bool(np.array_equal(first, np.rint(first)) and np.array_equal(values, np.rint(values)))
