"""`VennAbersTable`: probabilities of an event by inductive Venn-Abers prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confml.methods.venn_abers import _kernels as kernels


@dataclass(frozen=True, eq=False)
class VennAbersTable:
    """Lower and upper probability of an event for every score.

    ``p1`` (``p0``) is the isotonic regression of the labels on the scores, read off at the score s of a new
    example that is added with label 1 (0). Equal scores are one group. Without calibration examples p0 = 0
    and p1 = 1.

    scores: (k,) distinct calibration scores in ascending order. with_one: (k + 1,) p1 by the number of scores
    below s. without: (k + 1,) 1 - p0 by the number of scores up to s.
    """

    scores: np.ndarray
    with_one: np.ndarray
    without: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, happened: np.ndarray) -> VennAbersTable:
        """Return the table for calibration scores (m,) and whether the event happened (m,) bool."""
        distinct, places = np.unique(scores, return_inverse=True)
        rows = np.bincount(places, minlength=len(distinct))
        ones = np.bincount(places[happened], minlength=len(distinct))
        # 1 - p0 is p1 of the opposite event on the reversed scale.
        reversed_ = kernels.table_with_one(rows[::-1].copy(), (rows - ones)[::-1].copy())
        return cls(distinct, kernels.table_with_one(rows, ones), reversed_[::-1].copy())

    def probabilities(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p1 and 1 - p0 of new scores (n,), both above 0."""
        below = np.searchsorted(self.scores, scores, side="left")
        up_to = np.searchsorted(self.scores, scores, side="right")
        return self.with_one[below], self.without[up_to]
