"""`NeighbourCounter`: counts of TCM-NN from the neighbours of training examples and of new examples."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from confml._threads import for_each
from confml.methods.tcm_nn import _kernels as kernels
from confml.methods.tcm_nn import _kernels_tree as tree_kernels
from confml.neighbours.checks import check_arrays, check_range, check_width
from confml.neighbours.distance_filter import DistanceFilter, FilterRows
from confml.neighbours.scaling import SafeScale
from confml.neighbours.wide_tree import leaves_in_order, tree_order, wide_tree

ENGINES = ("filter", "tree")
_BLOCK = 256  # rows that are compared with all training examples at once, fewer for more than _CELLS products
_CELLS = 2**24
_TREE_ROWS = 2048


class Counts(NamedTuple):
    """For r new examples under each of c labels and for each of q values of k, arrays of shape (r, c, q).

    greater, equal: number of examples whose alpha exceeds, and equals, the alpha of the new example, which is
    itself among the equal ones. alpha: strangeness of the new example.
    """

    greater: np.ndarray
    equal: np.ndarray
    alpha: np.ndarray

    @classmethod
    def of_new_alone(cls, rows: int, classes: int, ks: int) -> "Counts":
        """Return counts of the new examples alone, and alphas to be filled."""
        shape = rows, classes, ks
        return cls(np.zeros(shape, np.int64), np.ones(shape, np.int64), np.empty(shape))


class NeighbourCounter:
    """A training set prepared for TCM-NN.

    X: (m, d) float64 C-ordered. codes: (m,) classes 0 .. c - 1, each present. engine: one of `ENGINES`, by
    default chosen by the sizes: both give the numbers of the definition. block: rows per block of products.
    Data whose squared distances leave the range of float64 are scaled (`SafeScale`), which changes no alpha.
    Memory: O(m (d + k)) and one block per thread.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, engine: str | None = None, block: int = _BLOCK):
        self.scale = SafeScale.of(X)
        # Trees if boxes exclude nearly all examples; more features need more examples.
        fastest = "tree" if len(X) >= 1000 * 1.5 ** min(X.shape[1], 100) else "filter"
        self.engine, self.block = engine or fastest, block
        X, self.order = self.scale.apply(X), np.argsort(codes, kind="stable")
        if self.engine == "tree":
            for rows in np.split(self.order, np.cumsum(np.bincount(codes))[:-1]):
                rows[:] = rows[tree_order(X[rows])]
        self.X, self.codes = X[self.order], np.asarray(codes, dtype=np.int64)[self.order]
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the search in the rows X, sorted by class, and in the order of the trees."""
        self.sizes = np.bincount(self.codes)
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._members = [slice(*ends) for ends in itertools.pairwise(self._starts.tolist())]  # of each class
        if self.engine == "filter":
            self._filter = DistanceFilter.of(self.X)
        else:
            self._trees = [
                wide_tree(self.X[rows], leaves_in_order(len(self.X[rows]))) for rows in self._members
            ]

    def __getstate__(self) -> dict[str, Any]:
        """Return the sorted training set, from which `__setstate__` prepares it again."""
        return {name: vars(self)[name] for name in ("X", "codes", "order", "scale", "engine")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        check_arrays(vars(self), X="f8 m d", codes="i8 m", order="i8 m")
        if not len(self.codes) or self.codes[0] != 0 or not np.isin(np.diff(self.codes), (0, 1)).all():
            raise ValueError("the training rows are not in the order of their classes")
        check_range("order", self.order, 0, len(self.codes))
        if self.engine not in ENGINES or not np.isfinite(self.X).all():
            raise ValueError("the engine is unknown, or the training rows are not finite")
        self.block = _BLOCK
        self._prepare()

    # ---- the training set alone

    def lists(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances to the k nearest examples of the same and of other classes: two arrays (m, k).

        Ascending, +inf where there are fewer than k; in the units of `SafeScale`.
        """
        nearest = np.full((len(self.X), 2, k), np.inf)
        if self.engine == "tree":
            for label, rows in enumerate(self._members):
                self._search_trees(label, nearest[rows])
        else:

            def search(rows: slice, space: np.ndarray) -> None:
                near = self._bounds(self._filter.rows.part(rows), space)
                kernels.training_lists(near, rows.start, self.X, self.codes, self._starts, nearest)

            for_each(search, self._blocks(len(self.X)), self._space)
        lists = np.empty((2, len(self.X), k))
        lists[:, self.order] = nearest.transpose(1, 0, 2)
        return lists[0], lists[1]

    def _search_trees(self, label: int, nearest: np.ndarray) -> None:
        """Fill nearest (m_j, 2, k) for the examples of a class."""

        def search(part: slice, _: None) -> None:
            Q = self._trees[label].X[part]
            squares = np.full((2, len(Q), nearest.shape[2]), np.inf)
            for z, tree in enumerate(self._trees):
                first = part.start if z == label else -len(Q)
                tree_kernels.search_tree(Q, tree, first, squares[int(z != label)])
            nearest[part] = np.sqrt(squares).transpose(1, 0, 2)

        for_each(search, parts(len(nearest), _TREE_ROWS))

    # ---- new examples

    def counts(
        self,
        same: np.ndarray,
        other: np.ndarray,
        T: np.ndarray,
        ks,
        label_conditional: bool = False,
        counted: np.ndarray | None = None,
    ) -> Counts:
        """Return the counts for new examples T (r, d), each added alone to the training set.

        same, other: the result of `lists`. ks: ascending values of k. label_conditional: count only examples
        of the label in question (Mondrian p-values). counted (m,): bool, the examples that count; by default
        all of them do. Raises ValueError for ks that do not ascend or exceed the lists.
        """
        check_width(T, self.X.shape[1])
        ks = np.asarray(ks, dtype=np.int64)
        if not (
            len(ks) and ks[0] >= 1 and np.all(np.diff(ks) > 0) and ks[-1] <= same.shape[1] == other.shape[1]
        ):
            raise ValueError(
                f"ks must ascend from 1 to at most {same.shape[1]}, the length of the lists, got {ks}"
            )
        T, classes = self.scale.apply(T), len(self.sizes)
        counted = np.ones(len(self.X), dtype=bool) if counted is None else counted[self.order]
        same, other = (np.ascontiguousarray(lists[self.order, : ks[-1]]) for lists in (same, other))
        bounds = np.empty((len(self.X), 5, len(ks)))
        kernels.fill_all_bounds(same, other, ks, bounds)
        others = not label_conditional and classes > 1
        examples = kernels.Examples(
            self.X, self.codes, self._starts, same, other, bounds, counted, ks, others
        )
        counts = Counts.of_new_alone(len(T), classes, len(ks))
        lowest = np.empty(counts.alpha.shape)
        count = self._count_in_trees if self.engine == "tree" else self._count_with_filter
        count(examples, T, counts, lowest)
        everyone = [slice(None)] * classes
        for j, rows in enumerate(self._members if label_conditional else everyone):
            for q, base in enumerate(np.sort(bounds[rows, kernels.ALPHA][counted[rows]], axis=0).T):
                above = np.searchsorted(base, counts.alpha[:, j, q], side="right")
                counts.greater[:, j, q] += len(base) - above
                counts.equal[:, j, q] += above - np.searchsorted(base, counts.alpha[:, j, q])
        return counts

    def _count_with_filter(
        self, examples: kernels.Examples, T: np.ndarray, counts: Counts, lowest: np.ndarray
    ) -> None:
        """Fill the alphas, and add what new examples change in the counts of the base alphas."""
        limits = np.empty(len(self.X), np.float32)
        kernels.fill_limits(self._filter.low, self._filter.unit, examples, examples.others, limits)

        def count(rows: slice, space: np.ndarray) -> None:
            Q = np.array(T[rows])  # kernels are compiled for arrays that can be written
            new = kernels.NewExamples(Q, *(array[rows] for array in (*counts, lowest)))
            kernels.count_block(self._bounds(self._filter.query(Q), space), limits, examples, new)

        for_each(count, self._blocks(len(T)), self._space)

    def _count_in_trees(
        self, examples: kernels.Examples, T: np.ndarray, counts: Counts, lowest: np.ndarray
    ) -> None:
        """Do the same with the trees."""
        of_trees = []
        for rows, tree in zip(self._members, self._trees, strict=True):
            nodes = np.empty((len(tree.members) + len(tree.child) - 1, 5, len(examples.ks)))
            part = examples._replace(
                X=tree.X, codes=examples.codes[rows], same=examples.same[rows], other=examples.other[rows],
                bounds=examples.bounds[rows], counted=examples.counted[rows],
            )  # fmt: skip
            tree_kernels.node_bounds(part, tree, nodes)
            of_trees.append((tree, nodes, part))
        order = tree_order(np.array(T))  # near rows visit the same boxes, which are then in the cache

        def count(part: slice, _: None) -> None:
            rows = order[part]
            new = kernels.NewExamples(T[rows], *(array[rows] for array in (*counts, lowest)))
            nearest = np.full((len(of_trees), len(rows), int(examples.ks[-1])), np.inf)
            for z, tree in enumerate(self._trees):
                tree_kernels.search_tree(new.Q, tree, -len(rows), nearest[z])
            tree_kernels.all_alphas(np.sqrt(nearest).transpose(1, 0, 2).copy(), new, examples.ks)
            for z, (tree, nodes, members) in enumerate(of_trees):
                tree_kernels.count_in_tree(tree, nodes, z, members, new)
            for array, values in zip(counts, new[1:4], strict=True):
                array[rows] = values

        for_each(count, parts(len(T), _TREE_ROWS))

    # ---- blocks of products

    @property
    def _block_rows(self) -> int:
        return max(1, min(self.block, _CELLS // len(self.X)))

    def _blocks(self, rows: int) -> list[slice]:
        return parts(rows, self._block_rows)

    def _space(self) -> np.ndarray:
        """Return space for the products of one block."""
        return np.empty(self._block_rows * len(self.X), np.float32)

    def _bounds(self, rows: FilterRows, space: np.ndarray) -> kernels.Filter:
        """Return the products of rows and all training examples, with their bounds."""
        near = self._filter
        return kernels.Filter(near.products(rows, space), *rows.rounded(), near.low, near.high, near.unit)


def parts(rows: int, size: int) -> list[slice]:
    """Return consecutive slices of at most ``size`` of so many rows."""
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
