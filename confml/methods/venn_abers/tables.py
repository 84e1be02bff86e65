"""`VennAbersTable`: probabilities of an event by inductive Venn-Abers prediction."""

from dataclasses import dataclass

import numpy as np

from confml.methods.conformal.scores import rounding_errors
from confml.methods.venn_abers import _kernels as kernels


@dataclass(frozen=True, eq=False)
class VennAbersTable:
    """Lower and upper probability of an event for every score.

    ``p1`` (``p0``) is the isotonic regression of the labels on the scores, read off at the score s of a new
    example that is added with label 1 (0). Equal scores are one group. Without calibration examples p0 = 0
    and p1 = 1.

    Scores are equal up to rounding errors, relative to the score or to ``size``: a classifier may give the
    same example another last digit in a batch of another size, and the example would then be in no group.

    lowest, highest: (k,) ends of the groups of equal calibration scores, ascending. with_one: (k + 1,) p1 by
    the number of groups below s. without: (k + 1,) 1 - p0 by the number of groups up to s.
    """

    lowest: np.ndarray
    highest: np.ndarray
    with_one: np.ndarray
    without: np.ndarray
    size: float

    stored = {
        "lowest": "f8(k)",
        "highest": "f8(k)",
        "with_one": "f8(k+1)",
        "without": "f8(k+1)",
        "size": "float",
    }

    @classmethod
    def of(cls, scores: np.ndarray, happened: np.ndarray, size: float = 0.0) -> "VennAbersTable":
        """Return the table for calibration scores (m,) and whether the event happened (m,) bool."""
        order = np.argsort(scores, kind="stable")
        placed = scores[order]
        rises = placed[1:] > placed[:-1] + rounding_errors(placed, size)[1:]
        starts = np.flatnonzero(np.append(True, rises)[: len(placed)])
        ends = np.append(starts[1:], len(placed))[: len(starts)]
        rows = ends - starts
        seen = np.append(0, np.cumsum(happened[order], dtype=np.int64))
        ones = seen[ends] - seen[starts]
        # 1 - p0 is p1 of the opposite event on the reversed scale.
        reversed_ = kernels.table_with_one(rows[::-1].copy(), (rows - ones)[::-1].copy())
        with_one = kernels.table_with_one(rows, ones)
        return cls(placed[starts], placed[ends - 1], with_one, reversed_[::-1].copy(), size)

    def probabilities(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p1 and 1 - p0 of new scores (n,), both above 0."""
        order = np.argsort(scores)  # the searches of sorted scores are ten times as fast
        scores = scores[order]
        near = rounding_errors(scores, self.size)
        p1, rest = np.empty(len(scores)), np.empty(len(scores))
        p1[order] = self.with_one[np.searchsorted(self.highest, scores - near, side="left")]
        rest[order] = self.without[np.searchsorted(self.lowest, scores + near, side="right")]
        return p1, rest
