"""Errors of methods by data set, with mean ranks: the first table of several data sets."""

import math

import pandas as pd

from confml.report.answers.comparisons import Comparisons, Line, comparisons_of
from confml.report.answers.datasets import Ranking, rank
from confml.report.answers.text import RULE
from confml.report.declared import ranking_metric, shown_metric
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable

MEAN_RANK = "mean rank"


def run_matrix(run: RunResults, ranking: Ranking) -> ShownTable:
    """Return the matrix of a ranking of the methods of a run."""
    return matrix(comparisons_of(run), ranking)


def matrix(comparisons: Comparisons, ranking: Ranking, with_run: bool = True) -> ShownTable:
    """Return one row per data set and one column per method, the best mean rank first, and the mean ranks.

    Baselines, which are not ranked, are last. with_run: whether the labels of the ranking have the name of
    the run, if there are several.
    """
    metric, outcome = shown_metric(ranking.metric), ranking.comparison
    scores = ranking.scores.iloc[:, ranking.by_rank]
    ranks = pd.DataFrame([outcome.mean_ranks.round(12)], [MEAN_RANK], ranking.labels)[scores.columns]
    best = pd.concat([scores.mul(-ranking_metric(ranking.metric).sign), ranks])
    frame = pd.concat([scores.map(metric.text), ranks.map("{:.2f}".format)])
    runs = comparisons.runs.values()
    failed = {(failure.cell.dataset, run.label(failure.cell)) for run in runs for failure in run.failures}
    baselines: dict[str, dict[str, str]] = {}
    worse = 0
    for line in filter(comparisons.is_first, comparisons.lines):
        name, label = line.dataset, method_of(comparisons, line, with_run)
        failed.discard((name, label))
        estimate = comparisons.estimate(line, ranking.metric)
        if estimate is not None and comparisons.is_baseline(line):
            baselines.setdefault(label, {})[name] = metric.text(estimate.mean)
        elif estimate is not None and estimate.worse and name in scores.index and label in scores:
            frame.loc[[name], label] += " *"
            worse += 1
    for name, label in failed:
        if name in scores.index and label in scores:
            frame.loc[[name], label] = "failed"
    for label, texts in baselines.items():
        frame[label] = [texts.get(str(name), metric.text(math.nan)) for name in frame.index]
        best[label] = math.nan
    frame = frame.rename_axis("data set").reset_index()
    bold = best.eq(best.min(axis=1), axis=0) & (best.nunique(axis=1) > 1).to_numpy()[:, None]
    bold.insert(0, "data set", False)
    notes = [
        "Bold: best of the data set. Methods by mean rank (1 is best).",
        f"*: shown to be worse than the best of the data set ({RULE})." if worse else "",
        *(ranking.sentence, ranking.missing),
    ]
    title = f"{metric.label[:1].upper()}{metric.label[1:]} of each method by data set"
    return ShownTable(title, frame, list(filter(None, notes)), best=bold.reset_index(drop=True))


def method_of(comparisons: Comparisons, line: Line, with_run: bool) -> str:
    """Return the label of the method of a line, with or without the name of its run."""
    return line.method if with_run else comparisons.method(line)


def matrix_of_runs(comparisons: Comparisons, metric: str = "error") -> ShownTable | None:
    """Return the matrix of the methods of several runs; None if they cannot be ranked.

    A method of two runs has one column if no data set is in both of them.
    """
    datasets = dict.fromkeys(line.dataset for line in comparisons.lines)
    means = {
        line: round(estimate.mean, 12)
        for dataset in datasets
        for line in comparisons.of_dataset(dataset)
        if comparisons.is_first(line) and not comparisons.is_baseline(line)
        if (estimate := comparisons.estimate(line, metric)) and not math.isnan(estimate.mean)
    }
    keys = {(line.dataset, method_of(comparisons, line, False)) for line in means}
    with_run = len(keys) < len(means)
    of_methods = {
        (line.dataset, method_of(comparisons, line, with_run)): mean for line, mean in means.items()
    }
    names = [list(dict.fromkeys(key[index] for key in of_methods)) for index in (0, 1)]
    ranking = rank(of_methods, (names[0], names[1]), ranking_metric(metric).sign > 0, metric)
    return None if ranking is None else matrix(comparisons, ranking, with_run)
