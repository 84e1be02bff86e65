"""Answers for a data set and for a run: the best method, the others, the state of the run and its advice."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from confml.data.text_table import counted
from confml.report.answers.advice import TITLES, Advice, advise, overall
from confml.report.answers.differences import FEW_SPLITS, SIGNIFICANCE, Comparison, Difference
from confml.report.answers.lines import Line, Progress
from confml.report.answers.standings import Standings
from confml.report.answers.text import caution, detectable_text, listed, percent, points
from confml.report.answers.thresholds import Decided
from confml.report.files import natural
from confml.report.run.cells import Failure
from confml.report.run.results import RunResults


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
    methods of the config without results.
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
    lines = standings.compared(dataset)
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
        family.pairs if family is not None else 0,
        family.detectable if family is not None else math.nan,
        tuple(missing),
        decided,
        advise(standings, dataset, aim, decided),
    )


def _other(standings: Standings, family: Comparison | None, line: Line, error: float) -> Other:
    label = standings.label(line)
    if family is None:
        return Other(label, error, None, math.nan, "cells are still to be computed")
    reason = family.left_out.get(line, "")
    return Other(label, error, family.difference(line), family.adjusted(line), reason)


MOST_CAUSES = 8
"""Number of causes of failures that are listed; the others are counted."""


@dataclass(frozen=True)
class Cause:
    """Failures with the same error: label of the method, error, and number of cells by data set."""

    label: str
    error: str
    cells: dict[str, int]

    @property
    def sentence(self) -> str:
        number = sum(self.cells.values())
        where = f" on {len(self.cells)} data sets" if len(self.cells) > 1 else f" on {next(iter(self.cells))}"
        return f"{self.label}: {number} cell{'s' * (number > 1)}{where}: {self.error}"


def causes(failures: Iterable[Failure], label) -> list[Cause]:
    """Return the failures by method and error, most cells first; errors that differ in numbers are the same.

    label: returns the label of the method of a cell.
    """
    found: dict[tuple[str, str], Cause] = {}
    for one in sorted(failures, key=lambda one: (natural(one.cell.title), one.error)):
        error = " ".join(one.error.split())
        key = label(one.cell), re.sub(r"\d+(?:\.\d+)?", "#", error)
        cause = found.setdefault(key, Cause(key[0], error, {}))
        cause.cells[one.cell.dataset] = cause.cells.get(one.cell.dataset, 0) + 1
    return sorted(found.values(), key=lambda cause: (-sum(cause.cells.values()), cause.label, cause.error))


def state(results: RunResults) -> str:
    """Return what is missing in a run as a sentence; "" if all cells are done."""
    planned, failed = len(results.cells), len(results.failures)
    left = planned - results.done - failed
    if not (failed or left):
        return ""
    parts = [f"{failed} of {planned} cells failed"] if failed else []
    if left:
        parts.append(f"{left} of {planned} cells are still to be computed; run the same command again")
    return f"{'Incomplete' if left else 'Failures'}: {', and '.join(parts)}."


@dataclass(frozen=True)
class RunAnswer:
    """The answer of a run, or of several.

    banner: what is missing, or "". overall: advice over data sets, or None. found: by data set. empty: data
    sets without results. failures: causes of failures as sentences.
    """

    aim: str
    banner: str
    overall: Advice | None
    found: Sequence[Answer]
    empty: Sequence[str] = ()
    failures: Sequence[str] = ()

    @property
    def complete(self) -> list[Answer]:
        """The answers for the data sets without cells to compute."""
        return [one for one in self.found if not one.so_far]

    @property
    def sentences(self) -> list[str]:
        """The advice, then its evidence."""
        if not self.found:
            return ["No cell is done yet, so there is no answer."]
        first = [f"There are no results on {listed(self.empty)}."] if self.empty else []
        if len(self.found) == 1:
            (one,) = self.found
            return [*first, *of_dataset(one)]
        whole = self.complete
        if len(whole) < len(self.found):
            open_ones = listed([f"{one.dataset} ({one.progress.text})" for one in self.found if one.so_far])
            first.append(
                f"So far {len(whole)} of {len(self.found) + len(self.empty)} data sets are complete; no "
                f"method is compared on {open_ones}."
            )
        if not whole:
            return first
        advice = [] if self.overall is None else [self.overall.head, self.overall.rest]
        return [*first, *advice, _lowest(whole, self.aim), _accepted(whole)]

    @property
    def short(self) -> list[str]:
        """The advice over all data sets, or for the only one."""
        if len(self.found) == 1:
            (one,) = self.found
            return [one.so_far or (one.advice.sentence if one.compared else one.sentence)]
        return [] if self.overall is None else [self.overall.sentence]

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON."""
        return {
            "aim": self.aim,
            "title": TITLES[self.aim],
            "state": self.banner,
            "short": self.short,
            "sentences": list(self.sentences),
            "overall": None if self.overall is None else self.overall.as_dict(),
            "datasets": {one.dataset: one.advice.as_dict() for one in self.found},
            "failures": list(self.failures),
        }


def run_answer(
    standings: Standings, found: Sequence[Answer], planned: Sequence[str], aim: str = "error"
) -> RunAnswer:
    """Return the answer of the runs of the standings. planned: names of all data sets."""
    runs = [results for _, results in standings.runs]
    failed = [(one.cell.dataset, results.label(one.cell)) for results in runs for one in results.failures]
    grouped = [cause.sentence for results in runs for cause in causes(results.failures, results.label)]
    if len(grouped) > MOST_CAUSES:
        grouped = [*grouped[:MOST_CAUSES], _more_causes(len(grouped) - MOST_CAUSES)]
    known = {one.dataset for one in found}
    return RunAnswer(
        aim,
        " ".join(filter(None, map(state, runs))),
        overall(standings, aim, failed)[0],
        found,
        list(dict.fromkeys(name for name in planned if name not in known)),
        grouped,
    )


def _more_causes(count: int) -> str:
    return f"{counted(count, 'more cause')} {'is' if count == 1 else 'are'} in tables/failures.csv"


def of_dataset(one: Answer) -> list[str]:
    """Return the answer for one data set as sentences; only what is missing before all cells are done."""
    if one.so_far:
        return [one.so_far]
    if not one.compared:
        return [one.sentence, one.decided.sentence]
    texts = [one.advice.head, one.advice.rest, one.sentence, one.decided.sentence]
    return list(dict.fromkeys(filter(None, texts)))


def _lowest(found: Sequence[Answer], aim: str) -> str:
    """Return where each method is the best, and how often all others are shown to be worse."""
    wins: dict[str, list[str]] = {}
    for one in found:
        if aim == "error":
            wins.setdefault(one.lowest, []).append(f"{one.dataset} ({points(one.error)} %)")
        elif one.advice.best is not None:
            wins.setdefault(one.advice.best, []).append(f"{one.dataset} ({one.advice.value})")
    order = sorted(wins, key=lambda label: -len(wins[label]))
    best = "; ".join(f"{label} on {listed(wins[label])}" for label in order[:4])
    rest = f"; {counted(len(order) - 4, 'other method')} on the other data sets" if len(order) > 4 else ""
    if aim != "error":
        title = TITLES[aim]
        return f"{title[0].upper()}{title[1:]}: {best or 'none on any data set'}{rest}."
    tested = [one for one in found if one.compared]
    if not tested:
        return f"Errors: {best}{rest}; nothing to compare with."
    clear = sum(not one.alike for one in tested)
    where = (
        f"{clear} of {len(tested)} data sets all other methods are" if clear else "no data set are all others"
    )
    return (
        f"Lowest error: {best}{rest}. On {where} shown to be worse (5 %, Holm over all pairs); "
        f"{detectable_text([one.detectable for one in tested])}."
    )


def _accepted(found: Sequence[Answer]) -> str:
    """Return the range of certified shares, or that of shares chosen on the test rows."""
    certified = [one.decided for one in found if one.decided.certified is not None]
    if certified and any(one.certified for one in certified):
        return (
            f"Certified thresholds accept {_range([one.certified or 0.0 for one in certified])} of "
            "new predictions at a risk of at most 1 %, depending on the data set."
        )
    none = "No threshold is certified for a risk of at most 1 %. " if certified else ""
    return (
        f"{none}On the test rows, {_range([one.decided.observed for one in found])} of the predictions of a "
        "method have an observed risk of at most 1 %; method and threshold were chosen on these rows, so "
        "expect a higher risk."
    )


def _range(shares: Sequence[float]) -> str:
    """Return "2 % to 92 %", or one number if both ends are the same."""
    return " to ".join(dict.fromkeys(percent(one, 0) for one in (min(shares), max(shares))))
