"""Numbers of one view of a cell for the page: regions at many levels at once, and bins of the confidence."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from confml.measures.block import Block
from confml.report.numbers.region_levels import level_counts

GRID = (
    *(0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15),
    *(0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
)
DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=np.uint8)
MOST = len(DIGITS) - 1


def page_levels(config_levels: Iterable[float]) -> np.ndarray:
    """Return the significance levels of the page in ascending order: those of the config and of `GRID`."""
    own = list(dict.fromkeys(map(float, config_levels)))[:MOST]
    others = [level for level in GRID if level not in own][: MOST - len(own)]
    return np.array(sorted([*own, *others]))


def packed(counts: np.ndarray) -> str:
    """Return (n, c) counts as one text, with one character of `DIGITS` for each count, row by row."""
    return DIGITS[np.ascontiguousarray(counts)].tobytes().decode("ascii")


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
