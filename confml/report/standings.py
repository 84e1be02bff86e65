"""`Standing`: the mean of a metric, and whether a method differs from the best one of a data set.

The best mean of a data set is compared with every other mean on the same splits: by the corrected resampled
t test (Nadeau and Bengio), or, for the error on a single split, by McNemar's exact test on the test examples.
The p-values of one metric and data set are corrected by Holm. Set sizes and shares of regions are compared
only among methods whose coverage is at least 1 - level, within two standard errors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.measures import known_metrics
from confml.measures.comparison import corrected_t
from confml.measures.distributions import binomial_test
from confml.measures.ranks import holm
from confml.report.collectors import Collector
from confml.report.summaries import mean_and_sd

if TYPE_CHECKING:
    from confml.report.metric_rows import CellMetrics
    from confml.report.results import RunResults
    from confml.runner.plan import Cell
    from confml.runner.results import CellResult

SIGNIFICANCE = 0.05
REGION_METRICS = {"mean_region_size", "one_class", "two_or_more", "correct_of_one_class"}
"""Metrics of regions that are compared only among lines with valid regions."""


class Line(NamedTuple):
    """One row of a table: a view of a method variant on a data set."""

    dataset: str
    method: str
    view: str


class Standing(NamedTuple):
    """Mean and sd over n splits. p_value: of the comparison with the best mean; NaN if not tested.

    best: whether the mean is the best of its data set; False for a metric without a better direction.
    """

    mean: float
    sd: float
    n: int
    best: bool = False
    p_value: float = math.nan

    @property
    def worse(self) -> bool:
        """Whether the mean differs significantly from the best one, at level 0.05."""
        return not self.best and self.p_value < SIGNIFICANCE


class SplitSizes(Collector):
    """Rows of the splits, for the tests of differences.

    rows: numbers of training and test rows by cell key. wrong: by cell key and view, whether each prediction
    is wrong, in the order of row numbers as packed bits; only of data sets with a single split.
    """

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.rows: dict[str, tuple[int, int]] = {}
        self.wrong: dict[tuple[str, str], np.ndarray] = {}
        splits: dict[str, set[str]] = {}
        for cell in results.cells:
            splits.setdefault(cell.dataset, set()).add(cell.split)
        self._single = {dataset for dataset, own in splits.items() if len(own) == 1}

    def add(self, result: CellResult) -> None:
        cell = result.cell
        self.rows[cell.key] = result.split_train_rows, len(result.truth)
        if cell.dataset in self._single:
            order = np.argsort(result.rows, kind="stable")
            for view, prediction in result.views.items():
                wrong = np.asarray(prediction.labels != result.truth)
                self.wrong[cell.key, view] = np.packbits(wrong[order])


class Standings:
    """The standings of all lines of a run, by metric and level.

    lines: `Line` objects in the order of the CSV files, which does not depend on the config.
    """

    def __init__(self, results: RunResults):
        self.results = results
        self._cells: dict[Line, dict[str, CellMetrics]] = {}
        for one in results.metrics.cells:  # in the order of the CSV files
            for view in one.views:
                line = Line(one.cell.dataset, results.label(one.cell), view)
                self._cells.setdefault(line, {})[one.cell.split] = one
        self.lines = list(self._cells)
        self._of_dataset: dict[str, list[Line]] = {}
        for line in self.lines:
            self._of_dataset.setdefault(line.dataset, []).append(line)
        self._found: dict[tuple, dict[Line, Standing]] = {}

    def of(self, line: Line, metric: str, level: float | None = None) -> Standing | None:
        """Return the standing of a line; None if it does not have the metric."""
        key = line.dataset, metric, level
        if key not in self._found:
            self._found[key] = self._compared(*key)
        return self._found[key].get(line)

    def in_config_order(self) -> list[Line]:
        """Return the lines in the order of the config."""
        cells = self.results.cells
        datasets = list(dict.fromkeys(cell.dataset for cell in cells))
        labels = list(dict.fromkeys(self.results.label(cell) for cell in cells))
        return sorted(self.lines, key=lambda line: (datasets.index(line.dataset), labels.index(line.method)))

    def splits(self, dataset: str) -> int:
        """Return the largest number of splits of a line of a data set."""
        return max((len(self._cells[line]) for line in self.lines if line.dataset == dataset), default=0)

    def test_text(self, lines: Sequence[Line] | None = None) -> str:
        """Return the name of the test of the error, for a legend."""
        counts = {self.splits(line.dataset) for line in (self.lines if lines is None else lines)}
        tests = ["corrected resampled t test"] if any(count > 1 for count in counts) else []
        tests += ["McNemar's exact test on one split"] if 1 in counts else []
        return f"{' or '.join(tests)}, Holm's correction per data set, level {SIGNIFICANCE}"

    def _compared(self, dataset: str, metric: str, level: float | None) -> dict[Line, Standing]:
        values: dict[Line, dict[str, float]] = {}
        for line in self._of_dataset[dataset]:
            own = {
                split: value
                for split, one in self._cells[line].items()
                if (value := one.value(line.view, metric, level)) is not None
            }
            if own:
                values[line] = own
        plain = {line: Standing(*mean_and_sd(list(own.values()))) for line, own in values.items()}
        declared = known_metrics().get(metric)
        sign = declared.sign if declared is not None and declared.direction else 0
        ranked = [line for line in plain if metric not in REGION_METRICS or self._is_valid(line, level)]
        best = best_of({line: plain[line].mean for line in ranked}, sign)
        if not best:
            return plain
        p_values = {line: self._p_value(best[0], line, values, metric) for line in ranked if line not in best}
        tested = [line for line, p in p_values.items() if not math.isnan(p)]
        corrected = dict(zip(tested, holm([p_values[line] for line in tested]).tolist(), strict=True))
        return {
            line: one._replace(best=line in best, p_value=corrected.get(line, math.nan))
            for line, one in plain.items()
        }

    def _is_valid(self, line: Line, level: float | None) -> bool:
        """Return whether the mean coverage is at least 1 - level, within two standard errors of one split.

        Small regions that leave out the true label too often are not better than others.
        """
        if level is None:
            return True
        cells = list(self._cells[line].values())
        found = [one.value(line.view, "coverage", level) for one in cells]
        mean, _, _ = mean_and_sd([value for value in found if value is not None])
        _, rows = self._sizes_of(cells[0].cell)
        error = math.sqrt(level * (1 - level) / max(rows, 1))
        return mean + 2 * error >= 1 - level

    def _p_value(
        self, best: Line, line: Line, values: Mapping[Line, Mapping[str, float]], metric: str
    ) -> float:
        common = [
            split
            for split, value in values[line].items()
            if not math.isnan(value) and not math.isnan(values[best].get(split, math.nan))
        ]
        if not common:
            return math.nan
        if len(common) == 1:
            if metric != "error":
                return math.nan
            first, second = (self._wrong(one, common[0]) for one in (best, line))
            return mcnemar(first, second) if len(first) == len(second) else math.nan
        sizes = self._sizes(best, common)
        if min(sizes) <= 0:
            return math.nan
        gaps = np.array([values[best][split] - values[line][split] for split in common])
        return corrected_t(gaps, *sizes).p_value if np.isfinite(gaps).all() else math.nan

    def _sizes(self, line: Line, splits: Sequence[str]) -> tuple[float, float]:
        found = [self._sizes_of(self._cells[line][split].cell) for split in splits]
        train_rows, test_rows = np.mean(found, axis=0)
        return float(train_rows), float(test_rows)

    def _sizes_of(self, cell: Cell) -> tuple[int, int]:
        """Return the numbers of training and test rows of a cell."""
        return self.results.collected(SplitSizes).rows[cell.key]

    def _wrong(self, line: Line, split: str) -> np.ndarray:
        cell = self._cells[line][split].cell
        known = self.results.collected(SplitSizes).wrong.get((cell.key, line.view))
        if known is not None:
            return np.unpackbits(known, count=self._sizes_of(cell)[1]).astype(bool)
        result = self.results.results[cell.key]
        wrong = np.asarray(result.views[line.view].labels != result.truth)
        return wrong[np.argsort(result.rows, kind="stable")]


def best_of(means: Mapping[Line, float], sign: int) -> list[Line]:
    """Return the lines with the best mean; none without a better direction (sign 0) or without two means."""
    known = {line: sign * round(mean, 12) for line, mean in means.items() if not math.isnan(mean)}
    if sign == 0 or len(known) < 2:
        return []
    top = max(known.values())
    return [line for line, value in known.items() if value == top]


def mcnemar(first: np.ndarray, second: np.ndarray) -> float:
    """Return the two-sided p-value of McNemar's exact test; first, second: (n,) whether each is wrong."""
    one, other = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return binomial_test(one, one + other)


@functools.lru_cache(maxsize=1)  # several sections and the console use them
def standings_of(results: RunResults) -> Standings:
    """Return the standings of a run."""
    return Standings(results)
