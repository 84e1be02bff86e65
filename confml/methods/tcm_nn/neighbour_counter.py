"""`NeighbourCounter`: counts of TCM-NN from the neighbours of training examples and of new examples."""

import functools
from typing import Any

import numpy as np

from confml._threads import for_each
from confml.methods.tcm_nn import _kernels as kernels
from confml.methods.tcm_nn import _kernels_lists as lists_kernels
from confml.methods.tcm_nn import _kernels_tree as tree_kernels
from confml.methods.tcm_nn.base_counts import BaseCounts, Counts
from confml.methods.tcm_nn.block_sizes import BlockSizes
from confml.methods.tcm_nn.candidate_lists import (
    distances_of_lists,
    empty_lists,
    for_each_pair,
    parts,
    row_parts,
)
from confml.methods.tcm_nn.class_trees import ClassTrees
from confml.neighbours.checks import check_arrays, check_width
from confml.neighbours.distance_filter import DirectDistances, DistanceFilter
from confml.neighbours.lanes import WIDE_LEAF
from confml.neighbours.scaling import SafeScale
from confml.neighbours.wide_tree import tree_order

ENGINES = ("direct", "product", "tree")
_DIRECT_WORK = 1e6  # m^2 d below which direct differences are faster than a matrix product


class NeighbourCounter:
    """A training set prepared for TCM-NN.

    X: (m, d) float64 C-ordered. codes: (m,) classes 0 .. c - 1, each present. engine: one of `ENGINES`, by
    default chosen by the sizes: all give the numbers of the definition. Data whose squared distances leave
    the range of float64 are scaled (`SafeScale`), which changes no alpha. Memory: O(m (d + k)) and the
    blocks of `BlockSizes`.
    """

    def __init__(
        self, X: np.ndarray, codes: np.ndarray, engine: str | None = None, sizes: BlockSizes | None = None
    ):
        self.sizes = sizes or BlockSizes()
        self.engine = engine or fastest_engine(*X.shape)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        self.order = np.argsort(codes, kind="stable")
        self.scale = SafeScale.of(X)
        self.X, self.codes = self.scale.apply(X)[self.order], codes[self.order]
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the search in the rows X, sorted by class."""
        self._tree = None
        if self.engine == "tree":
            self._tree = ClassTrees(self.X, self.starts)
            self.X, self.order = self._tree.X, self.order[self._tree.order]  # codes stay sorted by class

    def __getstate__(self) -> dict[str, Any]:
        """Return the sorted training set, from which `__setstate__` prepares it again."""
        return {name: vars(self)[name] for name in ("X", "codes", "order", "scale", "engine")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_arrays(vars(self), X="f8 m d", codes="i8 m", order="i8 m")
        if not len(self.codes) or self.codes[0] != 0 or not np.isin(np.diff(self.codes), (0, 1)).all():
            raise ValueError("the training rows are not in the order of their classes")
        if self.engine not in ENGINES or not np.isfinite(self.X).all():
            raise ValueError("the engine is unknown, or the training rows are not finite")
        self.sizes = BlockSizes()
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.codes))])
        self._prepare()

    @functools.cached_property
    def _filter(self) -> DistanceFilter | DirectDistances:
        """The search without a tree."""
        distance_filter = DistanceFilter.of(self.X) if self.engine == "product" else None
        return distance_filter or DirectDistances(self.X)

    @property
    def classes(self) -> int:
        return len(self.starts) - 1

    # ---- the training set alone

    def lists(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances to the k nearest examples of the same and of other classes: two arrays (m, k).

        Ascending, +inf where there are fewer than k; in the units of `SafeScale`; rows in the order of X.
        """
        nearest = np.empty((len(self.X), 2, k))
        if self._tree:
            self._tree_lists(self._tree, nearest)
        else:
            self._dense_lists(k, nearest)
        same, other = np.empty((2, len(self.X), k))
        same[self.order], other[self.order] = nearest[:, 0], nearest[:, 1]
        return same, other

    def _tree_lists(self, trees: ClassTrees, nearest: np.ndarray) -> None:
        def search(rows: tuple[int, int], _: None) -> None:
            rounded = trees.rounded(self.X[slice(*rows)])
            tree_kernels.nearest_of_training(rows[0], *rounded, self.codes, trees.arrays, nearest)

        for_each(search, row_parts(len(self.X)))

    def _dense_lists(self, k: int, nearest: np.ndarray) -> None:
        abandoned = self._scan_pairs(self._filter, k, nearest)
        if len(abandoned) > len(self.X) // 4:  # too many duplicates or close rows for the bounds
            self._filter = DirectDistances(self.X)
            self._dense_lists(k, nearest)
        elif len(abandoned):
            self._compute_directly(abandoned, k, nearest)

    def _scan_pairs(self, distance_filter, k: int, nearest: np.ndarray) -> np.ndarray:
        """Fill the lists of training examples; return the rows for which the filter could not be used."""
        m, sizes = len(self.X), self.sizes
        slack = _rounded_up(distance_filter.rows.slack, distance_filter.dtype)
        lists = empty_lists(2, sizes.capacity(k, m), distance_filter.error, slack)
        limit = np.full((2, m), -np.inf, dtype=distance_filter.dtype)
        bounds = distance_filter.low, distance_filter.high
        blocks = parts(m, sizes.pair_block(m))

        def scan(pair: tuple[int, int], cells: np.ndarray) -> None:
            """Offer the pairs of two blocks to the lists of both."""
            (first, last), (left, right) = blocks[pair[0]], blocks[pair[1]]
            for row in range(first, last, sizes.rows):
                rows = distance_filter.rows.part(row, min(row + sizes.rows, last))
                for column in range(max(left, row), right, sizes.columns):
                    stop = min(column + sizes.columns, right)
                    tile = distance_filter.similarities(rows, column, stop, cells)
                    lists_kernels.scan_pairs(
                        tile, row, column, k, self.codes, self.starts, bounds, lists, limit
                    )

        for_each_pair(
            scan, len(blocks), lambda: np.empty(sizes.rows * sizes.columns, dtype=distance_filter.dtype)
        )
        return distances_of_lists(self.X, lists, nearest)

    def _compute_directly(self, rows: np.ndarray, k: int, nearest: np.ndarray) -> None:
        """Compute the lists of a few training examples by direct differences from all."""
        direct = DirectDistances(self.X)
        m = len(self.X)
        size = self.sizes.block_for(m)

        def compute(ends: tuple[int, int], cells: np.ndarray) -> None:
            part = rows[slice(*ends)]
            block = direct.query(self.X[part])
            lists = empty_lists(2, k + 1, direct.error, block.slack)
            found = np.empty((len(part), 2, k))
            similar, bounds = direct.similarities(block, 0, m, cells), (direct.low, direct.high)
            lists_kernels.scan_rows(similar, self.codes[part], part, k, self.starts, bounds, lists)
            lists_kernels.compute_distances(block.values, self.X, lists, found)
            nearest[part] = found

        for_each(compute, parts(len(rows), size), space=lambda: np.empty(min(size, len(rows)) * m))

    # ---- new examples

    def counts(
        self,
        same: np.ndarray,
        other: np.ndarray,
        T: np.ndarray,
        ks,
        label_conditional: bool = False,
        weights: np.ndarray | None = None,
    ) -> Counts:
        """Return the counts for new examples T (r, d), each added alone to the training set.

        same, other: the result of `lists`. ks: ascending values of k. label_conditional: count only examples
        of the label in question (Mondrian p-values). weights (m,): whole numbers; the counts are then sums of
        weights. By default each example has weight 1, as a new example always has. Raises ValueError for ks
        that do not ascend or exceed the lists.
        """
        check_width(T, self.X.shape[1])
        ks = np.asarray(ks, dtype=np.int64)
        if not (
            len(ks) and ks[0] >= 1 and np.all(np.diff(ks) > 0) and ks[-1] <= same.shape[1] == other.shape[1]
        ):
            raise ValueError(
                f"ks must ascend from 1 to at most {same.shape[1]}, the length of the lists, got {ks}"
            )
        T = self.scale.apply(T)
        if weights is None:
            weights = np.ones(len(self.X), dtype=np.int64)
            totals = np.arange(len(self.X) + 1)[None]
        else:
            weights, totals = np.asarray(weights, dtype=np.int64)[self.order], None
        rows = np.asarray(same)[self.order], np.asarray(other)[self.order]
        base = BaseCounts(self.X, *rows, self.starts, ks, label_conditional, weights, totals)
        shape = len(T), self.classes, len(ks)
        counts = Counts(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape))
        if self._tree:
            self._tree_counts(self._tree, base, T, counts)
        else:
            left = self._dense_counts(self._filter, base, T, counts)
            if len(left):
                again = Counts(*(array[left] for array in counts))
                self._dense_counts(DirectDistances(self.X), base, T[left], again)
                for array, values in zip(counts, again, strict=True):
                    array[left] = values
        np.add(counts.equal, 1, out=counts.equal)
        return counts

    def _dense_counts(self, distance_filter, base: BaseCounts, T: np.ndarray, counts: Counts) -> np.ndarray:
        """Fill the counts; return the rows of T for which the filter could not be used."""
        m, k = len(self.X), int(base.examples.ks[-1])
        bounds = distance_filter.low, distance_filter.high
        capacity = self.sizes.capacity(k, m)
        size = min(self.sizes.block_for(m + 2 * self.classes * capacity), max(len(T), 1))
        radius = np.empty((2, m))
        kernels.influence_radius(base.examples.bounds, base.examples.others, radius)
        limits = distance_filter.similarity_limits(radius)
        abandoned: dict[int, np.ndarray] = {}

        def count_block(ends: tuple[int, int], space: tuple[np.ndarray, np.ndarray]) -> None:
            start, stop = ends
            cells, nearest = space
            Q = np.array(T[start:stop])  # kernels are compiled for arrays that can be written
            rows = distance_filter.query(Q)
            slack = _rounded_up(rows.slack, distance_filter.dtype)
            block = distance_filter.similarities(rows, 0, m, cells)
            lists = empty_lists(self.classes, capacity, distance_filter.error, slack)
            lists.filled[~rows.usable] = -1
            nobody = np.full(len(Q), -1)
            lists_kernels.scan_rows(block, nobody, nobody, k, self.starts, bounds, lists)
            found = nearest[: len(Q)]
            lists_kernels.compute_distances(Q, self.X, lists, found)
            usable = np.all(lists.filled >= 0, axis=1)
            found[~usable] = np.inf
            abandoned[start] = start + np.flatnonzero(~usable)
            new = base.begin(Q, found, counts, start)
            similar = kernels.Similarities(
                block, rows.norms, rows.slack, usable, distance_filter.factor, distance_filter.unit, bounds[0]
            )
            kernels.update_counts_by_scan(similar, limits, self.starts, base.examples, new)

        for_each(
            count_block,
            parts(len(T), size),
            space=lambda: (
                np.empty(size * m, dtype=distance_filter.dtype),
                np.empty((size, self.classes, k)),
            ),
        )
        if not abandoned:
            return np.empty(0, np.int64)
        return np.concatenate([abandoned[start] for start in sorted(abandoned)])

    def _tree_counts(self, search: ClassTrees, base: BaseCounts, T: np.ndarray, counts: Counts) -> None:
        """Fill the counts. search: the trees in which the neighbours of new examples are searched."""
        examples = base.examples
        k = int(examples.ks[-1])
        order, starts, owner = _by_search_radius(examples.same[:, k - 1], self.starts)
        trees = ClassTrees(self.X, starts, order=order)
        names = ("same", "other", "bounds", "weights")
        examples = examples._replace(
            X=trees.X, **{name: getattr(examples, name)[trees.order] for name in names}
        )
        nodes = np.empty((trees.nodes, 5, len(examples.ks)))
        kernels.node_bounds(examples.bounds, trees.arrays.first, trees.count, trees.arrays.child, nodes)
        size = self.sizes.block_for(self.classes * k)

        T = np.array(T)  # kernels are compiled for arrays that can be written
        sorted_rows = tree_order(T)  # near ones visit the same boxes, which are then in the cache

        def count_block(ends: tuple[int, int], _: None) -> None:
            own = sorted_rows[slice(*ends)]
            Q = T[own]
            found = Counts(*(np.empty_like(array[: len(Q)]) for array in counts))
            nearest = np.empty((len(Q), self.classes, k))
            tree_kernels.nearest_of_classes(Q, *search.rounded(Q), search.arrays, nearest)
            new = base.begin(Q, nearest, found, 0)
            kernels.update_counts_by_trees(*trees.rounded(Q), owner, trees.arrays, nodes, examples, new)
            for array, values in zip(counts, found, strict=True):
                array[own] = values

        for_each(count_block, parts(len(T), size))


def _by_search_radius(radius: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order examples within each class by search radius (m,), and split classes where it becomes large.

    Returns (order (m,), starts of the parts and the end, class of each part). An example far from its class
    has a large search radius and would extend the bounds of every node above it; these few have trees of
    their own.
    """
    order = np.lexsort([radius, np.repeat(np.arange(len(starts) - 1), np.diff(starts))])
    parts, owner = [], []
    for z, (first, last) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        cuts = np.unique(first + (np.array([0.0, 0.5, 0.9, 0.98]) * (last - first)).astype(np.int64))
        cuts = cuts if last - first >= 10 * WIDE_LEAF else cuts[:1]
        parts.append(cuts)
        owner += [z] * len(cuts)
    return order, np.append(np.concatenate(parts), starts[-1]), np.array(owner)


def fastest_engine(m: int, d: int) -> str:
    """Choose trees if boxes exclude nearly all examples; more features need more examples."""
    if m >= 1000 * 1.5 ** min(d, 100):
        return "tree"
    return "direct" if float(m) * m * d < _DIRECT_WORK else "product"


def _rounded_up(values: np.ndarray, dtype) -> np.ndarray:
    return values if dtype == values.dtype else (values * (1 + 1e-6)).astype(dtype)
