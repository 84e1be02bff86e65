"""`VersionSpace`: the kernel perceptrons without training error, in coordinates of the kernel's range.

The vectors phi(x_i), or (phi(x_i), sqrt(ridge) e_i) with a ridge, span a space whose dimension is the rank of
their Gram matrix K = L L^T. In this space their coordinates are the rows of L, the pivoted Cholesky factor.
Coefficients of the vectors themselves would be unbounded if K is singular.

Walls and start of a trajectory do not depend on the processor: products, factors and the non-negative least
squares have a fixed order of summation.
"""

from dataclasses import dataclass

import numpy as np

from confml.methods.version_space._kernels_cholesky import (
    inverse_of_lower,
    pivoted_cholesky,
    smallest_quadratic,
)
from confml.methods.version_space._kernels_gram import products
from confml.neighbours.checks import check_width

# Remaining diagonal elements below this fraction of the largest one are rounding errors of K.
_RANK_SHARE = 1e-13
# Largest violation of the optimality conditions of the hard margin, whose scale is 1.
_OPTIMAL = 1e-8
# Smallest distance of the start to a wall, as the sine of an angle: a few hundred times the rounding error.
_LEAST_MARGIN = 1e-10
# With more walls than this, the start is a point with equal distances to all walls if they are at least this
# large: it costs one product, while the hard margin takes seconds.
_MANY_WALLS, _AMPLE_MARGIN = 1000, 1e-4


@dataclass(frozen=True, eq=False)
class RangeSpace:
    """Coordinates of training points X (n, d) in the range of one kernel matrix.

    basis (n, r): k(x, X) @ basis are the coordinates of an example x. points (n, r): coordinates of the
    training points, with the ridge. gram (n, n): K + ridge I.
    """

    basis: np.ndarray
    points: np.ndarray
    gram: np.ndarray

    @property
    def rank(self) -> int:
        return self.basis.shape[1]

    @classmethod
    def of(cls, gram: np.ndarray, ridge: float) -> "RangeSpace":
        """Return the range of K (n, n) with ``ridge`` added to its diagonal."""
        gram = gram.copy()
        gram[np.diag_indices_from(gram)] += ridge
        tolerance = max(gram.diagonal().max(), 0.0) * _RANK_SHARE * max(1.0, len(gram) / 100)
        points, pivots = pivoted_cholesky(gram, tolerance)
        basis = np.zeros_like(points)
        basis[pivots] = inverse_of_lower(points[pivots]).T
        return cls(basis, points, gram)

    def coordinates(self, kernel_block: np.ndarray) -> np.ndarray:
        """Return the coordinates (r, m) of m examples x from k(x_i, x) (n, m), independent of each other."""
        check_width(kernel_block.T, len(self.basis))
        return products(np.ascontiguousarray(self.basis.T), np.ascontiguousarray(kernel_block))


@dataclass(frozen=True, eq=False)
class VersionSpace:
    """Version space {w : |w| = 1, <w, a_j> > 0} of the walls a_j = y_j phi(x_j).

    targets (n,): y_j, +1. or -1. walls (n, r): a_j. walls_t (r, n): their transpose. gram (n, n), squared
    (n,): their products and squared lengths. start (r,): an interior point of length 1, the hard-margin
    solution; with more than 1000 walls, a point with equal distances to all walls if these are large enough.
    margin: smallest distance of the start to a wall, as a sine.
    """

    space: RangeSpace
    targets: np.ndarray
    walls: np.ndarray
    walls_t: np.ndarray
    gram: np.ndarray
    squared: np.ndarray
    start: np.ndarray
    margin: float

    @classmethod
    def of(cls, space: RangeSpace, targets: np.ndarray) -> "VersionSpace | None":
        """Return the version space of these targets; None if it is empty."""
        walls = targets[:, None] * space.points
        squared = np.diag(space.gram).copy()
        if (squared <= 0).any():
            return None  # phi(x) = 0 is on neither side of any perceptron
        lengths = np.sqrt(squared)
        start, margin = None, 0.0
        if len(walls) > _MANY_WALLS:
            equal = product(np.ascontiguousarray(space.basis.T), targets * lengths)
            start, margin = _unit(equal, walls, lengths, _AMPLE_MARGIN)
        if start is None:
            of_length_1 = walls / lengths[:, None]
            weights = least_norm_weights(of_length_1)
            if weights is not None:  # the hard-margin support vector machine without bias
                point = product(np.ascontiguousarray(of_length_1.T), weights)
                start, margin = _unit(point, of_length_1, np.ones(len(walls)), _LEAST_MARGIN)
        if start is None:
            return None
        gram = targets[:, None] * space.gram * targets
        return cls(space, targets, walls, np.ascontiguousarray(walls.T), gram, squared, start, margin)


def _unit(
    point: np.ndarray, walls: np.ndarray, lengths: np.ndarray, least: float
) -> tuple[np.ndarray | None, float]:
    """Return a point (r,) scaled to length 1 and its smallest distance to walls (n, r) of lengths (n,).

    The point is None if the distance is not larger than ``least``.
    """
    length = length_of(point)
    if not length > 0:
        return None, 0.0
    point = point / length
    margin = float((product(walls, point) / lengths).min())
    return (point, margin) if margin > least else (None, 0.0)


def least_norm_weights(walls: np.ndarray) -> np.ndarray | None:
    """Return weights (n,) >= 0 whose sum of walls has the direction of the smallest x with walls @ x >= 1.

    walls: (n, r). Computed by non-negative least squares (Lawson and Hanson, Solving Least Squares Problems,
    chapter 23). The caller checks that such an x exists. None if it does not converge.
    """
    gram = products(walls, np.ascontiguousarray(walls.T)) + 1.0
    weights, violation = smallest_quadratic(gram, 30 * len(walls))
    return weights if violation <= _OPTIMAL else None


def product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return matrix (n, r) @ vector (r,), summed in order."""
    return products(matrix, np.ascontiguousarray(vector)[:, None])[:, 0]


def length_of(point: np.ndarray) -> float:
    """Return the length of a vector, summed in order."""
    squares = np.ascontiguousarray(point)[None, :]
    return float(np.sqrt(products(squares, np.ascontiguousarray(squares.T))[0, 0]))
