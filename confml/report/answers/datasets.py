"""Methods over several data sets: which of them are ranked, and which are shown to differ."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from confml.measures.ranks import RankComparison, alike_runs, compare_ranks
from confml.methods import BASELINE
from confml.report.answers.differences import SIGNIFICANCE
from confml.report.declared import ranking_metric, shown_metric
from confml.report.numbers.summaries import TIME_METRICS, training_times
from confml.report.run.results import RunResults, Variant

MOST_MISSING = 0.2
"""A method without results on more than this share of the data sets is left out, not the data sets."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """k methods ranked over N data sets: Friedman's test, then Wilcoxon's with Holm's correction.

    Nemenyi's verdict on a pair depends on the other methods, so it is not used here.

    scores: (N, k) by data set and label. missing: a sentence on methods and data sets that are not ranked.
    points: for times, the number of grid points in the inner selection of each method. nouns: of sentences.
    """

    scores: pd.DataFrame
    comparison: RankComparison
    missing: str = ""
    metric: str = ""
    points: Sequence[int] = ()
    nouns: tuple[str, str] = ("data set", "method")

    @property
    def labels(self) -> list[str]:
        return self.scores.columns.tolist()

    @property
    def datasets(self) -> list[str]:
        return self.scores.index.tolist()

    @property
    def heading(self) -> str:
        """Name of the metric in text."""
        return shown_metric(self.metric).heading

    @property
    def needed(self) -> int:
        """Smallest number of data sets on which a pair can be shown to differ.

        Wilcoxon's test on D data sets has p-values of at least 2^(1 - D), and Holm's correction is over all
        pairs.
        """
        pairs = math.comb(self.scores.shape[1], 2)
        return next(d for d in range(1, 200) if 2.0 ** (1 - d) <= SIGNIFICANCE / max(pairs, 1))

    @property
    def testable(self) -> bool:
        """Whether a pair could be shown to differ at all."""
        return len(self.scores) >= self.needed

    @property
    def differs(self) -> bool:
        """Whether Friedman's test (Iman and Davenport) shows a difference; pairs are tested only then."""
        return self.testable and bool(self.comparison.f_p_value < SIGNIFICANCE)

    def different(self, first: int, second: int) -> bool:
        """Return whether two methods are shown to differ."""
        return self.differs and bool(self.comparison.wilcoxon[first, second] < SIGNIFICANCE)

    @property
    def by_rank(self) -> list[int]:
        """The methods by mean rank."""
        return np.argsort(np.round(self.comparison.mean_ranks, 12), kind="stable").tolist()

    def worse(self, method: int) -> bool:
        """Return whether a method is shown to differ from every one with the best mean rank."""
        ranks = np.round(self.comparison.mean_ranks, 12)
        best = np.flatnonzero(ranks == ranks.min()).tolist()
        return method not in best and all(self.different(method, rival) for rival in best)

    def groups(self) -> list[list[int]]:
        """Return the bars: the largest runs of methods by mean rank of which no pair is shown to differ.

        None if Friedman's test shows no difference, because then no pair is tested.
        """
        order = np.argsort(self.comparison.mean_ranks, kind="stable").tolist()
        runs = alike_runs(order, self.comparison.wilcoxon < SIGNIFICANCE) if self.differs else []
        return [run for run in runs if len(run) > 1]

    @property
    def sentence(self) -> str:
        """The verdict as text."""
        n, (case, method) = len(self.scores), self.nouns
        if not self.testable:
            return (
                f"The {case}s are too few for a test of the {method}s: {self.needed} needed, {n} available."
            )
        p = f"p = {self.comparison.f_p_value:.2g}"
        if not self.differs:
            return f"Friedman's test (Iman and Davenport) shows no difference between the {method}s ({p})."
        return f"Friedman's test (Iman and Davenport): {p}; pairs: Wilcoxon's test, Holm's correction, 5 %."


def complete(
    means: pd.DataFrame,
    higher_is_better: bool,
    failed: Collection[tuple[str, str]] = (),
    case: str = "data set",
) -> tuple[pd.DataFrame, str]:
    """Return the scores (data sets, methods) that are ranked, and a sentence on what is left out and why.

    means: by data set and method, NaN without a value. failed: (data set, method) pairs, which have the worst
    score of the others. A data set on which less than half of the methods have a value is left out; then a
    method without a value on more than a fifth of the data sets; then a data set on which a method has no
    value, unless the method failed there. case: noun of the sentence.
    """
    means = means.dropna(axis=1, how="all").dropna(how="all")
    used = means[2 * means.notna().sum(axis=1) >= means.shape[1]]
    ranked = used.loc[:, used.isna().sum() <= MOST_MISSING * len(used)]
    has_failed = np.array([[(name, label) in failed for label in ranked] for name in ranked.index])
    last = ranked.isna() & has_failed.reshape(ranked.shape)
    whole = ranked[(ranked.notna() | last).all(axis=1)]
    worst = whole.min(axis=1) if higher_is_better else whole.max(axis=1)
    last = last.loc[whole.index]
    dropped = [label for label in means if label not in ranked]
    dropped_datasets = [name for name in means.index if name not in whole.index]
    pairs = [f"{label} on {name}" for name in whole.index for label in whole if last.at[name, label]]
    beginnings = {
        f"Not ranked, because results on more than a fifth of the {case}s are missing": dropped,
        f"{case.capitalize()}s left out of the ranks, because results are missing": dropped_datasets,
        "Failed, and ranked last there": pairs,
    }
    sentences = [f"{text}: {', '.join(map(str, names))}." for text, names in beginnings.items() if names]
    return whole.apply(lambda means: means.fillna(worst)), " ".join(sentences)


def rank(
    means: Mapping[tuple[str, str], float],
    names: tuple[Sequence[str], Sequence[str]],
    higher_is_better: bool,
    metric: str,
    failed: Collection[tuple[str, str]] = (),
    nouns: tuple[str, str] = ("data set", "method"),
) -> Ranking | None:
    """Return the ranking of methods by their means on data sets; None with fewer than two of either.

    means: by data set and label. names: data sets and labels. failed: pairs of data set and label. nouns: of
    sentences.
    """
    datasets, labels = names
    values = [[means.get((name, label), math.nan) for label in labels] for name in datasets]
    frame = pd.DataFrame(
        np.array(values, dtype=float).reshape(len(datasets), len(labels)), list(datasets), list(labels)
    )
    scores, missing = complete(frame, higher_is_better, failed, nouns[0])
    if min(scores.shape) < 2:
        return None
    comparison = compare_ranks(scores.to_numpy(), higher_is_better)
    return Ranking(scores, comparison, missing, metric, nouns=nouns)


# ---- over the data sets of a run


def ranking(results: RunResults, metric: str, without: str = "", skip: str = "") -> Ranking | None:
    """Return the ranking by means over the splits of each method's first view.

    None with fewer than two methods or data sets. `complete` says which methods and data sets are ranked;
    data sets with cells that are still to be computed are not. without: text in the labels of methods to
    omit. skip: text in the names of data sets to omit. Raises ConfmlError for a metric that is unknown or
    has no better direction.
    """
    better = ranking_metric(metric).sign > 0
    times = results.collected(training_times_of) if metric in TIME_METRICS else []
    means = {(name, label): seconds[metric] for name, label, seconds, _ in times}
    means = means or first_means(results, metric)
    failed = {(failure.cell.dataset, results.label(failure.cell)) for failure in results.failures}
    pending = {cell.dataset for cell in results.pending}
    datasets = dict.fromkeys(cell.dataset for cell in results.cells if cell.dataset not in pending)
    labels = dict.fromkeys(results.label(cell) for cell in results.cells if cell.method != BASELINE)
    names = (
        [name for name in datasets if not skip or skip not in name],
        [label for label in labels if not without or without not in label],
    )
    ranked = rank(means, names, better, metric, failed)
    if ranked is not None and times:
        points = {label: points for _, label, _, points in times}
        ranked = replace(ranked, points=[points[label] for label in ranked.labels])
    return ranked


def training_times_of(variant: Variant) -> tuple[str, str, dict[str, float], int]:
    """Return data set, label, mean training times by metric, and points of the grid of a variant."""
    times, points = [], 1
    for result in variant.splits:
        tuning = result.tuning or {}
        tuned, points = float(tuning.get("seconds") or 0.0), len(tuning.get("scores", "-"))
        grid = len(tuning.get("scores", ()))
        times.append(training_times(result.views.fit_seconds, tuned, grid, result.views.prepare_seconds))
    means = {metric: math.fsum(split[metric] for split in times) / len(times) for metric in times[0]}
    return variant.dataset, variant.label, means, points


def first_means(results: RunResults, metric: str) -> dict[tuple[str, str], float]:
    """Return means by data set and label, of the first view that has the metric; none of the baseline."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for cell, metrics in results.metrics:
        for (view, name, level), value in metrics.items():
            if name == metric and level is None and cell.method != BASELINE:
                values.setdefault((cell.dataset, results.label(cell), view), []).append(value)
    means: dict[tuple[str, str], float] = {}
    for (dataset, label, _), of_splits in values.items():
        # Means that differ only in their last bits are ties.
        mean = round(math.fsum(of_splits) / len(of_splits), 12)
        if not math.isnan(mean):
            means.setdefault((dataset, label), mean)
    return means
