"""`OnlinePass`: what TCM-NN knows of the examples learnt so far, and a step for each one that comes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confml.methods.tcm_nn import _kernels_online as kernels
from confml.methods.tcm_nn._kernels_lists import minus_squared_distances
from confml.methods.tcm_nn.passes import Counts

_BLOCK = 32  # new examples whose distances are computed side by side


class OnlinePass:
    """The examples learnt so far, their neighbour lists, and room for more.

    attributes: d. classes: c, whether an example of each has come or not. ks: values of k. within: count
    among the examples of the label in question. room: how many examples there is room for at first; it
    doubles when they have come. Memory: O(n (d + k)).
    """

    def __init__(
        self, attributes: int, classes: int, ks: Sequence[int], within: bool = False, room: int = 1024
    ):
        self.given_ks, self.within, self.learnt = tuple(ks), within, 0
        self.attributes = attributes
        self.counts_by_class = np.zeros(classes, dtype=np.int64)
        self._columns, self._codes = np.empty((attributes, 0)), np.empty(0, dtype=np.int64)
        self._same = self._other = np.empty((0, 0))
        self._make_room(max(room, 1))

    def step(self, X: np.ndarray, codes: np.ndarray | None, predicts: bool) -> tuple[Counts, np.ndarray]:
        """Take new examples X (r, d), float64 C-ordered, in their order.

        codes: (r,) their classes; each is then learnt before the next one comes. None: none is learnt.
        Returns the `Counts` (those of `given_ks`, in that order; empty unless ``predicts``), and by how many
        examples each p-value (r, c) is divided, the new one included.
        """
        learns = codes is not None
        given = np.zeros(len(X), dtype=np.int64) if codes is None else np.asarray(codes, dtype=np.int64)
        self._make_room(self.learnt + len(X))
        classes, number = len(self.counts_by_class), len(X) if predicts else 0
        greater, equal = (np.zeros((number, classes, len(self._ks)), dtype=np.int64) for _ in range(2))
        alphas = np.empty(greater.shape)
        counted = np.empty((number, classes), dtype=np.int64)
        for start in range(0, len(X), _BLOCK):
            rows = slice(start, min(start + _BLOCK, len(X)))
            block, mine = np.array(X[rows]), given[rows]
            n = self.learnt
            if predicts:
                before = np.zeros((len(block), classes), dtype=np.int64)
                if learns:
                    before[np.arange(1, len(block)), mine[:-1]] = 1
                sizes = self.counts_by_class + np.cumsum(before, axis=0)
                counted[rows] = (sizes if self.within else sizes.sum(axis=1, keepdims=True)) + 1
            self._columns[:, n : n + len(block)] = block.T
            tile = np.empty((len(block), n + len(block) if learns else n))
            with np.errstate(over="ignore"):
                minus_squared_distances(block, self._columns, 0, tile)
            self.learnt = kernels.steps(
                tile, n, mine, predicts, learns, self._codes, self._same, self._other, self._alpha, self._ks,
                self.within, greater[rows], equal[rows], alphas[rows],
            )  # fmt: skip
            if learns:
                self.counts_by_class += np.bincount(mine, minlength=classes)
        at = np.searchsorted(self._ks, np.minimum(self.given_ks, self._ks[-1]))
        return Counts(greater[:, :, at], equal[:, :, at], alphas[:, :, at]), counted

    def _make_room(self, needed: int) -> None:
        """Room for ``needed`` examples, and lists as long as any k can make a difference then."""
        before = len(self._codes)
        if needed <= before and before:
            return
        room = max(needed, 2 * before)
        # With n examples learnt, some neighbour is missing for k = n + 1 just as for any larger k.
        ks = np.unique(np.minimum(np.asarray(self.given_ks, dtype=np.int64), room + 1))
        n = self.learnt
        columns = np.empty((len(self._columns), room))
        columns[:, :n] = self._columns[:, :n]
        codes = np.zeros(room, dtype=np.int64)
        codes[:n] = self._codes[:n]
        lists = []
        for values in (self._same, self._other):
            longer = np.full((room, ks[-1]), np.inf)
            longer[:n, : values.shape[1]] = values[:n]
            lists.append(longer)
        self._columns, self._codes, self._ks = columns, codes, ks
        self._same, self._other = lists
        self._alpha = np.empty((len(ks), room))
        kernels.alphas_of(self._same, self._other, ks, n, self._alpha)
