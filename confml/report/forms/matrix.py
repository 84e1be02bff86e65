"""Errors of methods by data set, with mean ranks: the first table of several data sets."""

import math

import pandas as pd

from confml.report.answers.comparisons import comparisons_of
from confml.report.answers.datasets import Ranking
from confml.report.answers.text import RULE
from confml.report.declared import ranking_metric, shown_metric
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable

MEAN_RANK = "mean rank"


def run_matrix(run: RunResults, ranking: Ranking) -> ShownTable:
    """Return one row per data set and one column per method, the best mean rank first, and the mean ranks.

    Baselines, which are not ranked, are last.
    """
    comparisons = comparisons_of(run)
    metric, outcome = shown_metric(ranking.metric), ranking.comparison
    scores = ranking.scores.iloc[:, ranking.by_rank]
    ranks = pd.DataFrame([outcome.mean_ranks.round(12)], [MEAN_RANK], ranking.labels)[scores.columns]
    best = pd.concat([scores.mul(-ranking_metric(ranking.metric).sign), ranks])
    frame = pd.concat([scores.map(metric.text), ranks.map("{:.2f}".format)])
    failed = {(failure.cell.dataset, run.label(failure.cell)) for failure in run.failures}
    baselines: dict[str, dict[str, str]] = {}
    worse = 0
    for line in filter(comparisons.is_first, comparisons.lines):
        name, label = line.dataset, line.method
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
    return ShownTable(title, frame, list(filter(None, notes)), best=bold.reset_index(drop=True), total=True)
