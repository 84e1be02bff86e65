"""The lines of a data set, and what is known of each of them."""

import math
from typing import NamedTuple

from confml.report.answers.differences import SIGNIFICANCE

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
    the comparison with the best one, corrected by Holm over all pairs; NaN if not tested. interval: of 95 %
    of a mean cost, over all test rows.
    """

    mean: float
    sd: float
    n: int
    best: bool = False
    p_value: float = math.nan
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


class CoverageVerdict(NamedTuple):
    """Verdict on the coverage of a line at a level. p_value: of so low a coverage; NaN without a verdict.

    too_low: whether it is shown to be too low, after Holm's correction over the data sets of the method.
    shortfall: the smallest shortfall that would be shown (power 80 %), about; NaN without a promise.
    """

    p_value: float
    too_low: bool
    shortfall: float
