"""Summary tables of a run: results with regions, and accepted predictions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from confml.errors import ConfmlError
from confml.measures import Metric, known_metrics, metrics_in
from confml.measures.metric import LEVEL, RESULTS, THRESHOLD
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


class Kind(NamedTuple):
    """One of the summary tables: the name of its files, its title, and what its rows have."""

    name: str
    title: str
    level_name: str

    @property
    def columns(self) -> list[Metric]:
        per = metrics_in(RESULTS, self.level_name)
        return per if self.level_name == THRESHOLD else [*metrics_in(RESULTS), *per]

    def levels(self, results: RunResults) -> list[float]:
        """Return the levels or thresholds of the config, each once."""
        given = results.config.thresholds if self.level_name == THRESHOLD else results.config.levels
        return list(map(float, dict.fromkeys(given)))


KINDS = (
    Kind("results", "Results", LEVEL),
    Kind("acceptance", "Accepted and rejected predictions", THRESHOLD),
)


class SummaryRow(NamedTuple):
    """One row: line (data set, method, view), level (None without levels), and means by metric."""

    line: Line
    level: float | None
    means: Mapping[str, Estimate]


class Summary(NamedTuple):
    """The rows of one kind, which are not empty, and their metrics."""

    kind: Kind
    columns: list[Metric]
    rows: list[SummaryRow]


def summaries(results: RunResults, metrics: Sequence[str] = ()) -> Iterator[Summary]:
    """Yield the summaries of a run in the order of the config. metrics: by key or heading; all by default.

    Raises ConfmlError for a metric without results.
    """
    comparisons = comparisons_of(results)
    for kind in KINDS:
        columns = _chosen(results, kind, metrics) if metrics else kind.columns
        rows = [
            row for line in comparisons.in_config_order() for row in _rows(comparisons, line, kind, columns)
        ]
        if rows:
            yield Summary(kind, [one for one in columns if any(one.key in row.means for row in rows)], rows)


def _chosen(results: RunResults, kind: Kind, metrics: Sequence[str]) -> list[Metric]:
    present = {row.metric for row in results.summary if row.view}
    by_name = {
        name: metric
        for metric in known_metrics().values()
        if metric.key in present
        for name in (metric.heading, metric.key)
    }
    for name in metrics:
        if name not in by_name:
            raise ConfmlError(f"the run has no metric '{name}'", near=(name, by_name))
    return [by_name[name] for name in metrics if (by_name[name].per or LEVEL) == kind.level_name]


def _rows(comparisons: Comparisons, line: Line, kind: Kind, columns: Sequence[Metric]) -> list[SummaryRow]:
    """Return the rows of a line: one for each level, or one without levels; none without results."""

    def means(per_level: bool, level: float | None) -> dict[str, Estimate]:
        keys = [column.key for column in columns if bool(column.per) == per_level]
        pairs = [(key, comparisons.estimate(line, key, level)) for key in keys]
        return {key: estimate for key, estimate in pairs if estimate is not None}

    plain = means(False, None)
    of_levels = {level: means(True, level) for level in kind.levels(comparisons.results)}
    rows = [SummaryRow(line, level, plain | of_level) for level, of_level in of_levels.items() if of_level]
    return rows or ([SummaryRow(line, None, plain)] if plain else [])


def shown_summary(summary: Summary, results: RunResults) -> ShownTable:
    """Return a table with bold for the best, and "*" after means that are shown to be worse."""
    frame = _frame(summary, [column.label for column in summary.columns], "*")
    keys = frame.shape[1] - len(summary.columns)
    best = pd.DataFrame(False, frame.index, frame.columns)
    for place, row in enumerate(summary.rows):
        repeated = place > 0 and summary.rows[place - 1].line == row.line
        for at, column in enumerate(summary.columns, start=keys):
            is_best = column.key in row.means and row.means[column.key].best
            best.iloc[place, at] = is_best and not (repeated and not column.per)
    return ShownTable(summary.kind.title, frame, _notes(summary, comparisons_of(results)), keys, best)


def plain_table(results: RunResults) -> ShownTable:
    """Return means of the first summary as texts, without marks; an empty table without results."""
    for kind, columns, rows in summaries(results):
        means = [
            row._replace(means={key: one._replace(interval=None) for key, one in row.means.items()})
            for row in rows
        ]
        frame = _frame(Summary(kind, columns, means), [column.heading for column in columns])
        return ShownTable("", frame, keys=frame.shape[1] - len(columns))
    return ShownTable("", pd.DataFrame(columns=[*KEYS, "error"]), keys=3)


def _frame(summary: Summary, names: Sequence[str], worse: str = "") -> pd.DataFrame:
    """Return keys and means as texts. names: of the columns of means. worse: mark of a worse mean.

    A mean without levels is in the first of the rows of its line.
    """
    leveled = any(row.level is not None for row in summary.rows)
    texts, before = [], None
    for line, level, means in summary.rows:
        cells = list(line)
        if leveled:
            cells.append("" if level is None else f"{level!r}")
        for column in summary.columns:
            estimate = means.get(column.key) if column.per or line != before else None
            text = standing_text(estimate, column, with_sd=not column.per)
            cells.append(f"{text} {worse}" if worse and estimate is not None and estimate.worse else text)
        texts.append(cells)
        before = line
    return pd.DataFrame(texts, columns=[*KEYS, *[summary.kind.level_name] * leveled, *names])


def _notes(summary: Summary, comparisons: Comparisons) -> list[str]:
    kind, columns, rows = summary
    means = [(key, estimate) for row in rows for key, estimate in row.means.items()]
    spread = "; mean ± sd over splits." if any(estimate.n > 1 for _, estimate in means) else "."
    notes = [setting_text(comparisons.results), f"Rates in per cent, set sizes in labels{spread}"]
    notes += [f"{name}: so far {text}, no comparison." for name, text in comparisons.unfinished.items()]
    plain = {column.key for column in columns if not column.per}
    if any(estimate.best for key, estimate in means if key in plain):
        notes.append("Bold: lowest error of the data set.")
    if any(estimate.best for key, estimate in means if key == SIZE):
        notes.append(
            "Bold set size: smallest regions at the level whose promised coverage is not shown to be too "
            "low; an empty region counts as one label."
        )
    of_sizes = [(row.line, row.level) for row in rows if SIZE in row.means]
    low = sum(
        level is not None and comparisons.low_coverage(line, level) is not None for line, level in of_sizes
    )
    if low:
        notes.append(
            f"Coverage shown to be too low (1 %, Holm's correction over the data sets of a method), so not "
            f"compared: {low} of the rows."
        )
    if any(estimate.interval for _, estimate in means):
        notes.append("Mean cost per row with its 95 % interval over all test rows (t test of the rows).")
    if any(not math.isnan(estimate.p_value) for _, estimate in means):
        notes.append(f"*: {STAR} ({RULE}).")
    keys = {column.key for column in columns}
    if "coverage" in keys:
        notes += filter(None, [unpromised(comparisons, kind.levels(comparisons.results)[0])])
    if "error" in keys:
        datasets = dict.fromkeys(row.line.dataset for row in rows)
        notes += filter(None, [comparisons.not_above_baseline(name) for name in datasets])
    return notes


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


def standing_text(estimate: Estimate | None, column: Metric, with_sd: bool = True) -> str:
    """Return mean and sd, in per cent for a share; "-" if undefined, "" without the metric."""
    if estimate is None:
        return ""
    if interval := estimate.interval:
        return f"{column.text(estimate.mean)} ({column.text(interval[0])} to {column.text(interval[1])})"
    return column.text(estimate.mean, estimate.sd) if with_sd else column.text(estimate.mean)
