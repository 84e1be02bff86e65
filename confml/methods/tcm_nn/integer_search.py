"""`IntegerSearch`: lists and counts of TCM-NN by products of 16-bit integers."""

import numpy as np

from confml._threads import for_each
from confml.methods.tcm_nn import _kernels as count_kernels
from confml.methods.tcm_nn import _kernels_integers as kernels
from confml.methods.tcm_nn import _kernels_lists as list_kernels
from confml.methods.tcm_nn.base_counts import BaseCounts, Counts
from confml.methods.tcm_nn.block_sizes import BlockSizes
from confml.methods.tcm_nn.candidate_lists import distances_of_lists, empty_lists, for_each_pair, parts
from confml.neighbours.integer_rows import IntegerRows
from confml.neighbours.lanes import GROUP, PANEL


class IntegerSearch:
    """Training examples X (m, d), sorted by class, as `IntegerRows`.

    codes: (m,) classes. starts: (c + 1,) of the classes.
    """

    def __init__(
        self, rows: IntegerRows, X: np.ndarray, codes: np.ndarray, starts: np.ndarray, sizes: BlockSizes
    ):
        self._rows, self._X, self._codes, self._starts, self._sizes = rows, X, codes, starts, sizes

    def lists(self, k: int, nearest: np.ndarray) -> np.ndarray:
        """Fill ``nearest`` (m, 2, k); return the rows with too many candidates."""
        rows = self._rows
        m, kernel = len(self._X), kernels.scan_integer_pairs
        error = np.full(m, 2.0 * rows.error)
        lists, limit = empty_lists(2, self._sizes.capacity(k, m), error, error), np.full((2, m), -np.inf)
        least = np.full((3, len(rows.norms)), kernels.EVERY)
        least[:, m:] = kernels.NONE
        panels = kernels.Panels(rows.panels, rows.norms, least)
        blocks = parts(m, -(-self._sizes.pair_block(m) // PANEL) * PANEL)

        def scan(pair: tuple[int, int], space: tuple[np.ndarray, np.ndarray]) -> None:
            ends = *blocks[pair[0]], *blocks[pair[1]]
            kernel(ends, k, self._codes, panels, lists, limit, space)

        for_each_pair(scan, len(blocks), IntegerRows.space)
        return distances_of_lists(self._X, lists, nearest)

    def counts(self, base: BaseCounts, T: np.ndarray, counts: Counts) -> np.ndarray:
        """Fill the counts; return the rows of T that are too long or have too many candidates.

        The products are computed once: pairs that may change a count are kept until the alphas are known.
        """
        rows, m, classes = self._rows, len(self._X), len(self._starts) - 1
        k = int(base.examples.ks[-1])
        capacity = self._sizes.capacity(k, m)
        # Products of few features are written as fast as they are computed: few rows, so that they stay in
        # the cache. With many features, reading the training rows takes longer: many new rows.
        size = min(self._sizes.block_for(2 * classes * capacity + m), max(64, T.shape[1]))
        size = -(-size // GROUP) * GROUP
        queries = rows.query(T)
        radius = np.empty((2, m))
        count_kernels.influence_radius(base.examples.bounds, base.examples.others, radius)
        most = np.full((2, len(rows.norms)), kernels.NONE)
        kernels.limits_of(radius, rows.scale, rows.error + queries.error, most)
        training = kernels.Panels(rows.panels, rows.norms, most)
        panels = kernels.Panels(queries.panels, queries.norms, np.full((1, len(queries.norms)), kernels.NONE))
        error = np.full(m, 2.0 * rows.error)
        usable = queries.usable

        def count_block(ends: tuple[int, int], space: tuple[np.ndarray, np.ndarray]) -> None:
            start, stop = ends
            Q = np.array(T[start:stop])  # kernels are compiled for arrays that can be written
            slack = np.full(len(Q), 2.0 * queries.error)
            lists, limit = empty_lists(classes, capacity, error, slack), np.full((classes, len(Q)), -np.inf)
            lists.filled[~usable[start:stop]], limit[:, ~usable[start:stop]] = -1, np.inf
            kernels.scan_integer_rows(start, stop, k, self._starts, training, panels, lists, limit, space)
            found = np.empty((len(Q), classes, k))
            list_kernels.compute_distances(Q, self._X, lists, found)
            usable[start:stop] = (lists.filled >= 0).all(axis=1)
            found[~usable[start:stop]] = np.inf
            new = base.begin(Q, found, counts, start)
            kernels.update_counts_by_integers(
                self._starts, training, queries.norms[start:stop], usable[start:stop],
                1.0 / rows.scale, rows.error + queries.error, base.examples, new, space,
            )  # fmt: skip

        for_each(count_block, parts(len(T), size), lambda: rows.space(min(size, len(T)), m))
        return np.flatnonzero(~usable)
