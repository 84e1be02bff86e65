"""`VersionSpace`: the kernel perceptrons that make no training error, in coordinates of the kernel's range.

The vectors phi(x_i), or (phi(x_i), sqrt(lambda) e_i) of the soft version, span a space of as many dimensions
as their Gram matrix K = U Lambda U^T has eigenvalues above rounding. In it they have the coordinates
K U Lambda^-1/2 = U Lambda^1/2; coefficients of the vectors themselves would grow without bound where K is
singular.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

from confml.errors import ConfmlError
from confml.methods._kernels_gram import products

# Eigenvalues below this share of the largest one are rounding errors of K.
_RANK_SHARE = 1e-13
# The start must be this far from every wall (as the sine of an angle); 1e-10 is a few hundred times rounding.
_LEAST_MARGIN = 1e-10
# Say how much memory is needed from this number of bytes on.
_WORTH_SAYING = 1e9


@dataclass(frozen=True, eq=False)
class RangeSpace:
    """Coordinates of training points X (n, d) of one kernel matrix.

    basis (n, r): k(x, X) @ basis are the coordinates of any x. points (n, r): those of the training points,
    with lambda. gram (n, n): K + lambda I.
    """

    basis: np.ndarray
    points: np.ndarray
    gram: np.ndarray

    @property
    def rank(self) -> int:
        return self.basis.shape[1]

    @classmethod
    def of(cls, gram: np.ndarray, lam: float) -> RangeSpace:
        """The range of K (n, n) with ``lam`` added to its diagonal."""
        gram = gram.copy()
        gram[np.diag_indices_from(gram)] += lam
        values, vectors = scipy.linalg.eigh(gram)
        kept = values > max(values[-1], 0.0) * _RANK_SHARE * max(1.0, len(gram) / 100)
        roots = np.sqrt(values[kept])
        vectors = vectors[:, kept]
        return cls(np.ascontiguousarray(vectors / roots), np.ascontiguousarray(vectors * roots), gram)

    def coordinates(self, kernel_block: np.ndarray) -> np.ndarray:
        """(r, m) coordinates of m examples x out of k(x_i, x) (n, m): each example's by itself."""
        return products(np.ascontiguousarray(self.basis.T), np.ascontiguousarray(kernel_block))

    def rows(self, rows: np.ndarray, lam: float) -> RangeSpace:
        """The range of some of the training points alone."""
        part = self.gram[np.ix_(rows, rows)]
        part[np.diag_indices_from(part)] -= lam
        return RangeSpace.of(part, lam)


@dataclass(frozen=True, eq=False)
class VersionSpace:
    """{w : |w| = 1, <w, a_j> > 0} of walls a_j = y_j phi(x_j).

    targets (n,) the y_j, +1. or -1.; walls (n, r) the a_j, walls_t (r, n) the same as columns; gram (n, n)
    and squared (n,) their products and squared lengths; start (r,) a point well inside, of length 1;
    margin: its least distance to a wall, as a sine.
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
    def of(cls, space: RangeSpace, targets: np.ndarray) -> VersionSpace | None:
        """The version space of these targets; None where there is none."""
        walls = targets[:, None] * space.points
        squared = np.diag(space.gram).copy()
        if (squared <= 0).any():
            return None  # phi(x) = 0 is on neither side
        scaled = walls / np.sqrt(squared)[:, None]
        start, margin = _inside(scaled)
        if start is None:
            return None
        gram = targets[:, None] * space.gram * targets
        return cls(space, targets, walls, np.ascontiguousarray(walls.T), gram, squared, start, margin)


def _inside(walls: np.ndarray) -> tuple[np.ndarray | None, float]:
    """The point of the unit sphere whose least distance to the walls (n, r), of length 1, is largest.

    It is the hard-margin support vector machine without bias. Where that is not found, a point with equal
    distances serves, if there is one.
    """
    weights = least_norm_weights(walls)
    candidates = [] if weights is None else [weights @ walls]
    candidates.append(np.linalg.lstsq(walls, np.ones(len(walls)), rcond=None)[0])
    for point in candidates:
        length = np.linalg.norm(point)
        if not length > 0:
            continue
        point = point / length
        margin = float((walls @ point).min())
        if margin > _LEAST_MARGIN:
            return point, margin
    return None, 0.0


def least_norm_weights(walls: np.ndarray) -> np.ndarray | None:
    """(n,) weights >= 0 whose sum of walls (n, r) points to the least |x| with walls @ x >= 1.

    By non-negative least squares (Lawson and Hanson, Solving Least Squares Problems, chapter 23); nothing in
    them tells whether there is such an x. None where it does not converge.
    """
    n, r = walls.shape
    try:
        return nnls(np.vstack([walls.T, np.ones(n)]), np.append(np.zeros(r), 1.0), maxiter=30 * n)[0]
    except RuntimeError:
        return None


def state_memory(rows: int, machines: int) -> None:
    """Say how much memory a fit to so many training rows takes, where it is much, before it is taken.

    Raises ConfmlError where more is needed than is free.
    """
    needed = 8.0 * rows * rows * (5 + 2 * (machines - 1))
    if needed < _WORTH_SAYING:
        return
    text = f"{rows} training rows need about {needed / 1e9:.1f} GB for kernel matrices"
    try:
        free = float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        free = float("inf")
    if needed > free:
        raise ConfmlError(
            f"{text}, and {free / 1e9:.1f} GB are free",
            hint="train on fewer rows (a smaller training part), on a machine with more memory, or with "
            "multiclass: ovo where there are many classes",
        )
    warnings.warn(text, UserWarning, stacklevel=3)
