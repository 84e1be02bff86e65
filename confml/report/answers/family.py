"""The lines of a data set, and what is known of them: means, comparisons, coverage."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from confml.report.answers.differences import SIGNIFICANCE, Best, Difference

Split = tuple[str, str]  # name of the split, digest of its test rows


class Line(NamedTuple):
    """One row of a table: a view of a method variant on a data set.

    method: its label, with the run if there are several.
    """

    dataset: str
    method: str
    view: str


class Standing(NamedTuple):
    """Mean and sd over n splits.

    best: whether the mean is the best of its data set; only errors and set sizes are compared. p_value: of
    the comparison with the best one, corrected by Holm over all pairs; NaN if not tested. difference: minus
    the best one. interval: of 95 % of a mean cost, over all test rows.
    """

    mean: float
    sd: float
    n: int
    best: bool = False
    p_value: float = math.nan
    difference: Difference | None = None
    interval: tuple[float, float] | None = None

    @property
    def worse(self) -> bool:
        """Whether the mean is shown to be worse than the best one, at level 0.05."""
        return not self.best and self.p_value < SIGNIFICANCE


class Progress(NamedTuple):
    """Cells of a data set. done, planned: splits that are complete, and all. pending: cells to compute."""

    done: int
    planned: int
    pending: int

    @property
    def text(self) -> str:
        """The state as a phrase, such as "7 of 10 splits"; "" when nothing is to compute."""
        if not self.pending:
            return ""
        return f"{self.done} of {self.planned} split{'s' * (self.planned > 1)}"


class Family(NamedTuple):
    """The lines that are compared by one metric on one data set.

    found: verdicts on the lines, in their order. left_out: the others, with the reason. splits: the common
    ones; rows: number of different test rows. baselines: for each line of the method `BASELINE` the p-value
    of each line that has a lower mean, corrected by Holm over all of these comparisons, and 1 for the others.
    """

    lines: list[Line]
    found: Best
    left_out: Mapping[Line, str]
    splits: Sequence[Split]
    rows: int
    baselines: Mapping[Line, np.ndarray] = MappingProxyType({})

    def beats(self, line: Line, baseline: Line) -> bool:
        """Return whether a line is shown to be better than a baseline."""
        return bool(self.baselines[baseline][self.lines.index(line)] < SIGNIFICANCE)

    def against_baseline(self, first: Line, second: Line) -> float | None:
        """Return the p-value of a line and a baseline, in any order; None for two others."""
        for line, baseline in ((first, second), (second, first)):
            if line in self.lines and baseline in self.baselines:
                return float(self.baselines[baseline][self.lines.index(line)])
        return None

    def difference(self, line: Line) -> Difference | None:
        return self.found.differences[self.lines.index(line)] if line in self.lines else None

    def adjusted(self, line: Line) -> float:
        return float(self.found.adjusted[self.lines.index(line)]) if line in self.lines else math.nan

    def corrected(self, first: Line, second: Line) -> float:
        """Return the p-value of two lines, corrected by Holm over all pairs; NaN without a test."""
        if first not in self.lines or second not in self.lines:
            return math.nan
        return float(self.found.corrected[self.lines.index(first), self.lines.index(second)])

    def worse(self, line: Line) -> bool:
        """Return whether a line is shown to be worse than the best one."""
        return line in self.lines and self.found.worse(self.lines.index(line))

    @property
    def best(self) -> list[Line]:
        return [self.lines[place] for place in self.found.best]


class CoverageVerdict(NamedTuple):
    """Verdict on the coverage of a line at a level. p_value: of so low a coverage; NaN without a verdict.

    too_low: whether it is shown to be too low, after Holm's correction over the data sets of the method.
    shortfall: the smallest shortfall that would be shown (power 80 %), about; NaN without a promise.
    """

    p_value: float
    too_low: bool
    shortfall: float
