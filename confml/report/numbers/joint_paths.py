"""Paths of thresholds of all candidates of a data set, for thresholds that are certified together.

The paths of small test parts are computed together for many splits. They are those of `Path.of_errors` and
`Path.of_every_class`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from confml.measures.certified import counts_at, threshold_grid, threshold_grids
from confml.measures.certified_paths import Path
from confml.measures.risk_control import binomial_p_value

RISKS, DELTA = (0.1, 0.05, 0.01), 0.05
MOST_TOGETHER = 200
"""Largest number of rows of cases that are computed together: all rows are compared with all thresholds."""
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
        together = SPLITS if half + rest <= MOST_TOGETHER else 1
        for start in range(0, len(own), together):
            yield from _of_splits(own[start : start + together], candidates)


def _of_splits(parts: Sequence[Part], candidates: int) -> list[SplitPaths]:
    delta = DELTA / candidates
    paths: list[dict[tuple[str, float], list[Path]]] = [{} for _ in parts]
    owners = [(number, one, half, rest) for number, (_, own, half, rest) in enumerate(parts) for one in own]
    cuts: list[tuple[np.ndarray, ...]] = []
    if len(parts[0][2]) + len(parts[0][3]) <= MOST_TOGETHER:
        cuts = [
            (one.certainty[rest], one.certainty[half], one.correct[half], one.true[half])
            for _, one, half, rest in owners
        ]
    for risk in RISKS:
        for scope in (ALL, TRUE):
            for path, (number, *_) in zip(_paths(scope, owners, cuts, risk, delta), owners, strict=True):
                paths[number].setdefault((scope, risk), []).append(path)
    return [dict(own) for own in paths]


def _paths(
    scope: str, owners: Sequence[tuple], cuts: Sequence[tuple[np.ndarray, ...]], risk: float, delta: float
) -> list[Path]:
    """Return the path of each (split, candidate, half, rest). cuts: their arrays, if they are small."""
    if not cuts:
        of = path_of_all if scope == ALL else path_of_true_classes
        return [of(one, half, rest, risk, delta) for _, one, half, rest in owners]
    found: list[Path | None] = [None] * len(owners)
    alike: dict[tuple[int, int], list[int]] = {}
    for number, (_, one, half, _) in enumerate(owners):
        form = (int(len(half) * one.smallest_share), len(one.classes)) if scope == TRUE else (len(half), 0)
        alike.setdefault(form, []).append(number)
    for (rows, classes), numbers in alike.items():
        certainty, half_certainty, correct, true = (
            np.stack(column) for column in zip(*(cuts[number] for number in numbers), strict=True)
        )
        grids = threshold_grids(certainty, rows, risk, delta)
        if scope == ALL:
            accepted, errors = counts_at(half_certainty, correct, grids)
            p = binomial_p_value(errors, accepted, risk)
        else:
            p, (accepted, errors) = np.zeros(grids.shape), np.zeros((2, *grids.shape), dtype=np.int64)
            accepts = half_certainty[:, None, :] >= grids[:, :, None]
            for code in range(classes):
                mine = accepts & (true == code)[:, None, :]
                own, wrong = mine.sum(axis=2), (mine & ~correct[:, None, :]).sum(axis=2)
                p = np.maximum(p, binomial_p_value(wrong, own, risk))
                accepted, errors = accepted + own, errors + wrong
        different = np.ones(grids.shape, dtype=bool)
        different[:, 1:] = grids[:, 1:] != grids[:, :-1]
        for place, (number, kept) in enumerate(zip(numbers, different, strict=True)):
            columns = (one[place][kept] for one in (grids, p, accepted, errors))
            found[number] = Path(None, *columns)
    return [path for path in found if path is not None]


def path_of_all(one: Candidate, half, rest, risk: float, delta: float) -> Path:
    """Return the path of the risk of all accepted rows."""
    grid = threshold_grid(one.certainty[rest], len(half), risk, delta)
    return Path.of_errors(None, one.certainty[half], one.correct[half], grid, risk)


def path_of_true_classes(one: Candidate, half, rest, risk: float, delta: float) -> Path:
    """Return the path of the risk of every class.

    The strictest threshold should accept enough rows of the smallest class.
    """
    grid = threshold_grid(one.certainty[rest], int(len(half) * one.smallest_share), risk, delta)
    return Path.of_every_class(
        None, one.certainty[half], one.correct[half], grid, risk, one.true[half], len(one.classes)
    )
