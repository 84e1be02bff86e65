"""`OnlinePass`: the neighbour lists of the examples learnt so far, and one step per new example."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confml.methods.tcm_nn import _kernels as base_kernels
from confml.methods.tcm_nn import _kernels_online as kernels
from confml.methods.tcm_nn._kernels_ranked import Ranked
from confml.methods.tcm_nn.base_counts import Counts
from confml.methods.tcm_nn.candidate_lists import parts
from confml.neighbours.distance_filter import GrowingFilter
from confml.neighbours.lanes import PANEL
from confml.neighbours.scaling import SafeScale


@dataclass(frozen=True)
class OnlineSizes:
    """Sizes that change speed and memory, never results.

    block: new examples whose distances are computed together, fewer where these would be more than ``cells``.
    products: values of learnt examples from which on float32 products are the filter. waiting: changed alphas
    that wait until they are sorted. spare: candidates beyond k in a list.
    """

    block: int = 128
    cells: int = 2**24
    products: int = 2**14
    waiting: int = 256
    spare: int | None = None

    def block_for(self, cells: int) -> int:
        return max(8, min(self.block, self.cells // max(cells, 1)))

    def capacity(self, k: int) -> int:
        """Return the number of candidates that a list holds."""
        return k + (2 * k + 14 if self.spare is None else self.spare)


class OnlinePass:
    """The examples learnt so far and their neighbour lists.

    attributes: d. classes: c, including classes without examples so far. ks: values of k. label_conditional:
    count only examples of the label in question. Examples are stored by class, with free places after each
    class. Memory: O(n (d + k)) and the blocks of `OnlineSizes`.
    """

    def __init__(
        self,
        attributes: int,
        classes: int,
        ks: Sequence[int],
        label_conditional: bool = False,
        sizes: OnlineSizes | None = None,
    ):
        self.given_ks, self.label_conditional = tuple(ks), label_conditional
        self.attributes, self.sizes = attributes, sizes or OnlineSizes()
        self.counts_by_class = np.zeros(classes, dtype=np.int64)
        self._scale, self._extremes = SafeScale(), np.empty((0, attributes))
        self._products = True  # until the filter excludes too few examples
        self._starts = np.zeros(classes + 1, dtype=np.int64)
        self._X = np.empty((0, attributes))
        self._same = self._other = np.empty((0, 0))
        self._waiting = 0
        self._arrange(np.zeros(classes, dtype=np.int64))

    @property
    def learnt(self) -> int:
        """Number of examples learnt."""
        return int(self.counts_by_class.sum())

    def step(self, X: np.ndarray, codes: np.ndarray | None, predicts: bool) -> tuple[Counts, np.ndarray]:
        """Process new examples X (r, d), float64 C-ordered, in their order.

        codes: (r,) their classes; each example is then learnt before the next one is predicted. None: no
        example is learnt. Returns the `Counts` (for `given_ks`, in their order; empty unless ``predicts``),
        and the denominators (r, c) of the p-values, the new example included.
        """
        learns = codes is not None
        given = np.zeros(len(X), dtype=np.int64) if codes is None else np.asarray(codes, dtype=np.int64)
        if learns and len(X):
            known = np.concatenate([self._extremes, X])
            extremes = np.stack([known.min(axis=0), known.max(axis=0)])
            first = int((known != known[0]).any(axis=1).argmax())  # from it on, the range only grows
            if not SafeScale.of(known[: first + 1]) == SafeScale.of(extremes) == self._scale:
                return self._step_to(extremes, X, given, predicts)
            self._extremes = extremes
        X = self._scale.apply(X)
        classes, number = len(self.counts_by_class), len(X) if predicts else 0
        shape = number, classes, len(self.given_ks)
        counts = Counts(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.empty(shape))
        counted = np.empty((number, classes), dtype=np.int64)
        start = 0
        while start < len(X):
            size = self.sizes.block_for(len(self._X))
            rows = slice(start, min(start + size, len(X)))
            block, mine = np.array(X[rows]), given[rows]
            if predicts:
                before = np.zeros((len(block), classes), dtype=np.int64)
                if learns:
                    before[np.arange(1, len(block)), mine[:-1]] = 1
                sizes = self.counts_by_class + np.cumsum(before, axis=0)
                counted[rows] = (sizes if self.label_conditional else sizes.sum(axis=1, keepdims=True)) + 1
            found = self._process(block, mine, predicts, learns)
            if predicts:
                at = np.searchsorted(self._ks, np.minimum(self.given_ks, self._ks[-1]))
                for array, values in zip(counts, found, strict=True):
                    array[rows] = values[:, :, at]
            start = rows.stop
        return counts, counted

    # ---- a block of new examples

    def _process(self, block: np.ndarray, codes: np.ndarray, predicts: bool, learns: bool) -> Counts:
        """Process one block, see `step`; counts for `_ks`."""
        b, classes = len(block), len(self.counts_by_class)
        arriving = np.bincount(codes, minlength=classes) if learns else np.zeros(classes, dtype=np.int64)
        full = np.any(self.counts_by_class + arriving > np.diff(self._starts))
        if full or (not self._products and not self._filter.direct):
            self._arrange(arriving)
        rows = self._filter.query(block)
        if not (self._filter.accepts(rows) if learns else rows.usable.all()):
            self._arrange(arriving, block)
            rows = self._filter.query(block)
        order, near = np.argsort(codes, kind="stable"), self._filter
        places = self._free_places(codes, order) if learns else np.empty(0, dtype=np.int64)
        shape = (b, classes, len(self._ks)) if predicts else (0, classes, len(self._ks))
        counts = Counts(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.empty(shape))
        slack = (rows.slack * (1 + 1e-6)).astype(near.dtype)
        self._waiting, abandoned = kernels.process(
            kernels.Arriving(
                *near.columns(rows, order), order, slack, codes if learns else np.full(b, -1), places
            ),
            kernels.Learnt(
                near.panels, near.low, near.error, near.unit, near.factor,
                self._starts, self.counts_by_class, self._limits,
            ),
            self.sizes.capacity(int(self._ks[-1])), self._examples, self._ranked, self._waiting,
            base_kernels.NewExamples(block, *counts, np.empty(shape)),
        )  # fmt: skip
        if 4 * abandoned > max(b, 16):  # too many duplicates or close rows
            self._products = False
        if learns:
            near.put(rows, places)
            self.counts_by_class += arriving
        return counts

    def _free_places(self, codes: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return the place of each new example: the free places of its class in their order."""
        begin = np.searchsorted(codes[order], codes[order])
        places = np.empty(len(codes), dtype=np.int64)
        places[order] = (
            (self._starts[:-1] + self.counts_by_class)[codes[order]] + np.arange(len(codes)) - begin
        )
        return places

    # ---- the arrangement of learnt examples

    def _arrange(self, arriving: np.ndarray, block: np.ndarray | None = None) -> None:
        """Give each class free places for ``arriving`` (c,) examples and more, and choose the filter anew.

        block: examples that the filter must accept.
        """
        places = self._places()
        X, same, other = self._X[places], self._same[places], self._other[places]
        filled = self.counts_by_class
        needed = filled + arriving
        panels = -(-(needed + needed // 3 + 24) // PANEL)  # each of one class
        self._starts = np.concatenate([[0], np.cumsum(panels * PANEL)])
        cells = int(self._starts[-1])
        places = self._places()
        # With n examples learnt, some neighbour is missing for k = n + 1 as for any larger k.
        self._ks = np.unique(np.minimum(np.asarray(self.given_ks, dtype=np.int64), cells + 1))
        self._X = np.zeros((cells, self.attributes))
        self._X[places] = X
        lists = []
        for values in (same, other):
            longer = np.full((cells, self._ks[-1]), np.inf)
            longer[places, : values.shape[1]] = values
            lists.append(longer)
        self._same, self._other = lists
        products = self._products and X.size >= self.sizes.products
        every = X if block is None else np.concatenate([X, block])  # centre and scale of the filter fit all
        self._filter = GrowingFilter(every, places, cells, products)
        bounds = np.full((cells, 5, len(self._ks)), np.inf)
        base_kernels.base_bounds(self._same, self._other, self._ks, bounds)
        others, weights = not self.label_conditional and len(filled) > 1, np.ones(cells, dtype=np.int64)
        self._examples = base_kernels.Examples(
            self._X, self._same, self._other, bounds, weights, self._ks, others
        )
        self._limits = np.full((2, cells), np.inf, dtype=self._filter.dtype)
        kernels.fill_limits(places, self._examples, self._filter.unit, self._filter.factor, self._limits)
        self._rank()

    def _places(self) -> np.ndarray:
        """Return the places (n,) of the learnt examples, in ascending order."""
        ends = zip(self._starts[:-1], self.counts_by_class, strict=True)
        return np.concatenate([np.arange(first, first + number) for first, number in ends])

    def _rank(self) -> None:
        """Sort the alphas of the learnt examples, see `_kernels_ranked`."""
        alphas = np.ascontiguousarray(self._examples.bounds[:, base_kernels.ALPHA].T)
        if self.label_conditional:
            first, size = self._starts[:-1].copy(), self.counts_by_class.copy()
        else:
            first, size = np.zeros(1, dtype=np.int64), np.array([self.learnt])
            alphas[:, : self.learnt] = alphas[:, self._places()]
        for begin, number in zip(first, size, strict=True):
            alphas[:, begin : begin + number].sort(axis=1)
        changes = (len(self._ks), self.sizes.waiting)
        of = np.empty(self.sizes.waiting, dtype=np.int64)
        self._ranked = Ranked(alphas, first, size, np.empty(changes), np.empty(changes), of)
        self._waiting = 0

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
        found, scale = self.step(X, None, predicts), SafeScale.of(extremes)
        known = np.ldexp(self._X[self._places()], scale.exponent - self._scale.exponent)
        numbers = self.counts_by_class
        mine = np.repeat(np.arange(len(numbers)), numbers)
        self._scale, self._extremes, self.counts_by_class = scale, extremes, np.zeros_like(numbers)
        self._same = self._other = np.empty((0, 0))
        self._arrange(numbers)
        for first, last in parts(len(known), self.sizes.block):
            self._process(known[first:last], mine[first:last], predicts=False, learns=True)
        self.step(X, codes, predicts=False)
        return found
