"""`ClassTrees`: one k-d tree per class, or part of a class, for the searches of TCM-NN."""

from typing import NamedTuple

import numpy as np

from confml.methods.tcm_nn import _kernels_tree as kernels
from confml.neighbours.lanes import WIDE_FAN, WIDE_LEAF, aligned
from confml.neighbours.wide_tree import fill_nodes, sort_into_leaves

_SIZE = 20  # exponent of the largest coordinate in the trees: as many smaller ones fit as larger ones
_SAMPLED_ROWS = 4096  # for the centre, which a few far rows must not move
_SAMPLED_PAIRS = 256
_LARGE_ERROR = 2.0**-4  # of float32, as a share of the distance of two rows of one leaf


class TreeArrays(NamedTuple):
    """The trees as arguments of the kernels.

    X: (m, d) the rows, leaf by leaf. rows (leaves, d, WIDE_LEAF), lows, highs (groups, d, WIDE_FAN): rows and
    boxes on the scale of the trees; a missing row is +inf, a missing box from +inf to -inf. first: (leaves,)
    the first row of each leaf. child: (2, groups) the children of group g are nodes child[0, g] to
    child[1, g] - 1. roots: the root of each tree; starts: the first row of each tree, and m. scale, factor,
    floor: see `_kernels_tree`.
    """

    X: np.ndarray
    rows: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    first: np.ndarray
    child: np.ndarray
    roots: np.ndarray
    starts: np.ndarray
    scale: float
    factor: float
    floor: float


class ClassTrees:
    """One search tree per class over X (m, d), whose rows are sorted by class; starts: (c + 1,) the first row
    of each class. With ``order`` (m,), the rows X[order] are sorted by class.

    order: (m,) the rows leaf by leaf; X: these rows. count: (leaves,) the number of rows in each leaf. nodes:
    number of leaves and groups. arrays: see `TreeArrays`. dtype: number type of the trees, by default float32
    if it tells the rows apart.
    """

    def __init__(
        self,
        X: np.ndarray,
        starts: np.ndarray,
        dtype: type | None = None,
        order: np.ndarray | None = None,
    ):
        self.order = np.arange(len(X)) if order is None else order.copy()
        for begin, end in zip(starts[:-1], starts[1:], strict=True):
            sort_into_leaves(X, self.order[begin:end], WIDE_LEAF)
        self.X = X[self.order]
        first = np.concatenate(
            [np.arange(*ends, WIDE_LEAF) for ends in zip(starts[:-1], starts[1:], strict=True)]
        )
        ends = starts[np.searchsorted(starts, first, side="right")]
        self.count = np.minimum(ends - first, WIDE_LEAF)
        place = np.arange(WIDE_LEAF)
        members = np.where(place < self.count[:, None], first[:, None] + place, -1)
        child, roots, self.nodes = _groups(first, starts)
        self._centre = np.median(X[:: max(1, len(X) // _SAMPLED_ROWS)], axis=0)
        self._scale = _scale(X, self._centre)
        self.dtype = np.dtype(dtype or self._best_type())
        features = X.shape[1]
        rows = aligned((len(first), features, WIDE_LEAF), np.inf, self.dtype)
        lows = aligned((child.shape[1], features, WIDE_FAN), np.inf, self.dtype)
        highs = aligned(lows.shape, -np.inf, self.dtype)
        fill_nodes(self.rounded(self.X)[0], members, *child, rows, lows, highs)
        factor = 1.0 + 2.0 * (features + 32) * _unit_roundoff(self.dtype)
        self.arrays = TreeArrays(
            self.X, rows, lows, highs, first, child, roots, np.asarray(starts, np.int64), self._scale, factor,
            features * 2.0**-120,
        )  # fmt: skip

    def rounded(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows X (n, d) on the scale of the trees, in their number type, and the error of each."""
        return self._rounded(X, self.dtype)

    def _rounded(self, X: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        values, errors = np.empty(X.shape, dtype), np.empty(len(X))
        kernels.round_rows(X, self._centre, self._scale, _unit_roundoff(dtype), values, errors)
        return values, errors

    def _best_type(self) -> type:
        """Return float32, or float64 for groups of rows that are near compared with their distance from the
        centre: float32 would exclude none of such a group."""
        if len(self.X) < 2:
            return np.float32
        sample = np.unique(np.linspace(0, len(self.X) - 2, _SAMPLED_PAIRS).astype(np.int64))
        near = self._scale * np.sqrt(np.square(self.X[sample + 1] - self.X[sample]).sum(axis=1))
        errors = self._rounded(self.X[sample], np.dtype(np.float32))[1]
        large = errors > _LARGE_ERROR * near
        return np.float64 if np.sum(large & (near > 0)) > 0.5 * np.sum(near > 0) else np.float32


def _unit_roundoff(dtype: np.dtype) -> float:
    """Return the unit roundoff, twice that of float64 because rows are computed and stored in float64."""
    return 2.0**-24 if dtype == np.float32 else 2.0**-52


def _scale(X: np.ndarray, centre: np.ndarray) -> float:
    """Return the power of two that brings the largest deviation from the centre to about 2^_SIZE."""
    deviation = max(float(np.abs(X.max(axis=0) - centre).max()), float(np.abs(X.min(axis=0) - centre).max()))
    return 2.0 ** (_SIZE - np.frexp(deviation)[1]) if deviation > 0 else 1.0


def _groups(first: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the children of all groups, level by level, the roots of the trees and the number of nodes."""
    number = len(first)
    ends = np.append(np.searchsorted(first, starts[:-1]), number).tolist()
    level = list(zip(ends[:-1], ends[1:], strict=True))
    children: list[np.ndarray] = []
    while any(end - begin > 1 for begin, end in level) or not children:
        lowest = not children
        for z, (begin, end) in enumerate(level):
            if end - begin > 1 or lowest:
                child = np.arange(begin, end, WIDE_FAN)
                children.append(np.stack([child, np.minimum(child + WIDE_FAN, end)]))
                level[z] = number, number + len(child)
                number += len(child)
    return np.concatenate(children, axis=1), np.array([begin for begin, _ in level]), number
