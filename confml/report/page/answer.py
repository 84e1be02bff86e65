"""The answer of one run or several, from the tables of their reports."""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.report.answers.advice import aim_of
from confml.report.answers.answer import RunAnswer, answer_for, run_answer
from confml.report.answers.lines import Line
from confml.report.answers.standings import Standings
from confml.report.answers.thresholds import decided, observed_shares
from confml.report.report import Report
from confml.report.run.results import ViewKey
from confml.report.tables.certified_jointly import ALL

CURVES, JOINTLY = "rejection-curves.csv", "certified-jointly.csv"


def keys_of(standings: Standings, dataset: str) -> dict[Line, ViewKey]:
    """Return the key of each line of a data set in the tables of its run."""
    cells = {line: next(iter(standings.losses(line).values())).cell for line in standings.of_dataset(dataset)}
    return {line: (dataset, cell.method, cell.variant, line.view) for line, cell in cells.items()}


def chosen_shares(reports: Mapping[str, Report], standings: Standings, dataset: str) -> dict[Line, float]:
    """Return the largest coverage of each line with an observed risk of at most 1 %.

    reports: by the name of the run in the standings.
    """
    shares = {run: observed_shares(report.dicts(CURVES, dataset=dataset)) for run, report in reports.items()}
    keys = keys_of(standings, dataset).items()
    return {line: of_run[key] for line, key in keys if key in (of_run := shares[standings.run_of(line)])}


def answer_of(reports: Mapping[str, Report], standings: Standings) -> RunAnswer:
    """Return the answer of the runs, for the aim of the first one.

    reports: by the name of the run in the standings, which are of all these runs.
    """
    aim, answers = aim_of(standings.results.config), []
    datasets = list(dict.fromkeys(cell.dataset for one in reports.values() for cell in one.run.ordered_cells))
    for dataset in datasets:
        lines = standings.of_dataset(dataset)
        shares = chosen_shares(reports, standings, dataset)
        observed = {standings.label(line): share for line, share in shares.items()}
        labels = {key: standings.label(line) for line, key in keys_of(standings, dataset).items()}
        joint: list[Mapping[str, Any]] = []
        if len(reports) == 1 and not standings.results.has_groups(dataset):
            # The best of several runs has no guarantee.
            joint = next(iter(reports.values())).dicts(JOINTLY, dataset=dataset, scope=ALL)
        missing = missing_methods(reports, lines, dataset)
        answer = answer_for(standings, dataset, decided(observed, joint, labels), missing, aim)
        answers += [] if answer is None else [answer]
    return run_answer(standings, answers, datasets, aim)


def missing_methods(reports: Mapping[str, Report], lines: Sequence[Line], dataset: str) -> list[str]:
    """Return the methods of the configs without results on a data set."""
    present = {line.method for line in lines}
    planned = dict.fromkeys(
        (run, report.run.label(cell))
        for run, report in reports.items()
        for cell in report.run.ordered_cells
        if cell.dataset == dataset
    )
    labels = {", ".join(filter(None, [label, run])): (label, run) for run, label in planned}
    return [
        f"{label} ({run})" if run else label for name, (label, run) in labels.items() if name not in present
    ]
