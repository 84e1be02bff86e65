"""`Counts` of new examples, and what the training set alone contributes to them, `BaseCounts`."""

from __future__ import annotations

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
    """Bounds and sorted alphas of the training set for some values of k; rows sorted by class.

    same, other: (m, k) the distances of `NeighbourCounter.lists`. starts: (c + 1,) of the classes. weights:
    (m,) int64. totals: (q, m + 1) their sums in the order of the alphas; computed if None.
    """

    def __init__(
        self,
        same: np.ndarray,
        other: np.ndarray,
        starts: np.ndarray,
        ks: np.ndarray,
        label_conditional: bool,
        weights: np.ndarray,
        totals: np.ndarray | None,
    ):
        self.weights = weights
        self.ks, self.label_conditional, self.starts = ks, label_conditional, starts
        self.others = not label_conditional and len(starts) > 2
        self.same, self.other = same, other
        self.bounds = np.empty((len(same), 5, len(ks)))
        kernels.base_bounds(self.same, self.other, ks, self.bounds)
        alphas = np.ascontiguousarray(self.bounds[:, kernels.ALPHA].T)
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

    def begin(self, nearest: np.ndarray, counts: Counts, start: int) -> tuple[np.ndarray, ...]:
        """Return the alphas of a block of new examples and their counts among the base alphas: (greater,
        equal, alphas, lowest).
        """
        rows = slice(start, start + len(nearest))
        greater, equal, alphas = counts.greater[rows], counts.equal[rows], counts.alpha[rows]
        lowest = np.empty(alphas.shape)
        kernels.new_alphas(nearest, self.ks, alphas, lowest)
        kernels.base_counts(
            self.ranked, self.totals, self.starts, self.label_conditional, alphas, greater, equal
        )
        return greater, equal, alphas, lowest
