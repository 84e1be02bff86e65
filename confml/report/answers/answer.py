"""`Answer`: the best method of a data set, which others are shown to be worse, and what could be shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confml.report.answers.advice import Advice, advise
from confml.report.answers.best import FEW_SPLITS
from confml.report.answers.differences import SIGNIFICANCE, Difference
from confml.report.answers.majority import majority_of
from confml.report.answers.standings import Family, Line, Progress, Standings
from confml.report.answers.text import caution, listed, points
from confml.report.answers.thresholds import Decided


@dataclass(frozen=True)
class Other:
    """Another method. difference: its error minus the best one, None where there is none; adjusted: p-value
    after Holm's correction over all pairs, NaN without a test. reason: why it is not compared, or ""."""

    label: str
    error: float
    difference: Difference | None
    adjusted: float
    reason: str = ""

    @property
    def worse(self) -> bool:
        return bool(self.adjusted < SIGNIFICANCE)


@dataclass(frozen=True)
class Answer:
    """The answer for one data set.

    best: label of the line with the lowest mean error; tied: labels of all such lines. others: the first view
    of each other method, by mean error. pairs: number of pairs of lines that are compared. missing: labels of
    methods of the config without results. majority: error of the most frequent class of training, NaN if it
    is unknown or differs between runs.
    """

    dataset: str
    progress: Progress
    best: str
    tied: tuple[str, ...]
    error: float
    sd: float
    splits: int
    test_rows: int
    others: tuple[Other, ...]
    pairs: int
    detectable: float
    missing: tuple[str, ...]
    decided: Decided
    advice: Advice
    majority: float = math.nan

    @property
    def compared(self) -> list[Other]:
        return [one for one in self.others if not one.reason]

    @property
    def lowest(self) -> str:
        """The methods with the lowest error; several if they are tied."""
        return listed([self.best, *(one.label for one in self.compared if one.label in self.tied)])

    @property
    def alike(self) -> list[str]:
        """Labels of the methods that are compared and not shown to be worse."""
        return [one.label for one in self.compared if not one.worse]

    @property
    def not_compared(self) -> str:
        """The methods that are not compared, with the reason; "" without such methods."""
        by_reason: dict[str, list[str]] = {}
        for one in self.others:
            if one.reason:
                by_reason.setdefault(one.reason, []).append(one.label)
        if self.missing:
            by_reason["no results"] = list(self.missing)
        return "; ".join(f"{listed(labels)} ({reason})" for reason, labels in by_reason.items())

    @property
    def so_far(self) -> str:
        """A sentence on what is still to be computed; "" if everything is."""
        if not self.progress.pending:
            return ""
        cells = f"{self.progress.pending} cell{'s' * (self.progress.pending > 1)}"
        return (
            f"So far {self.progress.text} of {self.dataset} are complete; {cells} are still to be computed, "
            f"and "
            "no method is compared before."
        )

    @property
    def sentence(self) -> str:
        """Which method has the lowest error, by how much, and how many others are shown to be worse."""
        if self.progress.pending:
            return self.so_far
        spread = f" ± {points(self.sd)}" if not math.isnan(self.sd) else ""
        over = f"over {self.splits} splits" if self.splits > 1 else f"on {self.test_rows} test examples"
        rest = f" Not compared: {self.not_compared}." if self.not_compared else ""
        compared = self.compared
        if not compared:
            text = f"{self.best} has an error of {points(self.error)}{spread} % {over}"
            return f"{text}; nothing to compare with.{rest}"
        text = f"{self.best} has the lowest error, {points(self.error)}{spread} % {over}"
        text += f"; {self._next(compared[0])}."
        worse = len(compared) - len(self.alike)
        if worse:
            are = "is" if worse == 1 else "are"
            others = (
                f"the other method {are}"
                if len(compared) == 1
                else f"{worse} of {len(compared)} others {are}"
            )
            text += f" {others[0].upper()}{others[1:]} shown to be worse (5 %, Holm over all pairs)."
        care = caution(self.splits, FEW_SPLITS)
        return text + (f" {care[0].upper()}{care[1:]}." if care else "") + rest

    def _next(self, one: Other) -> str:
        if one.difference is None or abs(one.difference.difference) < 5e-10:
            text = f"{one.label} has the same"
        else:
            text = f"{one.label} follows with {points(one.difference.difference)} points more"
        if one.difference is None or math.isnan(one.difference.error):
            return text
        low, high = one.difference.interval(self.pairs)
        simultaneous = "simultaneous 95 %" if self.pairs > 1 else "95 %"
        return f"{text} ({simultaneous} interval of the difference {points(low)} to {points(high)})"


def answer(
    standings: Standings,
    dataset: str,
    decided: Decided | None = None,
    missing: Sequence[str] = (),
    aim: str = "error",
) -> Answer | None:
    """Return the answer for one data set, with the advice for an aim; None without results."""
    lines = standings.of_dataset(dataset)
    errors = {line: one for line in lines if (one := standings.of(line, "error")) is not None}
    if not errors:
        return None
    family = standings.family(dataset)
    if family is not None and family.best:
        best = family.best[0]
    else:
        best = min(
            errors, key=lambda line: (errors[line].mean, not standings.is_first(line), lines.index(line))
        )
    own = errors[best]
    others = []
    for line, one in errors.items():
        if line.method != best.method and standings.is_first(line):
            others.append(_other(standings, family, line, one.mean))
    others.sort(key=lambda other: (other.error, other.label))
    decided = decided or Decided()
    constant = majority_of(standings, dataset)
    return Answer(
        dataset,
        standings.progress(dataset),
        standings.label(best),
        tuple(standings.label(line) for line in family.best) if family is not None else (),
        own.mean,
        own.sd,
        own.n,
        standings.test_rows(best),
        tuple(others),
        family.found.pairs if family is not None else 0,
        family.found.detectable if family is not None else math.nan,
        tuple(missing),
        decided,
        advise(standings, dataset, aim, decided),
        constant[0].error.mean if len(constant) == 1 else math.nan,
    )


def _other(standings: Standings, family: Family | None, line: Line, error: float) -> Other:
    label = standings.label(line)
    if family is None:
        return Other(label, error, None, math.nan, "cells are still to be computed")
    reason = family.left_out.get(line, "")
    return Other(label, error, family.difference(line), family.adjusted(line), reason)
