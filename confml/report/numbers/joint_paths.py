"""Paths of thresholds of all candidates of a data set, for thresholds that are certified together.

The paths of small test parts are computed together for many splits.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from confml.measures.certified import threshold_grids
from confml.measures.certified_paths import Path

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
    for risk in RISKS:
        for scope in (ALL, TRUE):
            for path, (number, *_) in zip(_paths(scope, owners, risk, delta), owners, strict=True):
                paths[number].setdefault((scope, risk), []).append(path)
    return [dict(own) for own in paths]


def _paths(scope: str, owners: Sequence[tuple], risk: float, delta: float) -> list[Path]:
    """Return the path of each (split, candidate, half, rest).

    The strictest threshold for the risk of every class should accept enough rows of the smallest class.
    """
    found: dict[int, Path] = {}
    alike: dict[tuple[int, int], list[int]] = {}
    for number, (_, one, half, _) in enumerate(owners):
        form = (int(len(half) * one.smallest_share), len(one.classes)) if scope == TRUE else (len(half), 0)
        alike.setdefault(form, []).append(number)
    for (rows, classes), numbers in alike.items():
        cuts = [
            (one.certainty[rest], one.certainty[half], one.correct[half], one.true[half])
            for _, one, half, rest in (owners[number] for number in numbers)
        ]
        others, certainty, correct, true = (np.stack(column) for column in zip(*cuts, strict=True))
        given = certainty, correct, threshold_grids(others, rows, risk, delta), risk
        paths = Path.of_parts(*given, true, classes) if scope == TRUE else Path.of_parts(*given)
        found.update(zip(numbers, paths, strict=True))
    return [found[number] for number in range(len(owners))]
