"""Errors of methods by data set, with mean ranks: the first table of several data sets."""

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from confml.report.answers.datasets import Ranking, ranking_of
from confml.report.answers.lines import Line
from confml.report.answers.standings import Standings, standings_of
from confml.report.answers.text import RULE
from confml.report.declared import ranking_metric, shown_metric
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable

MEAN_RANK = "mean rank"
Pairs = Collection[tuple[str, str]]
"""Pairs of a data set and the label of a method."""


def matrix(
    ranking: Ranking,
    worse: Pairs = (),
    failed: Pairs = (),
    baselines: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> ShownTable:
    """Return one row per data set and one column per method, the best mean rank first, and the mean ranks.

    worse: shown to be worse than the best method of the data set. failed: without a result. baselines: means
    by label and data set, which are not ranked.
    """
    metric, outcome = shown_metric(ranking.metric), ranking.comparison
    labels = [ranking.labels[place] for place in ranking.verdict.by_rank]
    scores = pd.DataFrame(ranking.scores, ranking.datasets, ranking.labels)[labels]
    ranks = pd.DataFrame([outcome.mean_ranks.round(12)], [MEAN_RANK], ranking.labels)[labels]
    texts = scores.map(metric.text)
    for dataset, label in {*worse, *failed}:
        if dataset in texts.index and label in texts.columns:
            text = str(texts.at[dataset, label])
            texts.at[dataset, label] = "failed" if (dataset, label) in failed else f"{text} *"
    best = pd.concat([scores.mul(-ranking_metric(ranking.metric).sign), ranks])
    frame = pd.concat([texts, ranks.map("{:.2f}".format)])
    for label, means in baselines.items():
        frame[label] = [metric.text(means.get(str(dataset), math.nan)) for dataset in frame.index]
        best[label] = math.nan
    frame = frame.rename_axis("data set").reset_index()
    bold = best.eq(best.min(axis=1), axis=0) & (best.nunique(axis=1) > 1).to_numpy()[:, None]
    notes = ["Methods by mean rank (1 is best). Bold: best of a row.", ranking.verdict.sentence(bars=False)]
    if worse:
        notes.insert(1, f"*: shown to be worse than the best of the data set ({RULE}).")
    if ranking.missing:
        notes.append(ranking.missing)
    bold.insert(0, "data set", False)
    title = f"{metric.label[:1].upper()}{metric.label[1:]} of each method by data set"
    return ShownTable(title, frame, notes, best=bold.reset_index(drop=True))


def run_matrix(run: RunResults, found: Ranking) -> ShownTable:
    """Return the matrix of a ranking of the methods of a run, with the verdicts on each data set."""
    return standings_matrix(standings_of(run), found, with_run=True)


def standings_matrix(standings: Standings, found: Ranking, with_run: bool) -> ShownTable:
    """Return the matrix of a ranking with the verdicts of standings.

    with_run: whether the labels of the ranking have the name of the run, if there are several.
    """
    worse, finished = set(), set()
    baselines: dict[str, dict[str, float]] = {}
    for line in filter(standings.is_first, standings.lines):
        dataset, label = line.dataset, method_of(standings, line, with_run)
        finished.add((dataset, label))
        standing = standings.of(line, found.metric)
        if standing is None:
            continue
        if line not in standings.compared(dataset):
            baselines.setdefault(label, {})[dataset] = standing.mean
        elif standing.worse:
            worse.add((dataset, label))
    failed = {
        (failure.cell.dataset, run.label(failure.cell))
        for _, run in standings.runs
        for failure in run.failures
    }
    return matrix(found, worse, failed - finished, baselines)


def method_of(standings: Standings, line: Line, with_run: bool) -> str:
    """Return the label of the method of a line, with or without the name of its run."""
    return line.method if with_run else line.method.removesuffix(f", {standings.run_of(line)}")


def matrix_of_runs(standings: Standings, metric: str = "error") -> ShownTable | None:
    """Return the matrix of the methods of several runs; None if they cannot be ranked.

    A method of two runs has one column if no data set is in both of them.
    """
    datasets = dict.fromkeys(line.dataset for line in standings.lines)
    lines = [line for dataset in datasets for line in standings.compared(dataset)]
    lines = [line for line in lines if standings.is_first(line) and standings.of(line, metric)]
    with_run = len({(line.dataset, method_of(standings, line, False)) for line in lines}) < len(lines)
    means = {
        (line.dataset, method_of(standings, line, with_run)): round(standing.mean, 12)
        for line in lines
        if (standing := standings.of(line, metric)) is not None and not np.isnan(standing.mean)
    }
    names = list(dict.fromkeys(label for _, label in means)), list(dict.fromkeys(name for name, _ in means))
    found = ranking_of(metric, means, names, ranking_metric(metric).sign > 0)
    return None if found is None else standings_matrix(standings, found, with_run)
