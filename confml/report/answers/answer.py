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
        return [other for other in self.others if not other.reason]

    @property
    def lowest(self) -> str:
        """The methods with the lowest error; several if they are tied."""
        return listed([self.best, *(other.label for other in self.compared if other.label in self.tied)])

    @property
    def alike(self) -> list[str]:
        """Labels of the methods that are compared and not shown to be worse."""
        return [other.label for other in self.compared if not other.worse]

    @property
    def not_compared(self) -> str:
        """The methods that are not compared, with the reason; "" without such methods."""
        by_reason: dict[str, list[str]] = {}
        for other in self.others:
            if other.reason:
                by_reason.setdefault(other.reason, []).append(other.label)
        if self.missing:
            by_reason["no results"] = list(self.missing)
        return "; ".join(f"{listed(labels)} ({reason})" for reason, labels in by_reason.items())

    @property
    def so_far(self) -> str:
        """A sentence on the cells that are still to be computed; "" without such cells."""
        if not self.progress.pending:
            return ""
        cells = f"{self.progress.pending} cell{'s' * (self.progress.pending > 1)}"
        return (
            f"So far {self.progress.text} of {self.dataset} are complete; {cells} are still to be computed, "
            "and no method is compared before."
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
        text += f"; {self._runner_up(compared[0])}."
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

    @property
    def sentences(self) -> list[str]:
        """The advice, then its evidence; only the progress before all cells are done."""
        if self.so_far:
            return [self.so_far]
        advice = [self.advice.head, self.advice.rest] if self.compared else []
        return list(dict.fromkeys(filter(None, [*advice, self.sentence, self.decided.sentence])))

    def _runner_up(self, other: Other) -> str:
        if other.difference is None or abs(other.difference.difference) < 5e-10:
            text = f"{other.label} has the same"
        else:
            text = f"{other.label} follows with {points(other.difference.difference)} points more"
        if other.difference is None or math.isnan(other.difference.error):
            return text
        low, high = other.difference.interval(self.pairs)
        simultaneous = "simultaneous 95 %" if self.pairs > 1 else "95 %"
        return f"{text} ({simultaneous} interval of the difference {points(low)} to {points(high)})"


def answer_for(
    standings: Standings, dataset: str, decided: Decided, missing: Sequence[str], aim: str
) -> Answer | None:
    """Return the answer for one data set, with the advice for an aim; None without results."""
    lines = standings.compared(dataset)
    errors = {line: standing for line in lines if (standing := standings.of(line, "error")) is not None}
    if not errors:
        return None
    family = standings.family(dataset)
    if family is not None and family.best:
        best = family.best[0]
    else:
        best = min(
            errors, key=lambda line: (errors[line].mean, not standings.is_first(line), lines.index(line))
        )
    lowest = errors[best]
    others = []
    for line, standing in errors.items():
        if line.method != best.method and standings.is_first(line):
            others.append(_other(standings, family, line, standing.mean))
    others.sort(key=lambda other: (other.error, other.label))
    return Answer(
        dataset,
        standings.progress(dataset),
        standings.label(best),
        tuple(standings.label(line) for line in family.best) if family is not None else (),
        lowest.mean,
        lowest.sd,
        lowest.n,
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
    by_key: dict[tuple[str, str], Cause] = {}
    for failure in sorted(failures, key=lambda failure: (natural(failure.cell.title), failure.error)):
        error = " ".join(failure.error.split())
        key = label(failure.cell), re.sub(r"\d+(?:\.\d+)?", "#", error)
        cause = by_key.setdefault(key, Cause(key[0], error, {}))
        cause.cells[failure.cell.dataset] = cause.cells.get(failure.cell.dataset, 0) + 1
    return sorted(by_key.values(), key=lambda cause: (-sum(cause.cells.values()), cause.label, cause.error))


def state(results: RunResults) -> str:
    """Return a sentence on the failed and pending cells of a run; "" if all cells are done."""
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

    banner: failed and pending cells, or "". overall: advice over data sets, or None. answers: of the data
    sets. empty: data sets without results. failures: causes of failures as sentences.
    """

    aim: str
    banner: str
    overall: Advice | None
    answers: Sequence[Answer]
    empty: Sequence[str] = ()
    failures: Sequence[str] = ()

    @property
    def complete(self) -> list[Answer]:
        """The answers for the data sets without cells to compute."""
        return [answer for answer in self.answers if not answer.so_far]

    @property
    def sentences(self) -> list[str]:
        """The advice, then its evidence."""
        if not self.answers:
            return ["No cell is done yet, so there is no answer."]
        first = [f"There are no results on {listed(self.empty)}."] if self.empty else []
        if len(self.answers) == 1:
            return [*first, *self.answers[0].sentences]
        whole = self.complete
        if len(whole) < len(self.answers):
            open_ones = listed(
                [f"{answer.dataset} ({answer.progress.text})" for answer in self.answers if answer.so_far]
            )
            first.append(
                f"So far {len(whole)} of {len(self.answers) + len(self.empty)} data sets are complete; no "
                f"method is compared on {open_ones}."
            )
        if not whole:
            return first
        advice = [] if self.overall is None else [self.overall.head, self.overall.rest]
        return [*first, *advice, _lowest(whole, self.aim), _accepted(whole)]

    @property
    def short(self) -> list[str]:
        """The advice over all data sets, or for the only one."""
        if len(self.answers) == 1:
            (answer,) = self.answers
            return [answer.so_far or (answer.advice.sentence if answer.compared else answer.sentence)]
        return [] if self.overall is None else [self.overall.sentence]

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON."""
        return {
            "aim": self.aim,
            "title": TITLES[self.aim],
            "state": self.banner,
            "short": self.short,
            "sentences": self.sentences,
            "overall": None if self.overall is None else self.overall.as_dict(),
            "datasets": {answer.dataset: answer.advice.as_dict() for answer in self.answers},
            "failures": list(self.failures),
        }


def run_answer(
    standings: Standings, answers: Sequence[Answer], planned: Sequence[str], aim: str = "error"
) -> RunAnswer:
    """Return the answer of the runs of the standings. planned: names of all data sets."""
    runs = [results for _, results in standings.runs]
    failed = [
        (failure.cell.dataset, results.label(failure.cell))
        for results in runs
        for failure in results.failures
    ]
    grouped = [cause.sentence for results in runs for cause in causes(results.failures, results.label)]
    if len(grouped) > MOST_CAUSES:
        grouped = [*grouped[:MOST_CAUSES], _more_causes(len(grouped) - MOST_CAUSES)]
    answered = {answer.dataset for answer in answers}
    return RunAnswer(
        aim,
        " ".join(filter(None, map(state, runs))),
        overall(standings, aim, failed)[0],
        answers,
        list(dict.fromkeys(name for name in planned if name not in answered)),
        grouped,
    )


def _more_causes(count: int) -> str:
    return f"{counted(count, 'more cause')} {'is' if count == 1 else 'are'} in tables/failures.csv"


def _lowest(answers: Sequence[Answer], aim: str) -> str:
    """Return the data sets on which each method is the best, and the number of clear ones."""
    wins: dict[str, list[str]] = {}
    for answer in answers:
        if aim == "error":
            wins.setdefault(answer.lowest, []).append(f"{answer.dataset} ({points(answer.error)} %)")
        elif answer.advice.best is not None:
            wins.setdefault(answer.advice.best, []).append(f"{answer.dataset} ({answer.advice.value})")
    order = sorted(wins, key=lambda label: -len(wins[label]))
    best = "; ".join(f"{label} on {listed(wins[label])}" for label in order[:4])
    rest = f"; {counted(len(order) - 4, 'other method')} on the other data sets" if len(order) > 4 else ""
    if aim != "error":
        title = TITLES[aim]
        return f"{title[0].upper()}{title[1:]}: {best or 'none on any data set'}{rest}."
    tested = [answer for answer in answers if answer.compared]
    if not tested:
        return f"Errors: {best}{rest}; nothing to compare with."
    clear = sum(not answer.alike for answer in tested)
    where = (
        f"{clear} of {len(tested)} data sets all other methods are" if clear else "no data set are all others"
    )
    return (
        f"Lowest error: {best}{rest}. On {where} shown to be worse (5 %, Holm over all pairs); "
        f"{detectable_text([answer.detectable for answer in tested])}."
    )


def _accepted(answers: Sequence[Answer]) -> str:
    """Return the range of certified shares, or that of shares chosen on the test rows."""
    certified = [answer.decided for answer in answers if answer.decided.certified is not None]
    if certified and any(decided.certified for decided in certified):
        return (
            f"Certified thresholds accept {_range([decided.certified or 0.0 for decided in certified])} of "
            "new predictions at a risk of at most 1 %, depending on the data set."
        )
    none = "No threshold is certified for a risk of at most 1 %. " if certified else ""
    observed = _range([answer.decided.observed for answer in answers])
    return (
        f"{none}On the test rows, {observed} of the predictions of a method have an observed risk of at most "
        "1 %; method and threshold were chosen on these rows, so expect a higher risk."
    )


def _range(shares: Sequence[float]) -> str:
    """Return "2 % to 92 %", or one number if both ends are the same."""
    return " to ".join(dict.fromkeys(map(percent, (min(shares), max(shares)))))
