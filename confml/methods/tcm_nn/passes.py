"""`Passes`: the two passes of TCM-NN, over pairs of training examples and over new examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confml.methods.tcm_nn import _kernels as kernels
from confml.methods.tcm_nn import _kernels_lists as lists_kernels
from confml.methods.tcm_nn import _kernels_tree as tree_kernels
from confml.methods.tcm_nn.closeness import DirectCloseness, ProductCloseness
from confml.neighbours import wide_tree

ENGINES = ("direct", "product", "tree")
_DIRECT_WORK = 1e6  # m^2 d below which a matrix product does not pay


@dataclass(frozen=True)
class Room:
    """Sizes that change speed and memory, never results.

    rows, columns: examples of a tile of training pairs. block: new examples at a time, fewer where a block
    would have more than ``cells`` values. spare: candidates beyond k that a list holds, by default 2 k + 14;
    with more, lists are thinned out less often; one that needs still more is done again directly.
    """

    rows: int = 512
    columns: int = 1024
    block: int = 256
    cells: int = 2**24
    spare: int | None = None

    def block_for(self, values: int) -> int:
        """How many new examples make a block, each with so many values."""
        return max(1, min(self.block, self.cells // max(values, 1)))

    def capacity(self, k: int, m: int) -> int:
        """How many candidates a list holds; there are never more than m."""
        return max(k + 1, min(3 * k + 14, m)) if self.spare is None else k + self.spare


class Counts(NamedTuple):
    """For r new examples under each of c labels and for each of q values of k, arrays of shape (r, c, q).

    greater, equal: examples whose alpha exceeds, and equals, the new one's; the new one itself is among the
    equal. alpha: the new one's.
    """

    greater: np.ndarray
    equal: np.ndarray
    alpha: np.ndarray


class Passes:
    """A training set made ready for TCM-NN.

    X: (m, d) float64 C-ordered. codes: (m,) classes 0 .. c - 1, each present. engine: one of `ENGINES`, by
    default chosen by the sizes: all give the same numbers, those of the definition. Memory: O(m (d + k)) and
    a `Room`.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, engine: str | None = None, room: Room | None = None):
        self.room = room or Room()
        self.engine = engine or _choose(*X.shape)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        self.order = np.argsort(codes, kind="stable")
        self.X, self.codes = X[self.order], codes[self.order]
        self._tree = None
        if self.engine == "tree":
            self._tree = _Trees(self.X, self.starts)
            self.X, self.order = self._tree.X, self.order[self._tree.order]
        closeness = ProductCloseness.of(self.X) if self.engine == "product" else None
        self._closeness = closeness or (None if self._tree else DirectCloseness(self.X))

    @property
    def classes(self) -> int:
        return len(self.starts) - 1

    # ---- the training set by itself

    def lists(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the k nearest examples of the same and of other classes: two arrays (m, k).

        They ascend, and are +inf where there are fewer; rows as in the X given.
        """
        nearest = np.empty((len(self.X), 2, k))
        if self._tree:
            tree_kernels.nearest_of_training(self.X, self.codes, *self._tree.arrays, nearest)
        else:
            self._dense_lists(self._closeness, k, nearest)
        same, other = np.empty((2, len(self.X), k))
        same[self.order], other[self.order] = nearest[:, 0], nearest[:, 1]
        return same, other

    def _dense_lists(self, closeness, k: int, nearest: np.ndarray) -> None:
        m, room = len(self.X), self.room
        upper, who, count = _empty_lists(m, 2, room.capacity(k, m), closeness.dtype)
        limit = np.full((2, m), -np.inf, dtype=closeness.dtype)
        slack = _rounded_up(closeness.rows.slack, closeness.dtype)
        cells = np.empty(room.rows * room.columns, dtype=closeness.dtype)
        for row in range(0, m, room.rows):
            rows = closeness.rows.part(row, row + room.rows)
            for column in range(row, m, room.columns):
                tile = closeness.tile(rows, column, min(column + room.columns, m), cells)
                lists_kernels.scan_pairs(
                    tile, row, column, k, self.codes, self.starts, closeness.low, closeness.high,
                    closeness.error, slack, upper, who, count, limit,
                )  # fmt: skip
        lists_kernels.measure(self.X, self.X, upper, who, count, closeness.error, slack, nearest)
        given_up = np.flatnonzero((count < 0).any(axis=1))
        del upper, who, count, limit
        if len(given_up) > m // 4:  # full of duplicates, or of rows far from zero: the filter is of no use
            self._closeness = DirectCloseness(self.X)
            self._dense_lists(self._closeness, k, nearest)
        elif len(given_up):
            self._again(given_up, k, nearest)

    def _again(self, rows: np.ndarray, k: int, nearest: np.ndarray) -> None:
        """Lists of a few training examples by direct differences from all."""
        direct = DirectCloseness(self.X)
        m = len(self.X)
        size = self.room.block_for(m)
        cells = np.empty(min(size, len(rows)) * m)
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            block = direct.query(self.X[part])
            upper, who, count = _empty_lists(len(part), 2, k + 1, direct.dtype)
            found = np.empty((len(part), 2, k))
            lists_kernels.scan_rows(
                direct.tile(block, 0, m, cells), self.codes[part], part, k, self.starts, direct.low,
                direct.high, direct.error, block.slack, upper, who, count,
            )  # fmt: skip
            lists_kernels.measure(block.values, self.X, upper, who, count, direct.error, block.slack, found)
            nearest[part] = found

    # ---- new examples

    def counts(self, same: np.ndarray, other: np.ndarray, T: np.ndarray, ks, within: bool = False) -> Counts:
        """Counts for new examples T (r, d), each added to the training set by itself.

        same, other: what `lists` gave. ks: ascending values of k. within: count only examples of the label in
        question (label-conditional p-values).
        """
        ks = np.asarray(ks, dtype=np.int64)
        if not (
            len(ks) and ks[0] >= 1 and np.all(np.diff(ks) > 0) and ks[-1] <= same.shape[1] == other.shape[1]
        ):
            raise ValueError(
                f"ks must ascend from 1 to at most {same.shape[1]}, the length of the lists, got {ks}"
            )
        base = _Base(self, same, other, ks, within)
        shape = len(T), self.classes, len(ks)
        counts = Counts(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape))
        if self._tree:
            self._tree_counts(base, T, counts)
        else:
            given_up = self._dense_counts(self._closeness, base, T, counts)
            if len(given_up):
                again = Counts(*(array[given_up] for array in counts))
                self._dense_counts(DirectCloseness(self.X), base, T[given_up], again)
                for array, values in zip(counts, again, strict=True):
                    array[given_up] = values
        np.add(counts.equal, 1, out=counts.equal)
        return counts

    def _dense_counts(self, closeness, base: _Base, T: np.ndarray, counts: Counts) -> np.ndarray:
        """Fill the counts, and return the rows of T for which the filter was of no use."""
        m, k = len(self.X), int(base.ks[-1])
        capacity = self.room.capacity(k, m)
        size = min(self.room.block_for(m + 2 * self.classes * capacity), max(len(T), 1))
        cells = np.empty(size * m, dtype=closeness.dtype)
        reach = np.empty((2, m))
        kernels.matters_within(base.bounds, base.others, reach)
        reach = closeness.reach(reach)
        nearest = np.empty((size, self.classes, k))
        given_up = []
        for start in range(0, len(T), size):
            Q = np.array(T[start : start + size])  # kernels are compiled for arrays that can be written
            rows = closeness.query(Q)
            slack = _rounded_up(rows.slack, closeness.dtype)
            block = closeness.tile(rows, 0, m, cells)
            upper, who, count = _empty_lists(len(Q), self.classes, capacity, closeness.dtype)
            count[~rows.usable] = -1
            nobody = np.full(len(Q), -1)
            lists_kernels.scan_rows(
                block, nobody, nobody, k, self.starts, closeness.low, closeness.high, closeness.error, slack,
                upper, who, count,
            )  # fmt: skip
            found = nearest[: len(Q)]
            lists_kernels.measure(Q, self.X, upper, who, count, closeness.error, slack, found)
            usable = (count >= 0).all(axis=1)
            found[~usable] = np.inf
            given_up.append(start + np.flatnonzero(~usable))
            greater, equal, alphas, lowest = base.begin(found, counts, start)
            kernels.revise_by_scan(
                block, rows.norms, rows.slack, usable, closeness.factor, closeness.unit, closeness.low, reach,
                self.X, Q, self.starts, base.same, base.other, base.bounds, base.ks,
                alphas, lowest, base.others, greater, equal,
            )  # fmt: skip
        return np.concatenate(given_up) if given_up else np.empty(0, np.int64)

    def _tree_counts(self, base: _Base, T: np.ndarray, counts: Counts) -> None:
        k = int(base.ks[-1])
        order, starts, owner = _by_reach(base.same[:, k - 1], self.starts)
        trees = _Trees(self.X[order], starts)
        order = order[trees.order]
        same, other, bounds = base.same[order], base.other[order], base.bounds[order]
        nodes = np.empty((trees.nodes, 5, len(base.ks)))
        kernels.node_bounds(bounds, trees.first, trees.count, trees.child, nodes)
        size = self.room.block_for(self.classes * k)
        for start in range(0, len(T), size):
            Q = np.array(T[start : start + size])
            nearest = np.empty((len(Q), self.classes, k))
            tree_kernels.nearest_of_classes(Q, *self._tree.arrays, nearest)
            greater, equal, alphas, lowest = base.begin(nearest, counts, start)
            kernels.revise_by_trees(
                Q, owner, *trees.arrays, nodes, same, other, bounds, base.ks,
                alphas, lowest, base.others, greater, equal,
            )  # fmt: skip


class _Base:
    """What holds for the training set before a new example comes, for some k; rows sorted by class."""

    def __init__(self, passes: Passes, same, other, ks: np.ndarray, within: bool):
        self.ks, self.within, self.starts = ks, within, passes.starts
        self.others = not within and passes.classes > 1
        self.same, self.other = np.asarray(same)[passes.order], np.asarray(other)[passes.order]
        self.bounds = np.empty((len(same), 5, len(ks)))
        kernels.base_bounds(self.same, self.other, ks, self.bounds)
        self.ranked = np.ascontiguousarray(self.bounds[:, kernels.ALPHA].T)
        if within:
            for first, last in zip(self.starts[:-1], self.starts[1:], strict=True):
                self.ranked[:, first:last].sort(axis=1)
        else:
            self.ranked.sort(axis=1)

    def begin(self, nearest: np.ndarray, counts: Counts, start: int) -> tuple[np.ndarray, ...]:
        """New alphas, and the counts that base alphas give, of a block: (greater, equal, alphas, lowest)."""
        rows = slice(start, start + len(nearest))
        greater, equal, alphas = counts.greater[rows], counts.equal[rows], counts.alpha[rows]
        lowest = np.empty(alphas.shape)
        kernels.new_alphas(nearest, self.ks, alphas, lowest)
        kernels.base_counts(self.ranked, self.starts, self.within, alphas, greater, equal)
        return greater, equal, alphas, lowest


def _by_reach(reach: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order examples within each class by their reach (m,), and cut the classes where it grows large.

    Returns (order (m,), starts of the parts and the end, class of each part). An example far from its class
    has a long reach, and would widen the bounds of every node above it: the few of that sort stand apart.
    """
    order = np.lexsort([reach, np.repeat(np.arange(len(starts) - 1), np.diff(starts))])
    parts, owner = [], []
    for z, (first, last) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        cuts = np.unique(first + (np.array([0.0, 0.5, 0.9, 0.98]) * (last - first)).astype(np.int64))
        cuts = cuts if last - first >= 20 * wide_tree.LEAF else cuts[:1]
        parts.append(cuts)
        owner += [z] * len(cuts)
    return order, np.append(np.concatenate(parts), starts[-1]), np.array(owner)


class _Trees:
    """One search tree a class over X (m, d), sorted by class; see `_kernels_wide_tree`.

    order: (m,) the rows leaf by leaf; X: these rows. first, count: (leaves,) the rows of X in each leaf.
    child: (groups, FAN) the nodes under each group, -1 for none. arrays: all that the kernels want.
    """

    def __init__(self, X: np.ndarray, starts: np.ndarray):
        self.order = np.arange(len(X))
        for first, last in zip(starts[:-1], starts[1:], strict=True):
            wide_tree.sort_into_leaves(X, self.order[first:last])
        self.X = X[self.order]
        leaf, fan = wide_tree.LEAF, wide_tree.FAN
        self.first = np.concatenate(
            [np.arange(*ends, leaf) for ends in zip(starts[:-1], starts[1:], strict=True)]
        )
        ends = starts[np.searchsorted(starts, self.first, side="right")]
        self.count = np.minimum(ends - self.first, leaf)
        number = len(self.first)
        level = np.split(np.arange(number), np.searchsorted(self.first, starts[1:-1]))
        children, roots = [], np.empty(len(level), np.int64)
        height = 0
        while any(len(nodes) > 1 for nodes in level) or height == 0:
            for z, nodes in enumerate(level):
                if len(nodes) > 1 or height == 0:
                    groups = -(-len(nodes) // fan)
                    children.append(np.full((groups, fan), -1))
                    children[-1].reshape(-1)[: len(nodes)] = nodes
                    level[z] = np.arange(number, number + groups)
                    number += groups
            height += 1
        roots[:] = [nodes[0] for nodes in level]
        self.child, self.nodes = np.concatenate(children), number
        rows = np.full((len(self.first), X.shape[1], leaf), np.inf)
        lows = np.full((len(self.child), X.shape[1], fan), np.inf)
        highs = -lows
        tree_kernels.fill(self.X, self.first, self.count, self.child, rows, lows, highs)
        self.arrays = roots, self.first, self.count, self.child, rows, lows, highs


def _choose(m: int, d: int) -> str:
    """Trees where boxes exclude nearly all examples: the more attributes, the more examples that takes."""
    if m >= 1000 * 1.5 ** min(d, 100):
        return "tree"
    return "direct" if float(m) * m * d < _DIRECT_WORK else "product"


def _empty_lists(rows: int, lists: int, capacity: int, dtype) -> tuple[np.ndarray, ...]:
    return (
        np.empty((rows, lists, capacity), dtype=dtype),
        np.empty((rows, lists, capacity), dtype=np.int32),
        np.zeros((rows, lists), dtype=np.int64),
    )


def _rounded_up(values: np.ndarray, dtype) -> np.ndarray:
    return values if dtype == values.dtype else (values * (1 + 1e-6)).astype(dtype)
