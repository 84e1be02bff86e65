"""All methods by error, selective risk, certificates, regions, calibration and time: ``leaderboard.csv``."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from confml.data.text_table import number_text
from confml.measures import known_metrics
from confml.measures.metric import HIGHER, LOWER
from confml.measures.ranks import compare_ranks
from confml.methods import BASELINE
from confml.report.answers.comparisons import Comparisons, comparisons_of
from confml.report.answers.datasets import Ranking, complete
from confml.report.answers.losses import losses_of
from confml.report.numbers.summaries import mean_and_sd
from confml.report.report import Report
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults, Variant
from confml.report.tables.certified import RISKS, certified_splits, has_halves
from confml.report.tables.table import Files

COVERAGES = (0.9, 0.8)
OF_METRICS = ("observed_fuzziness", "ece", "log_loss", "brier")
SECONDS, SET_SIZE = "seconds", "region_size"
HEADER = (
    *("column", "method", "view", "datasets", "mean", "median", "mean_rank", "critical_difference"),
    *("near_best", "datasets_low"),
)


def level_of(run: RunResults) -> float | None:
    """Return the significance level of the regions of the leaderboard; None without levels."""
    levels = run.config.levels
    return 0.05 if 0.05 in levels else next(iter(levels), None)


def directions(level: float | None) -> dict[str, str | None]:
    """Return the columns of the leaderboard in order, with their better direction; None is not ranked.

    level: of the regions, None without.
    """
    return {
        "error": LOWER,
        **{f"risk_at_{number_text(share)}": LOWER for share in COVERAGES},
        "augrc": LOWER,
        **{f"certified_at_{number_text(risk)}": HIGHER for risk in sorted(RISKS, reverse=True)},
        **({} if level is None else {f"coverage_at_{number_text(level)}": None, SET_SIZE: LOWER}),
        **{name: known_metrics()[name].direction for name in OF_METRICS},
        SECONDS: LOWER,
    }


class SplitValue(NamedTuple):
    """The value of a column on one split. view: empty for a method with one view."""

    column: str
    dataset: str
    method: str
    view: str
    value: float


def split_values(variant: Variant) -> list[SplitValue]:
    """Return the values of a variant that are not in ``metrics.csv``."""
    certified: dict[tuple[str, str], dict[float, float]] = {}
    for view, splits in variant.views.items():
        having = [split for split in splits if has_halves(split.case)]
        for risk, points in certified_splits(having).items() if having else ():
            for split, point in zip(having, points, strict=True):
                certified.setdefault((split.result.cell.split, view), {})[risk] = point.coverage
    values = []
    for result, cases in variant.cells:
        seconds = result.views.fit_seconds + result.views.predict_seconds
        seconds += result.tuning["seconds"] if result.tuning else 0.0
        for view, case in cases.items():
            if not len(case.truth):
                continue
            columns = {SECONDS: seconds}
            if case.curve is not None:
                for share in COVERAGES:
                    columns[f"risk_at_{number_text(share)}"] = float(case.curve.risk_at_coverage(share))
                for risk, share in certified.get((result.cell.split, view), {}).items():
                    columns[f"certified_at_{number_text(risk)}"] = share
            key = variant.dataset, variant.label, view if len(variant.views) > 1 else ""
            values += [SplitValue(name, *key, value) for name, value in columns.items()]
    return values


def metric_values(run: RunResults) -> Iterator[SplitValue]:
    """Yield the values of the columns that ``metrics.csv`` has."""
    columns: dict[tuple[str, float | None], str] = {}
    columns |= {(name, None): name for name in ("error", "augrc", *OF_METRICS)}
    if (level := level_of(run)) is not None:
        columns["coverage", level] = f"coverage_at_{number_text(level)}"
        columns["mean_region_size", level] = SET_SIZE
    for metrics in run.metrics:
        for (view, metric, at), value in metrics.values.items():
            if view and (name := columns.get((metric, at))):
                # An empty region is an error, not a small one.
                empty = metrics.values[view, "no_class", at] if name == SET_SIZE else 0.0
                shown = view if len(metrics.views) > 1 else ""
                yield SplitValue(name, metrics.cell.dataset, run.label(metrics.cell), shown, value + empty)


class Column(NamedTuple):
    """One column of the leaderboard.

    means: over the splits (data sets, entries), NaN where an entry failed. ranking: of the entries, None
    without a better direction or with fewer than two entries or data sets. low: of a coverage, the number of
    data sets on which it is shown to be too low, for each entry. missing: a sentence on what is left out.
    """

    means: pd.DataFrame
    ranking: Ranking | None = None
    low: pd.Series | None = None
    missing: str = ""


def column_of(
    means: pd.DataFrame,
    direction: str | None,
    failed: Collection[tuple[str, str]] = (),
    too_low: pd.DataFrame | None = None,
) -> Column | None:
    """Return a column of the leaderboard; None without values.

    means: over the splits (data sets, entries), NaN without a value. failed: (data set, entry) pairs.
    too_low: for columns of regions, whether the coverage is shown to be too low; these are ranked last.
    """
    scores, missing = complete(means, direction == HIGHER, failed)
    if not scores.size:
        return None
    ranking, low = None, None
    if too_low is not None:
        too_low = too_low.reindex_like(scores)
        low = too_low.sum() if direction is None else None
    if direction is not None and min(scores.shape) > 1:
        # Means that differ only in their last bits are ties.
        rounded = np.round(scores.to_numpy(), 12)
        signed = _finite(rounded if direction == LOWER else -rounded)
        if too_low is not None:
            last = signed.max(axis=1, keepdims=True)
            signed = np.where(too_low, last + 1e-9 * (1 + np.abs(last)), signed)
        ranking = Ranking(scores, compare_ranks(signed, higher_is_better=False))
    return Column(means.reindex_like(scores), ranking, low, missing)


def _finite(scores: np.ndarray) -> np.ndarray:
    """Return scores (data sets, k) with numbers beyond all others of the data set in place of infinities."""
    finite = np.where(np.isfinite(scores), scores, np.nan)
    high, low = np.nanmax(finite, axis=1, keepdims=True), np.nanmin(finite, axis=1, keepdims=True)
    return np.clip(scores, low - 1 - np.abs(low), high + 1 + np.abs(high))


def too_low_coverages(comparisons: Comparisons, means: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return whether the coverage of each entry at a level is shown to be too low, by data set."""
    too_low = pd.DataFrame(False, means.index, means.columns)
    for line in comparisons.lines:
        entry = comparisons.label(line)
        if entry in too_low and line.dataset in too_low.index:
            too_low.loc[line.dataset, entry] = comparisons.low_coverage(line, level) is not None
    return too_low


def write(report: Report) -> None:
    """Means and mean ranks of all methods over the data sets, one row per column.

    mean, median: over the data sets, of the means over the splits. mean_rank: 1 for the best. Regions whose
    coverage is shown to be too low on a data set are ranked last there. A region without labels counts as one
    label. critical_difference: of Nemenyi's test at level 0.05, for comparison with published diagrams.
    near_best: whether the method is not shown to differ from the best one (Friedman's test, then Wilcoxon's
    with Holm's correction over all pairs, 5 %). datasets_low: for the coverage, the number of data sets on
    which it is shown to be too low (1 %, Holm's correction over the data sets of the method). A method
    without results on more than a fifth of the data sets is not ranked, and a note names it. The baseline
    (majority-class) is not ranked: Friedman's test would show that a method which is always last differs.
    Certified shares are those of each method by itself; the best of several methods has no guarantee.

    ``leaderboard-datasets.csv`` has the values by data set, and ``tables/ranks-error`` the errors as a table
    for a paper.
    """
    run, level = report.run, level_of(report.run)
    values = [value for values in run.collected(split_values) for value in values]
    frame = pd.DataFrame([*values, *metric_values(run)], columns=SplitValue._fields)
    frame = frame[~frame["method"].isin({run.label(cell) for cell in run.cells if cell.method == BASELINE})]
    frame["entry"] = [with_details(*entry) for entry in zip(frame["method"], frame["view"], strict=True)]
    pairs = zip(frame["method"], frame["view"], strict=True)
    entries: dict[str, tuple[str, str]] = dict(zip(frame["entry"], pairs, strict=True))
    failed = {
        (failure.cell.dataset, entry)
        for failure in run.failures
        for entry, (method, _) in entries.items()
        if method == run.label(failure.cell)
    }
    datasets = list(dict.fromkeys(cell.dataset for cell in run.cells))
    tables: dict[str, tuple[list, list]] = {"": ([], []), "-timings": ([], [])}  # times differ between runs
    for name, direction in directions(level).items():
        groups = frame[frame["column"] == name].groupby(["dataset", "entry"], sort=False)["value"]
        means = groups.agg(lambda values: mean_and_sd(values.tolist())[0]).unstack()
        means, too_low = means.reindex(index=datasets, columns=list(entries)), None
        if level is not None and name in (f"coverage_at_{number_text(level)}", SET_SIZE):
            too_low = too_low_coverages(comparisons_of(run), means, level)
        column = column_of(means, direction, failed, too_low)
        if column is not None:
            rows, by_dataset = tables["-timings" if name == SECONDS else ""]
            rows += _rows(name, column, entries)
            by_dataset += [
                (name, dataset, *entries[str(entry)], mean)
                for dataset, of_dataset in column.means.iterrows()
                for entry, mean in of_dataset.items()
            ]
            if name == "error" and column.missing:
                report.notes.append(f"leaderboard: {column.missing}")
    for ending, (rows, by_dataset) in tables.items():
        report.write_csv(f"leaderboard{ending}.csv", HEADER, rows)
        header = ("column", "dataset", "method", "view", "value")
        report.write_csv(f"leaderboard-datasets{ending}.csv", header, by_dataset)


def _rows(name: str, column: Column, entries: Mapping[str, tuple[str, str]]) -> Iterator[tuple]:
    ranking = column.ranking
    differs = ranking is not None and np.ptp(ranking.comparison.mean_ranks) > 0
    for index, (entry, values) in enumerate((str(entry), values) for entry, values in column.means.items()):
        rank = width = near = None
        if ranking is not None:
            rank = float(ranking.comparison.mean_ranks[index])
            width = ranking.comparison.critical_difference
            near = bool(differs and not ranking.worse(index))
        low = None if column.low is None else int(column.low[entry])
        mean, median = mean_and_sd(values.tolist())[0], float(np.nanmedian(values))
        yield name, *entries[entry], len(values), mean, median, rank, width, near, low


def has_leaderboard(run: RunResults) -> bool:
    return bool(run.config.leaderboard)


LEADERBOARD = Files(
    "leaderboard",
    {
        "tables/leaderboard.csv": "all methods by error, selective risk, certificates, regions, calibration",
        "tables/leaderboard-datasets.csv": "the same by data set",
        "tables/leaderboard-timings.csv": "all methods by time",
        "tables/leaderboard-datasets-timings.csv": "the same by data set",
    },
    write,
    needs="leaderboard: true in the config",
    applies=has_leaderboard,
    collects=lambda run: (losses_of, split_values),
)
