"""The table ``results`` of a run: error and regions at each level."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from confml.measures import Metric, metrics_in
from confml.measures.metric import LEVEL, RESULTS
from confml.report.answers.advice import unpromised
from confml.report.answers.comparisons import Comparisons, Estimate, Line, comparisons_of
from confml.report.answers.losses import SIZE
from confml.report.answers.text import RULE, STAR
from confml.report.captions import setting_text
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable

CSV_HEADER = (
    *("dataset", "method", "view", "metric", "level", "mean", "sd", "splits", "best", "p_value", "worse"),
)
KEYS = ("data set", "method", "view")


SummaryRow = tuple[Line, float | None, Mapping[str, Estimate]]
"""Line, level (None without levels), and means by metric."""


class Summary(NamedTuple):
    """The metrics and the rows of the table ``results``."""

    columns: list[Metric]
    rows: list[SummaryRow]


def summary_of(results: RunResults) -> Summary:
    """Return the results of a run at each level, in the order of the config."""
    comparisons, columns, leveled = comparisons_of(results), metrics_in(RESULTS), metrics_in(RESULTS, LEVEL)
    rows: list[SummaryRow] = []
    for line in comparisons.in_config_order():
        plain = _means(comparisons, line, columns)
        means = {
            level: _means(comparisons, line, leveled, level) for level in map(float, results.config.levels)
        }
        of_levels = [(line, level, plain | of_level) for level, of_level in means.items() if of_level]
        rows += of_levels or ([(line, None, plain)] if plain else [])
    present = {key for *_, means in rows for key in means}
    return Summary([column for column in (*columns, *leveled) if column.key in present], rows)


def _means(
    comparisons: Comparisons, line: Line, columns: Sequence[Metric], level: float | None = None
) -> dict[str, Estimate]:
    means = {column.key: comparisons.estimate(line, column.key, level) for column in columns}
    return {key: estimate for key, estimate in means.items() if estimate is not None}


def shown_summary(results: RunResults, plain: bool = False) -> ShownTable:
    """Return keys and means as texts, with bold for the best, and "*" after means that are shown to be worse.

    A mean without levels is in the first of the rows of its line. plain: without marks, units and notes.
    """
    summary = summary_of(results)
    leveled = any(level is not None for _, level, _ in summary.rows)
    headings = [column.heading if plain else column.label for column in summary.columns]
    header = [*KEYS, *[LEVEL] * leveled, *headings]
    texts: list[list[str]] = []
    best: list[list[bool]] = []
    before = None
    for line, level, means in summary.rows:
        texts.append([*line, *["" if level is None else f"{level!r}"] * leveled])
        best.append([False] * len(texts[-1]))
        for column in summary.columns:
            estimate = means.get(column.key) if column.per or line != before else None
            if estimate is not None and plain:
                estimate = estimate._replace(interval=None)
            mark = " *" * (estimate is not None and estimate.worse and not plain)
            texts[-1].append(estimate_text(estimate, column) + mark)
            best[-1].append(estimate is not None and estimate.best)
        before = line
    frames = pd.DataFrame(texts, columns=header), pd.DataFrame(best, columns=header)
    keys = len(header) - len(summary.columns)
    if plain:
        return ShownTable("", frames[0], keys=keys)
    return ShownTable("Results", frames[0], _notes(summary, comparisons_of(results)), keys, frames[1])


def _notes(summary: Summary, comparisons: Comparisons) -> list[str]:
    estimates = [(key, estimate) for *_, means in summary.rows for key, estimate in means.items()]
    of_sizes = [(line, level) for line, level, means in summary.rows if SIZE in means and level is not None]
    low = sum(comparisons.low_coverage(line, level) is not None for line, level in of_sizes)
    notes = {
        setting_text(comparisons.results): True,
        "Rates in per cent, set sizes in labels; means over splits, errors with ± sd.": True,
        **{f"{name}: so far {text}, no comparison.": True for name, text in comparisons.unfinished.items()},
        "Bold: lowest error of the data set.": any(mean.best for key, mean in estimates if key == "error"),
        "Bold set size: smallest regions at the level whose guaranteed coverage is not shown to be too low; "
        "an empty region counts as one label.": any(mean.best for key, mean in estimates if key == SIZE),
        "Coverage shown to be too low (1 %, Holm's correction over the data sets of a method), so not "
        f"compared: {low} of the rows.": low,
        "Mean cost per row with its 95 % interval over all test rows (t test of the rows).": any(
            mean.interval for _, mean in estimates
        ),
        f"*: {STAR} ({RULE}).": any(not math.isnan(mean.p_value) for _, mean in estimates),
    }
    keys, levels = {column.key for column in summary.columns}, comparisons.results.config.levels
    if "coverage" in keys:
        notes[unpromised(comparisons, float(levels[0]))] = True
    if "error" in keys:
        datasets = dict.fromkeys(line.dataset for line, _, _ in summary.rows)
        notes |= {comparisons.not_above_baseline(name): True for name in datasets}
    return [note for note, applies in notes.items() if note and applies]


def csv_rows(summary: Summary) -> Iterator[tuple]:
    """Yield one row per number: line, metric, level, mean, sd, splits, best, p_value, worse.

    p_value: of the comparison with the best mean, corrected by Holm over all pairs. worse: whether the mean
    is shown to be worse. A mean cost has two more rows, the ends of its 95 % interval. Means without levels
    are the same in all rows of a line.
    """
    per_level = {column.key for column in summary.columns if column.per}
    for line, row_level, means in summary.rows:
        for metric, estimate in means.items():
            level = row_level if metric in per_level else None
            p_value = None if math.isnan(estimate.p_value) else estimate.p_value
            yield (*line, metric, level, *estimate[:4], p_value, estimate.worse)
            for end, value in zip(("low", "high"), estimate.interval or (), strict=False):
                yield (*line, f"{metric}_{end}", level, value, math.nan, estimate.n, False, None, False)


def estimate_text(estimate: Estimate | None, metric: Metric) -> str:
    """Return the mean, in per cent for a share, with its interval or, of metrics without levels, with its sd.

    "-" if it is undefined, "" without the metric.
    """
    if estimate is None:
        return ""
    if interval := estimate.interval:
        return f"{metric.text(estimate.mean)} ({metric.text(interval[0])} to {metric.text(interval[1])})"
    return metric.text(estimate.mean, math.nan if metric.per else estimate.sd)
