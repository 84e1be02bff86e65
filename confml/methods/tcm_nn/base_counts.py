"""`Counts` of new examples, and what the training set alone contributes to them, `BaseCounts`."""

from typing import NamedTuple

import numpy as np

from confml.methods.tcm_nn import _kernels as kernels


class Counts(NamedTuple):
    """For r new examples under each of c labels and for each of q values of k, arrays of shape (r, c, q).

    greater, equal: number of examples whose alpha exceeds, and equals, the alpha of the new example, which is
    itself among the equal ones. alpha: strangeness of the new example.
    """

    greater: np.ndarray
    equal: np.ndarray
    alpha: np.ndarray


class BaseCounts:
    """Bounds and sorted alphas of training rows X (m, d), sorted by class, for some values of k.

    same, other: (m, k) the distances of `NeighbourCounter.lists`. starts: (c + 1,) of the classes. weights:
    (m,) int64. totals: (q, m + 1) their sums in the order of the alphas; computed if None. examples: the rows
    as arguments of the kernels.
    """

    def __init__(
        self,
        X: np.ndarray,
        same: np.ndarray,
        other: np.ndarray,
        starts: np.ndarray,
        ks: np.ndarray,
        label_conditional: bool,
        weights: np.ndarray,
        totals: np.ndarray | None,
    ):
        self.label_conditional, self.starts = label_conditional, starts
        bounds, others = np.empty((len(same), 5, len(ks))), not label_conditional and len(starts) > 2
        self.examples = kernels.Examples(X, same, other, bounds, weights, ks, others)
        kernels.base_bounds(same, other, ks, bounds)
        alphas = np.ascontiguousarray(bounds[:, kernels.ALPHA].T)
        ends = self.starts if label_conditional else self.starts[[0, -1]]
        if totals is None:
            totals = np.zeros((len(ks), len(weights) + 1), dtype=np.int64)
            order = np.empty(alphas.shape, dtype=np.int64)
            for first, last in zip(ends[:-1], ends[1:], strict=True):
                order[:, first:last] = first + np.argsort(alphas[:, first:last], axis=1, kind="stable")
            np.cumsum(weights[order], axis=1, out=totals[:, 1:])
        self.ranked, self.totals = alphas, totals
        for first, last in zip(ends[:-1], ends[1:], strict=True):
            self.ranked[:, first:last].sort(axis=1)

    def begin(self, Q: np.ndarray, nearest: np.ndarray, counts: Counts, start: int) -> kernels.NewExamples:
        """Return a block of new examples Q (b, d), from row ``start`` of the counts on, with their alphas and
        their counts among the base alphas. nearest: (b, c, K) distances to the nearest of each class."""
        greater, equal, alphas = (array[start : start + len(Q)] for array in counts)
        lowest = np.empty(alphas.shape)
        kernels.new_alphas(nearest, self.examples.ks, alphas, lowest)
        kernels.base_counts(
            self.ranked, self.totals, self.starts, self.label_conditional, alphas, greater, equal
        )
        return kernels.NewExamples(Q, greater, equal, alphas, lowest)
