"""`NearestRows`: exact search for the K nearest training rows, with all ties at place K."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from confml.neighbours import _kernels as kernels
from confml.neighbours.checks import check_arrays, check_range, check_width
from confml.neighbours.distance_filter import DistanceFilter
from confml.neighbours.scaling import SafeScale
from confml.neighbours.votes import vote
from confml.neighbours.wide_tree import WideTree, leaves_in_order, tree_order, wide_tree

_TREE_FEATURES = 12  # with more features than this, the boxes of a tree exclude too few rows
_BLOCK_BYTES = 8 << 20  # products per block: they stay in the processor's cache
_BLOCK_ROWS = 128  # with fewer query rows per block, the product is slow for loading the training rows


@dataclass(frozen=True)
class Neighbours:
    """The K nearest training rows of n query rows.

    distances: (n, K) in ascending order, in units of ``unit``. codes: (n, K) their class codes; the order of
    rows at equal distances is arbitrary. beyond: (n, c) number of rows of each class at the K-th distance
    that are not among the K. unit: 1 for all data of usual size, see `SafeScale`; votes do not depend on it.
    """

    distances: np.ndarray
    codes: np.ndarray
    beyond: np.ndarray
    unit: float = 1.0

    @classmethod
    def empty(cls, rows: int, k: int, classes: int, unit: float = 1.0) -> "Neighbours":
        """Return arrays for a search to fill."""
        return cls(
            np.empty((rows, k)),
            np.empty((rows, k), dtype=np.int64),
            np.zeros((rows, classes), dtype=np.int64),
            unit,
        )

    def vote(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Vote shares (n, c) and winning class codes (n,) of the min(k, K) nearest rows."""
        shares = np.empty(self.beyond.shape)
        winners = np.empty(len(shares), dtype=np.int64)
        vote(k, self.distances, self.codes, self.beyond, shares, winners)
        return shares, winners


class NearestRows:
    """A training set prepared for exact nearest-neighbour search.

    X: (m, d) float64, finite, m >= 1. codes: (m,) class codes below ``classes``. Distances are Euclidean, see
    `confml.neighbours.distances`: equal distances are equal numbers, and the neighbours of a row do not
    depend on the other query rows.

    With few features, a k-d tree is searched. With many, a `DistanceFilter` excludes nearly all rows, and the
    distances of the others are computed exactly.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int):
        self._scale = SafeScale.of(X)
        self.X, self.codes, self.classes = self._scale.apply(X), codes, classes
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the search among the scaled rows."""
        self._tree: WideTree | None = None
        self._filter = DistanceFilter.of(self.X) if self.X.shape[1] > _TREE_FEATURES else None
        if self._filter is None:
            order = tree_order(self.X)
            self.X, self.codes = self.X[order], self.codes[order]
            self._tree = wide_tree(self.X, leaves_in_order(len(order)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("_scale", "X", "codes", "classes")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_rows(self)
        self._prepare()

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """Return the min(k, m) nearest training rows of each of ``rows`` (n, d), float64."""
        check_width(rows, self.X.shape[1])
        rows = self._scale.apply(rows)
        nearest = Neighbours.empty(len(rows), min(k, len(self.X)), self.classes, self._scale.unit)
        out = nearest.distances, nearest.codes, nearest.beyond
        if self._filter is None:
            kernels.search_tree(rows, self._tree, self.codes, *out)
        else:
            self._search_products(self._filter, rows, out)
        return nearest

    def _search_products(
        self, distance_filter: DistanceFilter, queries: np.ndarray, out: tuple[np.ndarray, ...]
    ) -> None:
        m = len(self.X)
        size = max(_BLOCK_ROWS, _BLOCK_BYTES // (4 * m))
        space = np.empty(min(size, len(queries)) * m, dtype=np.float32)
        for start in range(0, len(queries), size):
            part = slice(start, start + size)
            rows = distance_filter.query(queries[part])
            products, slack = distance_filter.products(rows, space), rows.rounded()[0]
            kernels.search_products(
                queries[part], self.X, self.codes, products, slack, distance_filter.low, distance_filter.high,
                *(array[part] for array in out),
            )  # fmt: skip


def check_rows(rows: Any) -> None:
    """Raise ValueError unless X (n, d), codes (n,) and classes of a model file are training rows."""
    sizes = check_arrays(vars(rows), X="f8 n d", codes="i8 n")
    if not sizes["n"] or not np.isfinite(rows.X).all():
        raise ValueError("there are no training rows, or they are not finite")
    check_range("codes", rows.codes, 0, rows.classes)
