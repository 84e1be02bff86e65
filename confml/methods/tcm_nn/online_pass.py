"""`OnlinePass`: the neighbour lists of the examples learnt so far, and one step per new example."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from confml.methods.tcm_nn import _kernels as kernels
from confml.methods.tcm_nn._kernels_online import Alphas, process
from confml.methods.tcm_nn.neighbour_counter import Counts, parts
from confml.neighbours.distance_filter import DistanceFilter
from confml.neighbours.scaling import SafeScale

BLOCK = 256
"""Number of new examples whose distances are computed together, and of free places."""
_ROWS = 64
_CELLS = 2**24  # of a block, at most


class OnlinePass:
    """The examples learnt so far and their neighbour lists.

    attributes: d. classes: c, including classes without examples so far. ks: values of k. label_conditional:
    count only examples of the label in question. Learnt examples are sorted by class, except for up to
    ``block`` of the last ones, which are in free places after the others. Memory: O(n (d + k)) and one block.
    """

    def __init__(
        self,
        attributes: int,
        classes: int,
        ks: Sequence[int],
        label_conditional: bool = False,
        block: int = BLOCK,
    ):
        self.attributes, self.classes, self.block = attributes, classes, block
        self.given_ks, self.label_conditional = tuple(ks), label_conditional
        self._scale, self._extremes = SafeScale(), np.empty((0, attributes))
        self._begin()

    def _begin(self) -> None:
        """Forget all examples."""
        self.learnt = 0
        self._X, self._codes = np.empty((0, self.attributes)), np.empty(0, dtype=np.int64)
        self._same = self._other = np.empty((0, 0))
        self._filter, self._filtered = DistanceFilter.of(np.zeros((1, self.attributes))), 0
        self._values = np.empty((0, self.attributes), np.float32)
        self._low = self._high = self._space = np.empty(0, np.float32)
        self._arrange()

    def step(self, X: np.ndarray, codes: np.ndarray | None, predicts: bool) -> tuple[Counts, np.ndarray]:
        """Process new examples X (r, d), float64 C-ordered, in their order.

        codes: (r,) their classes; each example is then learnt before the next one is predicted. None: no
        example is learnt. Returns the `Counts` (for `given_ks`, in their order; empty unless ``predicts``),
        and the denominators (r, c) of the p-values, the new example included.
        """
        if codes is not None and len(X):
            every = np.concatenate([self._extremes, X])
            extremes = np.stack([every.min(axis=0), every.max(axis=0)])
            first = int((every != every[0]).any(axis=1).argmax())  # from it on, the range only grows
            if not SafeScale.of(every[: first + 1]) == SafeScale.of(extremes) == self._scale:
                return self._step_to(extremes, X, codes, predicts)
            self._extremes = extremes
        X = self._scale.apply(X)
        number = len(X) if predicts else 0
        arrived = np.zeros((number, self.classes), dtype=np.int64)
        if codes is not None:
            arrived[np.arange(1, number), codes[: max(number - 1, 0)]] = 1
        sizes = np.bincount(self._codes[: self.learnt], minlength=self.classes) + np.cumsum(arrived, axis=0)
        if not self.label_conditional:
            sizes[:] = sizes.sum(axis=1, keepdims=True)
        counts = Counts.of_new_alone(number, self.classes, len(self.given_ks))
        stop = 0
        while stop < len(X):
            rows = slice(stop, stop + max(1, min(_ROWS, self.block, _CELLS // max(len(self._X), 1))))
            block = self._process(X[rows], None if codes is None else codes[rows], predicts)
            if predicts:
                at = np.searchsorted(self._ks, np.minimum(self.given_ks, self._ks[-1]))
                for array, values in zip(counts, block, strict=True):
                    array[rows] = values[:, :, at]
            stop = rows.stop
        return counts, sizes + 1

    def _process(self, Q: np.ndarray, codes: np.ndarray | None, predicts: bool) -> Counts:
        """Process one block, see `step`; counts for `_ks`."""
        first, end = self.learnt, self.learnt + (0 if codes is None else len(Q))
        if end > len(self._X):
            self._arrange()
        codes = np.empty(0, np.int64) if codes is None else codes.astype(np.int64)
        near, rows = self._filter, self._filter.query(Q)
        if len(codes):
            learnt = slice(first, end)
            self._X[learnt], self._codes[learnt], self._values[learnt] = Q, codes, rows.values
            self._low[learnt], self._high[learnt] = (
                (rows.norms - rows.slack) / 2,
                (rows.norms + rows.slack) / 2,
            )
        products = len(Q) * end
        if products > len(self._space):
            self._space = np.empty(2 * products, np.float32)
        tile = np.matmul(rows.values, self._values[:end].T, out=self._space[:products].reshape(len(Q), end))
        bounds = kernels.Filter(tile, *rows.rounded(), self._low[:end], self._high[:end], near.unit)
        counts = Counts.of_new_alone(len(Q), self.classes, len(self._ks))
        new = kernels.NewExamples(np.array(Q), *counts, np.empty(counts.alpha.shape))
        process(
            bounds, first, codes, self._alphas, self._limits[:end], self._examples(end), new, predicts,
            self.label_conditional,
        )  # fmt: skip
        self.learnt = end
        return counts

    def _examples(self, end: int) -> kernels.Examples:
        """Return the first examples as arguments of the kernels."""
        others = not self.label_conditional and self.classes > 1
        return kernels.Examples(
            self._X[:end], self._codes[:end], self._cuts[self._cuts <= end], self._same[:end],
            self._other[:end], self._bounds[:end], np.ones(end, dtype=bool), self._ks, others,
        )  # fmt: skip

    def _arrange(self) -> None:
        """Sort the learnt examples by class, with free places after them.

        The filter is chosen anew whenever the number of examples has doubled.
        """
        n, cells = self.learnt, self.learnt + self.block
        # With n examples learnt, some neighbour is missing for k = n + 1 as for any larger k.
        self._ks = np.unique(np.minimum(np.asarray(self.given_ks, dtype=np.int64), cells + 1))
        order, k, q = np.argsort(self._codes[:n], kind="stable"), int(self._ks[-1]), len(self._ks)

        def in_order(values: np.ndarray, missing: float, width: int | None = None) -> np.ndarray:
            shape = values.shape[1:] if width is None else (width,)
            longer = np.full((cells, *shape), missing, values.dtype)
            longer[(slice(n), *map(slice, values.shape[1:]))] = values[order]
            return longer

        self._X, self._codes = in_order(self._X, 0.0), in_order(self._codes, 0)
        self._same, self._other = in_order(self._same, np.inf, k), in_order(self._other, np.inf, k)
        runs = np.flatnonzero(np.diff(self._codes[:n], prepend=-1))
        self._cuts = np.concatenate([runs, np.arange(n, cells + 1)])
        if n > 2 * self._filtered:
            self._filter, self._filtered = DistanceFilter.of(self._X[:n]), n
            rows = self._filter.rows.values, self._filter.low, self._filter.high
            order = np.arange(n)
        else:
            rows = self._values, self._low, self._high
        self._values, self._low, self._high = (in_order(of_rows, 0.0) for of_rows in rows)
        self._bounds = np.full((cells, 5, q), np.inf)
        self._limits = np.full(cells, np.inf, np.float32)
        kernels.fill_all_bounds(self._same[:n], self._other[:n], self._ks, self._bounds)
        alphas = self._bounds[:, kernels.ALPHA]
        alphas[n:] = np.nan
        cuts = np.append(runs if self.label_conditional else runs[:1], n)
        ascending = [np.sort(alphas[start:stop].T, axis=1) for start, stop in pairwise(cuts)]
        self._alphas = Alphas(
            np.concatenate([np.empty((q, 0)), *ascending], axis=1), cuts,
            np.full(cells, -1), np.zeros(cells, np.int64), np.empty((q, cells)), np.empty((q, cells)),
            np.zeros(1, np.int64),
        )  # fmt: skip
        kernels.fill_limits(self._low[:n], self._filter.unit, self._examples(n), True, self._limits[:n])

    def _step_to(
        self, extremes: np.ndarray, X: np.ndarray, codes: np.ndarray, predicts: bool
    ) -> tuple[Counts, np.ndarray]:
        """Return `step` of examples to learn, some of which may need another `SafeScale`.

        An example that changes the scale is predicted before; all others are then learnt again, because
        distances can be 0 on the new scale. extremes: (2, d) of all examples.
        """
        if len(X) > 1:
            halves = slice(len(X) // 2), slice(len(X) // 2, None)
            counts, counted = zip(
                *(self.step(X[rows], codes[rows], predicts) for rows in halves), strict=True
            )
            return Counts(*map(np.concatenate, zip(*counts, strict=True))), np.concatenate(counted)
        result, scale = self.step(X, None, predicts), SafeScale.of(extremes)
        rows = np.ldexp(self._X[: self.learnt], scale.exponent - self._scale.exponent)
        learnt = self._codes[: self.learnt]
        self._scale, self._extremes = scale, extremes
        self._begin()
        for part in parts(len(rows), self.block):
            self._process(rows[part], learnt[part], predicts=False)
        self.step(X, codes, predicts=False)
        return result
