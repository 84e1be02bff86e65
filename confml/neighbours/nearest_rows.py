"""`NearestRows`: the K nearest training rows of test rows, exactly, with all that tie at place K."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confml.neighbours import _kernels as kernels

_LEAF_ROWS = 16
_TREE_ATTRIBUTES = 10  # with more attributes than this the boxes of a tree exclude too little
_BLOCK_BYTES = 8 << 20  # of rough products at a time: what stays in a processor's cache
_BLOCK_ROWS = 128  # fewer test rows than this waste the matrix product on fetching the training rows


@dataclass(frozen=True)
class Neighbours:
    """The K nearest training rows of n test rows.

    distances: (n, K) in ascending order. codes: (n, K) their class codes; which of several rows at one
    distance comes first has no meaning. beyond: (n, c) rows of each class at the K-th distance that found no
    place among the K.
    """

    distances: np.ndarray
    codes: np.ndarray
    beyond: np.ndarray

    def vote(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Vote shares (n, c) and winning class codes (n,) of the k <= K nearest; of all K where k > K."""
        shares = np.empty(self.beyond.shape)
        winners = np.empty(len(shares), dtype=np.int64)
        kernels.vote(k, self.distances, self.codes, self.beyond, shares, winners)
        return shares, winners


class NearestRows:
    """A training set made ready for exact nearest-neighbour search.

    X: (m, d) float64, finite, m >= 1. codes: (m,) class codes below ``classes``. Distances are Euclidean: the
    root of squared differences added in attribute order, in float64, so that equal distances are equal
    numbers; the same test row gets the same answer whatever stands beside it.

    Few attributes: a k-d tree. Many: a float32 matrix product with an error bound excludes nearly all rows,
    and the rest are computed as said above.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int):
        self.X, self.codes, self.classes = X, codes, classes
        self._tree = None
        self._filter = _ProductFilter.of(X) if X.shape[1] > _TREE_ATTRIBUTES else None
        if self._filter is None:
            self._tree = _Tree.of(X)
            self.X, self.codes = X[self._tree.order], codes[self._tree.order]

    def query(self, rows: np.ndarray, k: int) -> Neighbours:
        """The min(k, m) nearest training rows of each of ``rows`` (n, d), float64 in C order."""
        n, places = len(rows), min(k, len(self.X))
        found = Neighbours(
            np.empty((n, places)),
            np.empty((n, places), dtype=np.int64),
            np.zeros((n, self.classes), dtype=np.int64),
        )
        out = found.distances, found.codes, found.beyond
        if self._tree is not None:
            kernels.search_tree(rows, self.X, self.codes, *self._tree.boxes, *out)
        else:
            self._filter.search(rows, self.X, self.codes, out)
        return found


@dataclass(frozen=True)
class _Tree:
    """A complete k-d tree: node i has children 2i + 1 and 2i + 2, every leaf lies on the last level.

    order: (m,) the rows, those of a node side by side. bounds: (nodes, 2) where they begin and end. lows,
    highs: (nodes, d) the smallest box around them.
    """

    order: np.ndarray
    bounds: np.ndarray
    lows: np.ndarray
    highs: np.ndarray

    @property
    def boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.bounds, self.lows, self.highs

    @classmethod
    def of(cls, X: np.ndarray) -> _Tree:
        m, d = X.shape
        levels = 0
        while m >> levels > _LEAF_ROWS:
            levels += 1
        nodes = 2 ** (levels + 1) - 1
        order = np.arange(m)
        bounds = np.empty((nodes, 2), dtype=np.int64)
        bounds[0] = 0, m
        lows, highs = np.empty((nodes, d)), np.empty((nodes, d))
        for node in range(nodes):
            start, end = bounds[node]
            own = X[order[start:end]]
            lows[node], highs[node] = own.min(axis=0), own.max(axis=0)
            if 2 * node + 2 < nodes:
                # Halves it across the box's longest side (half of it, lest the difference overflow).
                longest = np.argmax(highs[node] / 2 - lows[node] / 2)
                half = (end - start) // 2
                order[start:end] = order[start:end][np.argpartition(own[:, longest], half)]
                bounds[2 * node + 1] = start, start + half
                bounds[2 * node + 2] = start + half, end
        return cls(order, bounds, lows, highs)


@dataclass(frozen=True)
class _ProductFilter:
    """Training rows shifted to their mean, scaled by a power of two and rounded to float32, for products.

    shift: (d,). scale: a power of two that brings the largest number near 1. rows: (m, d) float32. norms:
    (m,) squared lengths of these rows. error, slack, exact: see `kernels.search_products`.

    With u = 2^-24, rounding the rows moves a squared distance by at most 4 u (|a|^2 + |b|^2), and a product
    of d terms, summed in any order, is off by at most d u / (1 - d u) |a| |b| (Higham, Accuracy and Stability
    of Numerical Algorithms, 2002, eq. 3.5), where 2 |a| |b| <= |a|^2 + |b|^2.
    """

    shift: np.ndarray
    scale: float
    rows: np.ndarray
    norms: np.ndarray
    error: float
    slack: float
    exact: float

    @classmethod
    def of(cls, X: np.ndarray) -> _ProductFilter | None:
        """None where the bounds would not hold: numbers so large or small that squares leave float64."""
        d = X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            shift = X.mean(axis=0)
            largest = np.abs(X - shift).max()
        if not 1e-140 < largest < 1e140 or d > 100_000:
            return None
        scale = 2.0 ** -np.ceil(np.log2(largest))
        rows, norms = _rounded(X, shift, scale)
        return cls(
            shift,
            scale,
            rows,
            norms,
            error=1.02 * (d + 8) * 2.0**-24,
            slack=(d + 8) * 2.0**-120,  # what is smaller than float32 can hold
            exact=(d + 8) * 2.0**-51,
        )

    def search(
        self, tests: np.ndarray, X: np.ndarray, codes: np.ndarray, out: tuple[np.ndarray, ...]
    ) -> None:
        """Fill ``out`` (distances, codes, beyond) for the test rows."""
        block = max(_BLOCK_ROWS, _BLOCK_BYTES // (4 * len(X)))
        for start in range(0, len(tests), block):
            part = slice(start, start + block)
            rows, norms = _rounded(tests[part], self.shift, self.scale)
            with np.errstate(over="ignore", invalid="ignore"):
                products = rows @ self.rows.T
            kernels.search_products(
                tests[part],
                X,
                codes,
                products,
                norms,
                self.norms,
                self.error,
                self.slack,
                self.exact,
                *(array[part] for array in out),
            )


def _rounded(X: np.ndarray, shift: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Shifted and scaled rows (n, d) float32 and their squared lengths (n,) in float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        rows = ((X - shift) * scale).astype(np.float32)
        exact = rows.astype(np.float64)
        return rows, np.einsum("ij,ij->i", exact, exact)
