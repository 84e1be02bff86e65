"""`CoverageOfGroups`: coverage of a variant by class and by region size, each test row counted once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.conditional import (
    GroupCoverage,
    covered_rows,
    fewest_rows,
    size_strata,
    stratum_name,
)
from confml.measures.coverage_band import counted_examples, coverage_band
from confml.report.calibration_parts import case_of


class GroupLine(NamedTuple):
    """Coverage of one group. band_low, band_high: None without a band. few: fewer than 5 / level rows."""

    by: str
    group: Any
    rows: int
    covered: int
    coverage: float
    low: float
    high: float
    band_low: float | None
    band_high: float | None
    few: int


class CoverageOfGroups:
    """Collect the test rows of a view over the splits; of several repeats, the first one that tests a row."""

    def __init__(self):
        self._seen: set[int] = set()
        self._parts: list[tuple[Case, np.ndarray | None]] = []

    def add(self, result, prediction) -> None:
        """Add the new test rows of one view of a finished cell."""
        rows = np.asarray(result.rows).tolist()
        new = [place for place, row in enumerate(rows) if row not in self._seen]
        if new:
            self._seen.update(rows[place] for place in new)
            whole = case_of(result, prediction)
            counted = counted_examples(whole) if prediction.kind == "p-value" else None
            case = Case(prediction.take(new), result.truth[new], context=whole.context)
            self._parts.append((case, None if counted is None else counted[new]))

    def lines(self, level: float) -> Iterator[GroupLine]:
        """Yield a line for each class, then for each stratum of region sizes."""
        if not self._parts:
            return
        cases = [case for case, _ in self._parts]
        covered = np.concatenate([covered_rows(case, level) for case in cases])
        truth = np.concatenate([case.truth for case in cases])
        sizes = np.concatenate([case.prediction.region(level).sum(axis=1) for case in cases])
        yield from _groups("class", truth, covered, level, self._bands(truth, level))
        for line in _groups("size", size_strata(sizes), covered, level, {}):
            yield line._replace(group=stratum_name(line.group))

    def _bands(self, truth: np.ndarray, level: float) -> dict[Any, tuple[float, float]]:
        """Return the band of valid p-values by class; empty for views without p-values."""
        first = self._parts[0][0].prediction
        if first.kind != "p-value":
            return {}
        counted = [part for _, part in self._parts if part is not None]
        among = np.concatenate(counted) if len(counted) == len(self._parts) else None
        bands = {}
        for label in np.unique(truth).tolist():
            mine = truth == label
            least = None if among is None else int(among[mine].min())
            bands[label] = coverage_band([(int(mine.sum()), least)], level, "tau" in first.extra)
        return bands


def _groups(by: str, groups: np.ndarray, covered: np.ndarray, level: float, bands) -> Iterator[GroupLine]:
    labels = np.unique(groups).tolist()
    for label in labels:
        mine = groups == label
        found = GroupCoverage.of(int(mine.sum()), int(np.count_nonzero(covered[mine])), len(labels))
        low, high = bands.get(label, (None, None))
        numbers = found.rows, found.covered, found.share, found.low, found.high
        yield GroupLine(by, label, *numbers, low, high, int(found.rows < fewest_rows(level)))
