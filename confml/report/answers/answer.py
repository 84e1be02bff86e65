"""Answers for a data set and for a run: the best method, the others, the state of the run and its advice."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from confml.data.text_table import counted
from confml.report.answers.accepted import Accepted, accepted_share
from confml.report.answers.advice import TITLES, Advice, advise, aim_of, overall
from confml.report.answers.classes import class_sentences
from confml.report.answers.comparisons import Comparisons, Estimate, Line
from confml.report.answers.differences import FEW_SPLITS, Comparison
from confml.report.answers.losses import ERROR
from confml.report.answers.text import (
    best_on,
    capitalised,
    caution,
    detectable_text,
    listed,
    percent,
    points,
    some,
)
from confml.report.files import natural
from confml.report.report import Report
from confml.report.run.results import RunResults


class Answer(NamedTuple):
    """The answer for one data set.

    lowest: labels of the lines with the lowest mean error, as text. compared: whether other methods are
    compared; alike: labels of those not shown to be worse. unfinished: the finished splits of a data set with
    cells to compute, or "". sentence: which method has the lowest error, by how much, and how many are worse.
    classes: sentences on classes that the regions of the recommended method contain too rarely.
    """

    dataset: str
    lowest: str
    compared: bool
    alike: Sequence[str]
    detectable: float
    unfinished: str
    sentence: str
    accepted: Accepted
    advice: Advice
    classes: Sequence[str]

    @property
    def short(self) -> str:
        """The advice if it is of other methods, constant decisions or certified thresholds; or the errors."""
        is_advised = self.compared or self.advice.aim in ("cost", "certified")
        return self.advice.sentence if is_advised and not self.unfinished else self.sentence

    @property
    def sentences(self) -> list[str]:
        """The advice, then its evidence; only the progress before all cells are done."""
        if self.unfinished:
            return [self.sentence]
        advice = [self.advice.head, self.advice.rest] if self.short == self.advice.sentence else []
        evidence = [self.sentence, *self.classes, self.accepted.sentence]
        return list(dict.fromkeys(filter(None, [*advice, *evidence])))


def answer_for(
    comparisons: Comparisons, dataset: str, accepted: Accepted, missing: Sequence[str], aim: str
) -> Answer | None:
    """Return the answer for one data set, with the advice for an aim; None without results.

    missing: labels of methods of the config without results.
    """
    lines, comparison, label = (
        comparisons.of_dataset(dataset),
        comparisons.comparison(dataset),
        comparisons.label,
    )
    errors = {
        line: estimate.mean
        for line in lines
        if not comparisons.is_baseline(line) and (estimate := comparisons.estimate(line, ERROR))
    }
    if not errors:
        return None
    best = min(errors, key=lambda line: (errors[line], not comparisons.is_first(line)))
    compared: list[Line] = []
    lowest, alike, reasons = [best], list[str](), dict[str, list[str]]()
    if comparison is not None:
        best = comparison.best[0]
        rivals = [line for line in errors if line.method != best.method and comparisons.is_first(line)]
        rivals.sort(key=lambda line: (errors[line], label(line)))
        compared = [line for line in rivals if line in comparison.lines]
        lowest = [best, *(line for line in compared if line in comparison.best)]
        alike = [label(line) for line in compared if not comparison.worse(line)]
        for line in rivals:
            if line in comparison.left_out:
                reasons.setdefault(comparison.left_out[line], []).append(label(line))
    if missing:
        reasons["no results"] = list(missing)
    sentence, unfinished = (
        _of_errors(comparisons, best, compared, comparison),
        comparisons.unfinished.get(dataset, ""),
    )
    if unfinished:
        sentence = f"So far {unfinished} of {dataset} are complete. No method is compared before all are."
    elif reasons:
        texts = [f"{listed(labels)} ({reason})" for reason, labels in reasons.items()]
        sentence += f" Not compared: {'; '.join(texts)}."
    advice = advise(comparisons, dataset, aim, accepted)
    recommended = {label(line): line for line in lines}.get(advice.recommended or "", best)
    return Answer(
        dataset,
        listed(list(map(label, lowest))),
        bool(compared),
        alike,
        comparison.detectable if comparison is not None else math.nan,
        unfinished,
        sentence,
        accepted,
        advice,
        class_sentences(comparisons, recommended),
    )


def _of_errors(
    comparisons: Comparisons, best: Line, compared: Sequence[Line], comparison: Comparison | None
) -> str:
    """Return which line has the lowest error, by how much, and how many others are shown to be worse."""
    mean, _, splits = (comparisons.estimate(best, ERROR) or Estimate(math.nan, math.nan, 0))[:3]
    rows = sum(len(cell.rows) for cell in comparisons.losses[best].values())
    over = f"over {splits} splits" if splits > 1 else f"on {rows} test examples"
    error, label = f"{points(mean)} % {over}", comparisons.label(best)
    if comparison is None or not compared:
        return f"{label} has an error of {error}; there is no second method to compare with."
    second = comparison.differences[comparison.lines.index(compared[0])].difference
    has = "the same" if abs(second) < 5e-10 else f"{points(second)} points more"
    text = f"{label} has the lowest error, {error}. {comparisons.label(compared[0])} has {has}."
    if worse := sum(map(comparison.worse, compared)):
        others = counted(len(compared), "other method")
        text += f" {worse} of {others} {'is' if worse == 1 else 'are'} significantly worse."
    care = caution(splits, FEW_SPLITS)
    return f"{text} {capitalised(care)}." if care else text


# ---- of a run


class RunAnswer(NamedTuple):
    """The answer of a run.

    state: failed and pending fits, or "". overall: advice over data sets, or None. answers: of the data
    sets. failures: causes of failures as sentences. short: the advice alone; sentences: with its evidence.
    methods: name, parameters and view of each label.
    """

    aim: str
    state: str
    overall: Advice | None
    answers: Sequence[Answer]
    failures: Sequence[str]
    short: list[str]
    sentences: list[str]
    methods: Mapping[str, Mapping[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON."""
        return {
            "aim": self.aim,
            "title": TITLES[self.aim],
            "state": self.state,
            "short": self.short,
            "sentences": self.sentences,
            "overall": None if self.overall is None else self.overall.as_dict(),
            "datasets": {
                answer.dataset: answer.advice.as_dict() | {"classes": answer.classes}
                for answer in self.answers
            },
            "failures": self.failures,
            "methods": self.methods,
        }


def answer_of(report: Report, comparisons: Comparisons) -> RunAnswer:
    """Return the answer of a run, which the comparisons are of."""
    run, answers = report.run, []
    labels: dict[str, dict[str, None]] = {}  # of the planned methods, by data set
    for cell in run.ordered_cells:
        labels.setdefault(cell.dataset, {})[run.label(cell)] = None
    aim = aim_of(run.config)
    for dataset, planned in labels.items():
        finished = {line.method for line in comparisons.of_dataset(dataset)}
        missing = [label for label in planned if label not in finished]
        accepted = accepted_share(report, comparisons, dataset)
        answer = answer_for(comparisons, dataset, accepted, missing, aim)
        answers += [] if answer is None else [answer]
    failed = [(failure.cell.dataset, run.label(failure.cell)) for failure in run.failures]
    advice = overall(comparisons, aim, failed)
    short = [] if advice is None else [advice.sentence]
    if len(answers) == 1:
        short = [answers[0].short]
    methods = {
        comparisons.label(line): {"name": cell.method, "params": dict(cell.params), "view": line.view}
        for line in comparisons.lines
        if (cell := comparisons.cell(line))
    }
    sentences = _sentences(answers, list(labels), advice, aim)
    short += _classes(answers)
    return RunAnswer(aim, state(run), advice, answers, causes(run), short, sentences, methods)


def _sentences(
    answers: Sequence[Answer], planned: Sequence[str], advice: Advice | None, aim: str
) -> list[str]:
    """Return the advice, then its evidence."""
    if not answers:
        return ["No fit is finished yet, so there is no answer."]
    answered = {answer.dataset for answer in answers}
    empty = [name for name in planned if name not in answered]
    sentences = [f"There are no results on {listed(empty)}."] if empty else []
    if len(answers) == 1:
        return [*sentences, *answers[0].sentences]
    complete = [answer for answer in answers if not answer.unfinished]
    if len(complete) < len(answers):
        rest = [f"{answer.dataset} ({answer.unfinished})" for answer in answers if answer.unfinished]
        sentences.append(
            f"So far {len(complete)} of {len(answers) + len(empty)} data sets are complete; no method is "
            f"compared on {listed(rest)}."
        )
    if not complete:
        return sentences
    sentences += [] if advice is None else [advice.head, advice.rest]
    return [*sentences, *_classes(answers), _lowest(complete, aim), *_accepted(complete)]


def _classes(answers: Sequence[Answer]) -> list[str]:
    """Return the sentences on classes of all data sets, and the remedy once at the end."""
    sentences = [text for answer in answers for text in answer.classes]
    return list(dict.fromkeys(reversed(sentences)))[::-1]


MOST_CAUSES = 8
"""Number of causes of failures that are listed; the others are counted."""


def causes(run: RunResults) -> list[str]:
    """Return the failures by method and error, most cells first. Numbers in an error are not compared."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    errors: dict[tuple[str, str], str] = {}
    for failure in sorted(run.failures, key=lambda failure: (natural(failure.cell.title), failure.error)):
        error = " ".join(failure.error.split())
        cause = run.label(failure.cell), re.sub(r"\d+(?:\.\d+)?", "#", error)
        errors.setdefault(cause, error)
        cells.setdefault(cause, Counter())[failure.cell.dataset] += 1
    sentences = []
    for cause in sorted(cells, key=lambda cause: (-cells[cause].total(), cause[0], errors[cause])):
        names, number = list(cells[cause]), cells[cause].total()
        where = names[0] if len(names) == 1 else f"{len(names)} data sets"
        sentences.append(f"{cause[0]}: {counted(number, 'fit')} on {where}: {errors[cause]}")
    if (rest := len(sentences) - MOST_CAUSES) > 0:
        are = "is" if rest == 1 else "are"
        sentences[MOST_CAUSES:] = [f"{counted(rest, 'more cause')} {are} in tables/failures.csv"]
    return sentences


def state(results: RunResults) -> str:
    """Return a sentence on the failed and pending cells of a run; "" if all cells are done."""
    planned, failed = len(results.cells), len(results.failures)
    failures = f"{failed} of {counted(planned, 'fit')} failed." if failed else ""
    if planned == results.done + failed:
        return failures
    finished = f"{results.done} of {counted(planned, 'fit')} finished"
    return f"Incomplete: {finished}; run the same command again for the rest. {failures}".strip()


def _lowest(answers: Sequence[Answer], aim: str) -> str:
    """Return the data sets on which each method is the best, and the number of clear ones."""
    best = best_on(
        (answer.lowest if aim == "error" else answer.advice.best, answer.dataset)
        for answer in answers
        if aim == "error" or answer.advice.recommended is not None
    )
    text = f"{capitalised(TITLES[aim])}: {best or 'none on any data set'}."
    if aim != "error":
        return text
    tested = [answer for answer in answers if answer.compared]
    if not tested:
        return f"{text} There is no second method to compare with."
    clear = sum(not answer.alike for answer in tested)
    power = detectable_text([answer.detectable for answer in tested])
    text += f" All other methods are significantly worse on {clear} of {len(tested)} data sets."
    return f"{text} {capitalised(power)}."


def _accepted(answers: Sequence[Answer]) -> list[str]:
    """Return the certified share of each data set, or the range of those chosen on the test rows."""
    if any(answer.accepted.certified for answer in answers):
        texts = {answer.dataset: answer.accepted.certificate for answer in answers}
        return some([f"{dataset}: {text}" for dataset, text in texts.items() if text], "data sets")
    shares = [answer.accepted.observed for answer in answers]
    least, most = map(percent, (min(shares), max(shares)))
    none = "No threshold is certified. " * any(answer.accepted.joint for answer in answers)
    return [
        f"{none}On the test rows, {least if least == most else f'{least} to {most}'} of the predictions of a "
        "method have an observed risk of at most 1 %. Method and threshold were chosen on these rows, so "
        "expect a higher risk."
    ]
