"""Halves of test parts, and thresholds that are certified together."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from confml._seeds import stable_generator
from confml.measures import Case
from confml.measures.certified import threshold_grids
from confml.measures.certified_paths import Path
from confml.runner.results import CellResult

RISKS, DELTA = (0.1, 0.05, 0.01), 0.05
MOST_ROWS = 10_000  # of the splits that are computed together
ALL, TRUE = "all", "true class"
SPLITS = 50  # whose paths are in memory at a time


class Candidate(NamedTuple):
    """One view of one cell: (n,) certainties, and codes of predicted and true labels.

    classes: class labels of training. The code of a true label that training does not have is -1.
    smallest_share: fraction of the training rows in the smallest class.
    """

    method: str
    params: str
    view: str
    certainty: np.ndarray
    predicted: np.ndarray
    true: np.ndarray
    classes: np.ndarray
    smallest_share: float

    @property
    def correct(self) -> np.ndarray:
        return self.predicted == self.true


SplitPaths = Mapping[tuple[str, float], list[Path]]
"""Paths of the candidates of one split by scope and limit."""
Part = tuple[tuple[str, str], Sequence[Candidate], np.ndarray, np.ndarray]
"""Data set and split, candidates, and the rows of the calibration half and of the other half."""


def joint_paths(parts: Sequence[Part]) -> Iterator[SplitPaths]:
    """Yield the paths of each split, in order."""
    for (half, rest, candidates), some in groupby(
        parts, key=lambda part: (len(part[2]), len(part[3]), len(part[1]))
    ):
        own = list(some)
        together = max(1, min(SPLITS, MOST_ROWS // (half + rest)))
        for start in range(0, len(own), together):
            yield from _of_splits(own[start : start + together], candidates)


def _of_splits(parts: Sequence[Part], candidates: int) -> list[SplitPaths]:
    delta = DELTA / candidates
    paths: list[dict[tuple[str, float], list[Path]]] = [{} for _ in parts]
    owners = [(number, one, half, rest) for number, (_, own, half, rest) in enumerate(parts) for one in own]
    cuts = [
        (one.certainty[rest], one.certainty[half], one.correct[half], one.true[half])
        for _, one, half, rest in owners
    ]
    columns = [np.stack(column) for column in zip(*cuts, strict=True)]
    forms: dict[str, dict[tuple[int, int], list[int]]] = {ALL: {}, TRUE: {}}
    for number, (_, one, half, _) in enumerate(owners):
        # The strictest threshold for the risk of every class should accept enough rows of the smallest class.
        of_class = int(len(half) * one.smallest_share), len(one.classes)
        for scope, form in ((ALL, (len(half), 1)), (TRUE, of_class)):
            forms[scope].setdefault(form, []).append(number)
    for risk in RISKS:
        for scope, alike in forms.items():
            found: dict[int, Path] = {}
            for (rows, classes), numbers in alike.items():
                others, certainty, correct, true = (column[numbers] for column in columns)
                given = certainty, correct, threshold_grids(others, rows, risk, delta), risk
                own = Path.of_parts(*given, true if scope == TRUE else None, classes)
                found.update(zip(numbers, own, strict=True))
            for number, (part, *_) in enumerate(owners):
                paths[part].setdefault((scope, risk), []).append(found[number])
    return [dict(own) for own in paths]


def halves(result: CellResult) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the calibration half and of the other half, equal for all methods."""
    return _halves(result.cell.dataset, result.cell.split, len(result.truth))


@functools.lru_cache(maxsize=256)  # of the splits of one data set, which all methods have
def _halves(dataset: str, split: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = stable_generator("certified", dataset, split)
    half, rest = np.array_split(rng.permutation(rows), 2)
    return half, rest


def has_halves(case: Case) -> bool:
    """Return whether a view has rows with confidences for both halves, all predicted by one classifier."""
    rows = case.prediction
    return len(rows) >= 2 and "learnt" not in rows.extra and not np.isnan(case.certainty).any()
