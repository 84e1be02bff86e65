"""Numbers of one view of a cell for the page: regions at all levels, and bins of the confidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from confml.measures.block import Block
from confml.report.page.levels import level_counts

BINS = 10


@dataclass
class Bins:
    """Counts of predictions in bins of their confidence: examples, correct ones, sum of confidences."""

    n: np.ndarray = field(default_factory=lambda: np.zeros(BINS))
    correct: np.ndarray = field(default_factory=lambda: np.zeros(BINS))
    confidence: np.ndarray = field(default_factory=lambda: np.zeros(BINS))

    def add(self, n: np.ndarray, correct: np.ndarray, confidence: np.ndarray) -> None:
        """Add the numbers (`BINS`,) of one test part."""
        self.n += n
        self.correct += correct
        self.confidence += confidence


class ViewNumbers(NamedTuple):
    """Numbers of one test part.

    region_errors, set_sizes: (m,) error rate and mean size of the regions at the levels of the page; None
    without regions. bins: as `Bins.add` takes them; None without shares.
    """

    region_errors: np.ndarray | None
    set_sizes: np.ndarray | None
    bins: tuple[np.ndarray, np.ndarray, np.ndarray] | None


def numbers_of(block: Block, levels: np.ndarray) -> list[ViewNumbers]:
    """Return the numbers of each case of a block at levels (m,)."""
    cases, m, whole = len(block), len(levels), block.whole
    prediction, n = whole.prediction, block.sizes[:, None]
    errors: list = [None] * cases
    sizes, bins = list(errors), list(errors)
    if prediction.has_regions:
        counts, columns = level_counts(prediction, levels), whole.true_columns
        of_truth = np.where(columns >= 0, counts[np.arange(len(counts)), columns], 0)
        errors = list(_at_most(of_truth[:, None], block, m) / n)
        sizes = list((counts.shape[1] * n - _at_most(counts, block, m)) / n)
    if prediction.kind in ("probability", "vote", "envelope", "posterior"):
        top = prediction.scores.max(axis=1)
        finite = block.totals(~np.isfinite(top)) == 0
        top = np.clip(np.where(np.isfinite(top), top, 0), 0, 1)
        place = block.of_case * BINS + np.clip((top * BINS).astype(np.intp), 0, BINS - 1)
        found = [
            np.bincount(place, weights, minlength=cases * BINS).reshape(cases, BINS)
            for weights in (None, whole.correct, top)
        ]
        bins = [own if good else None for *own, good in zip(*found, finite.tolist(), strict=True)]
    return [ViewNumbers(*own) for own in zip(errors, sizes, bins, strict=True)]


def _at_most(counts: np.ndarray, block: Block, m: int) -> np.ndarray:
    """Return (s, m) how many counts (N, c) of each case are at most 0, 1, ... m - 1."""
    places = block.of_case[:, None] * (m + 1) + counts
    found = np.bincount(places.ravel(), minlength=len(block) * (m + 1)).reshape(len(block), m + 1)
    return np.cumsum(found, axis=1)[:, :m]
