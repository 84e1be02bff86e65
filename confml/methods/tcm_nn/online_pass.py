"""`OnlinePass`: the neighbour lists of the examples learnt so far, and one step per new example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confml.methods.tcm_nn import _kernels_online as kernels
from confml.methods.tcm_nn.neighbour_counter import Counts
from confml.neighbours.distances import minus_squared_distances
from confml.neighbours.scaling import SafeScale

_BLOCK = 32  # new examples whose distances are computed together


class OnlinePass:
    """The examples learnt so far and their neighbour lists.

    attributes: d. classes: c, including classes without examples so far. ks: values of k. label_conditional:
    count only examples of the label in question. capacity: number of examples that fit without a new
    allocation; it doubles when it is exceeded. Memory: O(n (d + k)).
    """

    def __init__(
        self,
        attributes: int,
        classes: int,
        ks: Sequence[int],
        label_conditional: bool = False,
        capacity: int = 1024,
    ):
        self.given_ks, self.label_conditional, self.learnt = tuple(ks), label_conditional, 0
        self.attributes = attributes
        self.counts_by_class = np.zeros(classes, dtype=np.int64)
        self._columns, self._codes = np.empty((attributes, 0)), np.empty(0, dtype=np.int64)
        self._same = self._other = np.empty((0, 0))
        self._scale, self._extremes = SafeScale(), np.empty((0, attributes))
        self._extend(max(capacity, 1))

    def step(self, X: np.ndarray, codes: np.ndarray | None, predicts: bool) -> tuple[Counts, np.ndarray]:
        """Process new examples X (r, d), float64 C-ordered, in their order.

        codes: (r,) their classes; each example is then learnt before the next one is predicted. None: no
        example is learnt. Returns the `Counts` (for `given_ks`, in their order; empty unless ``predicts``),
        and the denominators (r, c) of the p-values, the new example included.
        """
        learns = codes is not None
        given = np.zeros(len(X), dtype=np.int64) if codes is None else np.asarray(codes, dtype=np.int64)
        self._extend(self.learnt + len(X))
        if learns and len(X):
            self._rescale(X)
        X = self._scale.apply(X)
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
                counted[rows] = (sizes if self.label_conditional else sizes.sum(axis=1, keepdims=True)) + 1
            self._columns[:, n : n + len(block)] = block.T
            tile = np.empty((len(block), n + len(block) if learns else n))
            minus_squared_distances(block, self._columns, 0, tile)
            self.learnt = kernels.steps(
                tile, n, mine, predicts, learns, self._codes, self._same, self._other, self._alpha, self._ks,
                self.label_conditional, greater[rows], equal[rows], alphas[rows],
            )  # fmt: skip
            if learns:
                self.counts_by_class += np.bincount(mine, minlength=classes)
        at = np.searchsorted(self._ks, np.minimum(self.given_ks, self._ks[-1]))
        return Counts(greater[:, :, at], equal[:, :, at], alphas[:, :, at]), counted

    def _rescale(self, X: np.ndarray) -> None:
        """Choose the `SafeScale` of all examples, including X, and convert what is stored to it."""
        extremes = np.concatenate([self._extremes, X])
        self._extremes = np.stack([extremes.min(axis=0), extremes.max(axis=0)])
        scale = SafeScale.of(self._extremes)
        change = scale.exponent - self._scale.exponent
        if change:
            n = self.learnt
            for array in (self._columns[:, :n], self._same[:n], self._other[:n]):
                np.ldexp(array, change, out=array)
        self._scale = scale

    def _extend(self, needed: int) -> None:
        """Allocate space for ``needed`` examples, and lists as long as any k can require."""
        before = len(self._codes)
        if needed <= before and before:
            return
        capacity = max(needed, 2 * before)
        # With n examples learnt, some neighbour is missing for k = n + 1 as for any larger k.
        ks = np.unique(np.minimum(np.asarray(self.given_ks, dtype=np.int64), capacity + 1))
        n = self.learnt
        columns = np.empty((len(self._columns), capacity))
        columns[:, :n] = self._columns[:, :n]
        codes = np.zeros(capacity, dtype=np.int64)
        codes[:n] = self._codes[:n]
        lists = []
        for values in (self._same, self._other):
            longer = np.full((capacity, ks[-1]), np.inf)
            longer[:n, : values.shape[1]] = values[:n]
            lists.append(longer)
        self._columns, self._codes, self._ks = columns, codes, ks
        self._same, self._other = lists
        self._alpha = np.empty((len(ks), capacity))
        kernels.alphas_of(self._same, self._other, ks, n, self._alpha)
