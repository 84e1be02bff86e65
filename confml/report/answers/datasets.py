"""Methods over several data sets: which of them are ranked, and which are shown to differ."""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from confml.measures.ranks import RankComparison, compare_ranks
from confml.methods import BASELINE
from confml.report.answers.differences import SIGNIFICANCE
from confml.report.declared import ranking_metric, shown_metric
from confml.report.numbers.summaries import TIME_METRICS, training_times
from confml.report.run.results import RunResults, Variant

MOST_MISSING = 0.2
"""A method without results on more than this share of the data sets is left out, not the data sets."""
Entry = TypeVar("Entry", bound=Hashable)


def needed_datasets(methods: int) -> int:
    """Return the smallest number of data sets on which a pair of methods can be shown to differ.

    Wilcoxon's test on D data sets has p-values of at least 2^(1 - D), and Holm's correction is over all
    pairs.
    """
    pairs = methods * (methods - 1) // 2
    return next(d for d in range(1, 200) if 2.0 ** (1 - d) <= SIGNIFICANCE / max(pairs, 1))


@dataclass(frozen=True, eq=False)
class RankVerdict:
    """The verdict on k methods ranked over N data sets: Friedman's test, then Wilcoxon's with Holm.

    Nemenyi's verdict on a pair depends on the other methods, so it is not used here.
    """

    comparison: RankComparison

    @property
    def needed(self) -> int:
        return needed_datasets(self.comparison.ranks.shape[1])

    @property
    def testable(self) -> bool:
        """Whether a pair could be shown to differ at all."""
        return len(self.comparison.ranks) >= self.needed

    @property
    def differs(self) -> bool:
        """Whether Friedman's test (Iman and Davenport) shows a difference; pairs are tested only then."""
        return self.testable and bool(self.comparison.f_p_value < SIGNIFICANCE)

    def p_value(self, first: int, second: int) -> float:
        """Return the p-value of a pair after Holm's correction; 1 if Friedman's test shows no difference."""
        return float(self.comparison.wilcoxon[first, second]) if self.differs else 1.0

    @property
    def by_rank(self) -> list[int]:
        """The methods by mean rank."""
        return np.argsort(np.round(self.comparison.mean_ranks, 12), kind="stable").tolist()

    def best(self) -> list[int]:
        """Return the methods with the smallest mean rank."""
        ranks = np.round(self.comparison.mean_ranks, 12)
        return np.flatnonzero(ranks == ranks.min()).tolist()

    def worse(self, place: int) -> bool:
        """Return whether a method is shown to differ from every one with the best mean rank."""
        best = self.best()
        return place not in best and all(self.p_value(place, one) < SIGNIFICANCE for one in best)

    def groups(self) -> list[list[int]]:
        """Return the bars: the largest runs of methods by mean rank of which no pair is shown to differ.

        None if Friedman's test shows no difference, because then no pair is tested.
        """
        order = np.argsort(self.comparison.mean_ranks, kind="stable").tolist()
        found: list[tuple[int, int]] = []
        for start in range(len(order) if self.differs else 0):
            stop = start + 1
            while stop < len(order) and all(
                self.p_value(order[stop], one) >= SIGNIFICANCE for one in order[start:stop]
            ):
                stop += 1
            if stop - start > 1 and (not found or stop > found[-1][1]):
                found.append((start, stop))
        return [order[start:stop] for start, stop in found]

    def sentence(self, bars: bool = True) -> str:
        """Return the verdict as text. bars: whether a diagram with bars is next to it."""
        n, k = self.comparison.ranks.shape
        if not self.testable:
            return (
                f"{n} data sets are too few for a test of {k} methods (at least {self.needed} are needed): "
                "no method is shown to differ from another."
            )
        p = f"p = {self.comparison.f_p_value:.2g}"
        if not self.differs:
            return f"Friedman's test (Iman and Davenport) shows no difference between the methods ({p})."
        text = f"Friedman's test (Iman and Davenport): {p}; pairs: Wilcoxon's test, Holm's correction, 5 %."
        if not bars:
            return text
        if self.groups():
            return f"{text} Methods under one bar are not shown to differ."
        return f"{text} All methods that are next to each other by mean rank differ."


@dataclass(frozen=True)
class Complete(Generic[Entry]):
    """The methods and data sets that are ranked.

    dropped: methods left out, dropped_datasets: data sets left out, because results are missing. worst:
    (data set, method) pairs that failed and rank last there.
    """

    methods: list[Entry]
    datasets: list[str]
    dropped: list[Entry]
    dropped_datasets: list[str]
    worst: list[tuple[str, Entry]]

    def scores(self, means: Mapping[tuple[str, Entry], float], higher_is_better: bool) -> np.ndarray:
        """Return the table (data sets, methods) of means; a failed method has the worst one of the others."""
        rows = []
        for name in self.datasets:
            own = [means.get((name, one), np.nan) for one in self.methods]
            last = np.nanmin(own) if higher_is_better else np.nanmax(own)
            rows.append([last if np.isnan(value) else value for value in own])
        return np.array(rows, dtype=np.float64).reshape(len(self.datasets), len(self.methods))

    def sentence(self) -> str:
        """Return what is left out and why; "" if nothing is."""
        parts = []
        if self.dropped:
            parts.append(
                f"Not ranked, because results on more than a fifth of the data sets are missing: "
                f"{', '.join(map(str, self.dropped))}."
            )
        if self.dropped_datasets:
            parts.append(
                f"Data sets left out, because results are missing: {', '.join(self.dropped_datasets)}."
            )
        if self.worst:
            pairs = ", ".join(f"{one} on {name}" for name, one in self.worst)
            parts.append(f"Failed, and ranked last there: {pairs}.")
        return " ".join(parts)


def complete(
    known: Mapping[Entry, Collection[str]],
    datasets: Sequence[str],
    failed: Collection[tuple[str, Entry]] = (),
) -> Complete[Entry]:
    """Return which methods and data sets are ranked.

    known: data sets on which a method has a value. datasets: in order. failed: (data set, method) pairs that
    have failed. A data set on which less than half of the methods have a value is left out; then a method
    without a value on more than a fifth of the data sets; then a data set on which a method has no value,
    unless the method failed there.
    """
    known = {one: own for one, own in known.items() if own}
    found = {name: sum(name in own for own in known.values()) for name in datasets}
    used = [name for name in datasets if 2 * found[name] >= len(known) and found[name]]
    kept = [
        one for one, own in known.items() if sum(name not in own for name in used) <= MOST_MISSING * len(used)
    ]
    worst = [(name, one) for name in used for one in kept if name not in known[one] and (name, one) in failed]
    whole = [name for name in used if all(name in known[one] or (name, one) in worst for one in kept)]
    return Complete(
        kept,
        whole,
        [one for one in known if one not in kept],
        [name for name in datasets if name not in whole and (found[name] or not known)],
        [pair for pair in worst if pair[0] in whole],
    )


@dataclass(frozen=True, eq=False)
class Ranking:
    """Methods ranked by a metric: labels (k,), datasets (N,), scores (N, k), and their comparison.

    missing: a sentence on methods and data sets that could not be ranked. points: for times, the number of
    grid points in the inner selection of each method.
    """

    metric: str
    labels: list[str]
    datasets: list[str]
    scores: np.ndarray
    comparison: RankComparison
    points: list[int] | None = None
    missing: str = ""

    @property
    def verdict(self) -> RankVerdict:
        return RankVerdict(self.comparison)

    @property
    def heading(self) -> str:
        """Name of the metric in text."""
        return shown_metric(self.metric).heading


def ranking_of(
    metric: str,
    means: Mapping[tuple[str, str], float],
    names: tuple[Sequence[str], Sequence[str]],
    higher_is_better: bool,
    level: float = SIGNIFICANCE,
    failed: Collection[tuple[str, str]] = (),
) -> Ranking | None:
    """Return the ranking of methods by their means on data sets; None with fewer than two of either.

    means: by data set and label. names: labels and data sets. level: of Nemenyi's test. failed: pairs of data
    set and label.
    """
    labels, datasets = names
    known = {label: [name for name in datasets if (name, label) in means] for label in labels}
    table = complete(known, datasets, failed)
    if len(table.methods) < 2 or len(table.datasets) < 2:
        return None
    scores = table.scores(means, higher_is_better)
    outcome = compare_ranks(scores, higher_is_better, level)
    return Ranking(metric, table.methods, table.datasets, scores, outcome, missing=table.sentence())


# ---- over the data sets of a run


def ranking(
    results: RunResults, metric: str, level: float = 0.05, without: str | None = None, skip: str | None = None
) -> Ranking | None:
    """Return the ranking by means over the splits of each method's first view.

    None with fewer than two methods or data sets. `complete` says which methods and data sets are ranked;
    data sets with cells that are still to be computed are not. without: text in the labels of methods to
    omit. skip: text in the names of data sets to omit. Raises ConfmlError for a metric that is unknown or
    has no better direction.
    """
    better = ranking_metric(metric).sign > 0
    means = _times(results, metric) if metric in TIME_METRICS else first_means(results, metric)
    failed = {(one.cell.dataset, results.label(one.cell)) for one in results.failures}
    pending = {cell.dataset for cell in results.pending}
    labels = list(dict.fromkeys(results.label(cell) for cell in results.cells if cell.method != BASELINE))
    labels = [label for label in labels if not without or without not in label]
    datasets = list(dict.fromkeys(cell.dataset for cell in results.cells if cell.dataset not in pending))
    datasets = [name for name in datasets if not skip or skip not in name]
    found = ranking_of(metric, means, (labels, datasets), better, level, failed)
    if found is not None and metric in TIME_METRICS:
        grids = {one.label: one.points for one in results.collected(training_times_of)}
        found = replace(found, points=[grids[label] for label in found.labels])
    return found


class TrainingTimes(NamedTuple):
    """Training times of the splits of a variant by metric, and points of its grid."""

    dataset: str
    label: str
    seconds: dict[str, list[float]]
    points: int


def training_times_of(variant: Variant) -> TrainingTimes:
    """Return the training times of a variant."""
    seconds: dict[str, list[float]] = {}
    points = 1
    for result in variant.splits:
        tuning = result.tuning or {}
        grid, tuned = len(tuning.get("scores", ())), float(tuning.get("seconds") or 0.0)
        times = training_times(result.views.fit_seconds, tuned, grid, result.views.prepare_seconds)
        for metric, value in times.items():
            seconds.setdefault(metric, []).append(value)
        points = len(tuning.get("scores", "-"))
    return TrainingTimes(variant.dataset, variant.label, seconds, points)


def first_means(results: RunResults, metric: str) -> dict[tuple[str, str], float]:
    """Return means by data set and label, of the first view that has the metric; none of the baseline."""
    values: dict[tuple[str, str, str], list[float]] = {}
    for cell, metrics in results.metrics:
        if cell.method == BASELINE:
            continue
        for (view, name, level), value in metrics.items():
            if name == metric and level is None:
                key = cell.dataset, results.label(cell), view
                values.setdefault(key, []).append(value)
    means: dict[tuple[str, str], float] = {}
    for (dataset, label, _), numbers in values.items():
        # Means that differ only in their last bits are ties.
        mean = round(math.fsum(numbers) / len(numbers), 12)
        if not math.isnan(mean):
            means.setdefault((dataset, label), mean)
    return means


def _times(results: RunResults, metric: str) -> dict[tuple[str, str], float]:
    """Return mean training times by data set and label."""
    return {
        (one.dataset, one.label): math.fsum(one.seconds[metric]) / len(one.seconds[metric])
        for one in results.collected(training_times_of)
    }
