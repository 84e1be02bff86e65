"""`VersionSpace`: the kernel perceptrons that make no training error, in coordinates of the kernel's range.

The vectors phi(x_i), or (phi(x_i), sqrt(lambda) e_i) of the soft version, span a space of as many dimensions
as their Gram matrix K = U Lambda U^T has eigenvalues above rounding. In it they have the coordinates
K U Lambda^-1/2 = U Lambda^1/2; coefficients of the vectors themselves would grow without bound where K is
singular.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

from confml.errors import ConfmlError
from confml.methods.version_space._kernels_gram import products

# Eigenvalues below this share of the largest one are rounding errors of K.
_RANK_SHARE = 1e-13
# The start must be this far from every wall (as the sine of an angle); 1e-10 is a few hundred times rounding.
_LEAST_MARGIN = 1e-10
# From this number of walls on, a point with equal distances to all of them will do as a start, if it is this
# far from them: it comes with the coordinates, and the hard margin takes seconds.
_MANY_WALLS, _AMPLE_MARGIN = 1000, 1e-4
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
    and squared (n,) their products and squared lengths; start (r,) a point well inside, of length 1: the
    hard-margin machine's, of more than 1000 walls one with equal distances to all if it is far enough inside;
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
        lengths = np.sqrt(squared)
        start, margin = None, 0.0
        if len(walls) > _MANY_WALLS:
            start, margin = _unit(space.basis.T @ (targets * lengths), walls, lengths, _AMPLE_MARGIN)
        if start is None:
            start, margin = _inside(walls / lengths[:, None])
        if start is None:
            return None
        gram = targets[:, None] * space.gram * targets
        return cls(space, targets, walls, np.ascontiguousarray(walls.T), gram, squared, start, margin)


def _inside(walls: np.ndarray) -> tuple[np.ndarray | None, float]:
    """The point of the unit sphere whose least distance to the walls (n, r), of length 1, is largest.

    It is the hard-margin support vector machine without bias. Where that is not found, a point with equal
    distances serves, if there is one.
    """
    ones = np.ones(len(walls))
    weights = least_norm_weights(walls)
    start, margin = (None, 0.0) if weights is None else _unit(weights @ walls, walls, ones, _LEAST_MARGIN)
    if start is None:
        start, margin = _unit(np.linalg.lstsq(walls, ones, rcond=None)[0], walls, ones, _LEAST_MARGIN)
    return start, margin


def _unit(
    point: np.ndarray, walls: np.ndarray, lengths: np.ndarray, least: float
) -> tuple[np.ndarray | None, float]:
    """A point (r,) at length 1, and its least distance to walls (n, r) of lengths (n,); None if too near."""
    length = np.linalg.norm(point)
    if not length > 0:
        return None, 0.0
    point = point / length
    margin = float((walls @ point / lengths).min())
    return (point, margin) if margin > least else (None, 0.0)


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


def state_memory(rows: Sequence[int], working: int, kept: int, flight: float = 0.0) -> None:
    """Say how much memory a fit takes, where it is much, before it is taken.

    rows: training rows of each machine; working, kept: matrices of the largest machine's size that are there
    at once while it is fitted, and that each further machine keeps of its own; flight: bytes that one flight
    takes. Raises ConfmlError where more is needed than is free.
    """
    largest, squares = max(rows), [float(n) ** 2 for n in rows]
    matrices = 8.0 * ((working - kept) * max(squares) + kept * sum(squares))
    flights = flight * len(rows)
    if matrices + flights < _WORTH_SAYING:
        return
    if matrices > flights:
        what, of = f"{largest} training rows", f"{_gigabytes(matrices)} for kernel matrices"
        cure = (
            "train on fewer rows (a smaller training part), on a machine with more memory, or with "
            "multiclass: ovo where there are many classes"
        )
    else:
        what, of = "so many bounces", f"{_gigabytes(flights)} to write the flight down"
        cure = "lower n_bounces"
    free = _free_memory()
    if matrices + flights > free:
        raise ConfmlError(f"{what} need about {of}, and {_gigabytes(free)} are free", hint=cure)
    warnings.warn(f"{what} need about {of}", UserWarning, stacklevel=3)


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


def _free_memory() -> float:
    """Bytes that could be had, infinity where that cannot be told."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():  # page caches give way to programs
            if line.startswith("MemAvailable:"):
                return 1024.0 * float(line.split()[1])
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
