"""`DistanceFilter`: squared distances from float32 matrix products, with a proved error bound.

The filter excludes rows that cannot be neighbours; the distances of all others are computed exactly, so that
results do not depend on it. This is the only error bound of rounded distances in confml.
"""

from dataclasses import dataclass

import numpy as np

_UNIT_ROUNDOFF = 2.0**-24  # of float32
_EXACT_NORM = 2.0**22  # integers and their halves up to here are exact in float32
_HUGE_NORM = 2.0**100  # products of longer rows may overflow
MOST_FEATURES = 2**23 - 32
"""Features up to which the error bound holds."""


@dataclass(frozen=True)
class FilterRows:
    """Rows in the form that a filter compares.

    values: (b, d) rows. norms, slack: (b,) float64, squared lengths and error bounds, in the filter's units;
    a slack of +inf where the bound does not hold.
    """

    values: np.ndarray
    norms: np.ndarray
    slack: np.ndarray

    def part(self, rows: slice) -> "FilterRows":
        return FilterRows(self.values[rows], self.norms[rows], self.slack[rows])

    def rounded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the slack and (norms - slack) / 2 in float32."""
        return (self.slack * (1 + 1e-6)).astype(np.float32), ((self.norms - self.slack) / 2).astype(
            np.float32
        )


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
    unit: the distance in the data that is 1 in the filter.
    """

    @classmethod
    def of(cls, X: np.ndarray) -> "DistanceFilter":
        """Return the filter for training rows X (m, d), scaled such that the longest row has length at most
        1.

        It excludes no row where the bound would not hold: equal rows, squares outside the range of float64,
        too many features for float32 sums.
        """
        features = X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            centre = X.mean(axis=0)
        if np.all(np.abs(centre) < 2.0**40) and are_integers(X):
            exact = cls(X, np.rint(centre), exact=True)
            if exact.rows.norms.max() <= _EXACT_NORM:
                return exact
        with np.errstate(over="ignore", invalid="ignore"):
            deviation = np.abs(X - centre).max(initial=0.0)
        if features > MOST_FEATURES or not 1e-100 < deviation < 1e130:
            return cls(X, np.zeros(features), 0.0)
        return cls(X, centre, 2.0 ** -np.ceil(np.log2(deviation * np.sqrt(features))))

    def __init__(self, X: np.ndarray, centre: np.ndarray, scale: float = 1.0, exact: bool = False):
        """X: (m, d), with lengths of about 1 at most after ``scale``, or scale 0. exact: integers with exact
        products."""
        self._centre, self._scale, self._exact = centre, scale, exact
        terms = (min(X.shape[1], MOST_FEATURES) + 32) * _UNIT_ROUNDOFF
        self._share = terms / (1 - terms)
        self._floor = X.shape[1] * 2.0**-120 if scale and X.shape[1] <= MOST_FEATURES else np.inf
        self.unit = 1.0 / scale if scale else 1.0
        values, norms = self._centred(X)
        slack = np.zeros(len(X)) if exact else norms * self._share + self._floor
        self.rows = FilterRows(values, norms, slack)
        self.low = ((norms - slack) / 2).astype(np.float32)
        self.high = ((norms + slack) / 2).astype(np.float32)

    def _centred(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return z (n, d) and the squared lengths |z|^2 (n,), added in float64."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = X - self._centre
            values *= self._scale
            rounded = values.astype(np.float32)
            return rounded, np.einsum("ij,ij->i", rounded, rounded, dtype=np.float64)

    def query(self, T: np.ndarray) -> FilterRows:
        """Return new rows T (r, d) in the form that the filter compares."""
        values, norms = self._centred(T)
        slack = norms * self._share + self._floor
        if self._exact:
            longest = min(4 * self.rows.norms.max(), _EXACT_NORM)
            exact = (T == np.rint(T)).all(axis=1) & (norms <= longest)
            # One row that is not exact makes all its products inexact: it carries both shares of the error.
            slack = np.where(exact, 0.0, slack + longest * self._share)
        far = ~(norms < _HUGE_NORM)
        values[far], norms[far], slack[far] = 0.0, 0.0, np.inf
        return FilterRows(values, norms, slack)

    def products(self, rows: FilterRows, space: np.ndarray) -> np.ndarray:
        """Return products (b, m) of rows and the training rows, which increase as the distance decreases.

        The result is a view of ``space``, a flat array of float32.
        """
        shape = len(rows.values), len(self.low)
        tile = space[: shape[0] * shape[1]].reshape(shape)
        return np.matmul(rows.values, self.rows.values.T, out=tile)


def are_integers(values: np.ndarray) -> bool:
    """Return whether all values are integers; the first values show most that are not."""
    first = values.reshape(-1)[:256]
    return bool(np.array_equal(first, np.rint(first)) and np.array_equal(values, np.rint(values)))
