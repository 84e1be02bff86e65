"""`Majority`: errors of the classifier that always answers the most frequent class of training.

It is no method of a run: tables show it as their last row, without a test, and `not_above_majority` names the
methods that are not shown to be better.
"""

from typing import NamedTuple

from confml.report.answers.computed_once import computed_once
from confml.report.answers.differences import SIGNIFICANCE, LossTable
from confml.report.answers.standings import Line, Standing, Standings
from confml.report.numbers.summaries import mean_and_sd
from confml.report.run.cells import with_details

MAJORITY = "majority class"
"""Name of the row of a table."""


class Majority(NamedTuple):
    """The most frequent class of training, and its error rate over all splits with results.

    run: name of the run, "" if the row holds for all runs. classes: as text, several if splits differ.
    """

    run: str
    classes: tuple[str, ...]
    error: Standing

    @property
    def label(self) -> str:
        return with_details(MAJORITY, self.run)


@computed_once
def majority_of(standings: Standings, dataset: str) -> list[Majority]:
    """Return the error of the majority class on a data set: one for all runs, or one per run if they differ.

    Empty without test rows or without the classes of training.
    """
    found: dict[str, dict[tuple[str, str], tuple[str, float]]] = {}
    for line in standings.of_dataset(dataset):
        own = found.setdefault(standings.run_of(line), {})
        for one, evidence in standings.cells_of(line):
            split = evidence.splits[one.cell.key]
            key = one.cell.split, split.digest
            if key not in own and split.majority and len(split.rows):
                own[key] = split.majority, float(evidence.majority_errors(one.cell).values.mean())
    rows = []
    for run, splits in found.items():
        if splits:
            names = tuple(dict.fromkeys(name for name, _ in splits.values()))
            rows.append(Majority(run, names, Standing(*mean_and_sd([value for _, value in splits.values()]))))
    if len({row.classes for row in rows}) == 1 and len({repr(row.error) for row in rows}) == 1:
        return [rows[0]._replace(run="")]
    return rows


def beats_majority(standings: Standings, line: Line) -> tuple[str, bool]:
    """Return the most frequent class of training, and whether the line is shown to have fewer errors.

    The line is taken for the best one of its data set (Bonferroni's correction over the lines).
    """
    found = standings.cells_of(line)
    names = list(dict.fromkeys(evidence.splits[one.cell.key].majority for one, evidence in found))
    both = [
        (evidence.errors(one.cell, line.view), evidence.majority_errors(one.cell)) for one, evidence in found
    ]
    losses = [[one for pair in both if (one := pair[place]) and len(one.rows)] for place in (0, 1)]
    if not losses[0] or not any(names):  # without rows, or without the classes of training
        return "", True
    pair = LossTable(losses, *standings.kind_of(line), 1.0).pair(0, 1)
    lines = len(standings.of_dataset(line.dataset))
    better = pair is not None and pair.difference < 0 and pair.p_value * lines < SIGNIFICANCE
    return " or ".join(names), bool(better)


@computed_once
def not_above_majority(standings: Standings, dataset: str) -> str:
    """Return a sentence on the methods that are not shown to be better than the majority class.

    "" without such methods, and while cells are still to be computed.
    """
    weak: list[Line] = []
    for line in standings.of_dataset(dataset) if not standings.progress(dataset).pending else ():
        if standings.is_first(line) and not beats_majority(standings, line)[1]:
            weak.append(line)
    sentences = []
    for one in majority_of(standings, dataset):
        labels = [standings.label(line) for line in weak if one.run in ("", standings.run_of(line))]
        if labels:
            shown = (
                f"always answering the most frequent class of training ({' or '.join(one.classes)}, error "
            )
            shown += f"{100 * one.error.mean:.2f} %)"
            sentences.append(f"{dataset}: not shown to be better than {shown}: {', '.join(labels)}")
    return "; ".join(sentences)
