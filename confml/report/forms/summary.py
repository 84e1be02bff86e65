"""Summary tables of a run: results with regions, and accepted predictions.

Their rows are standings, with marks of the best and of significance; the console has the means alone.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from confml.errors import ConfmlError
from confml.measures import Metric, known_metrics, metrics_in
from confml.measures.metric import LEVEL, RESULTS, THRESHOLD
from confml.report.answers.advice import unpromised
from confml.report.answers.standings import (
    SIZE,
    Line,
    Standing,
    Standings,
    not_above_baseline,
    standings_of,
)
from confml.report.answers.text import RULE, STAR
from confml.report.captions import setting_text
from confml.report.forms.grid import Grid, Mark, named_once
from confml.report.run.results import RunResults

CSV_HEADER = (
    *("dataset", "method", "view", "metric", "level", "mean", "sd", "splits", "best", "p_value", "worse"),
)
KEYS = ("data set", "method", "view")


class Kind(NamedTuple):
    """One of the summary tables: the name of its files, its title, and what its rows have.

    chosen: its columns, by default those that the metrics declare.
    """

    name: str
    title: str
    level_name: str
    chosen: tuple[Metric, ...] | None = None

    @property
    def columns(self) -> Sequence[Metric]:
        if self.chosen is not None:
            return self.chosen
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
Rows = list[tuple[Line, float | None, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """A table with one row per data set, method, view and level.

    rows: line, level (None without levels), and means (`Standing` or `SummaryRow`) by metric.
    """

    kind: Kind
    columns: tuple[Metric, ...]
    rows: Rows
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.kind.title

    @property
    def grid(self) -> Grid:
        """The table with bold for the best, and "*" after means that are shown to be worse."""
        labels = [column.label for column in self.columns]
        return self._grid(labels, lambda one, column: _marked(one, column, with_sd=not column.per))

    def printed(self, with_sd: bool) -> Grid:
        """Return the table without marks. with_sd: also of numbers with a level."""
        names = [column.heading for column in self.columns]
        return self._grid(names, lambda one, column: standing_text(one, column, with_sd or not column.per))

    def _grid(self, names: Sequence[str], cell: Callable[[Any, Metric], str | Mark]) -> Grid:
        """Return the table as texts. Keys that repeat those of the row above are empty."""
        has_levels = any(level is not None for _, level, _ in self.rows)
        headings = [*KEYS, *([self.kind.level_name] if has_levels else []), *names]
        rows, starts, before = [], [], Line("", "", "")
        for line, level, found in self.rows:
            cells: list[str | Mark] = [
                *line,
                *(["" if level is None else f"{level!r}"] if has_levels else []),
            ]
            cells += [
                "" if line == before and not column.per else cell(found.get(column.key), column)
                for column in self.columns
            ]
            starts.append(line.dataset != before.dataset)
            rows.append(cells)
            before = line
        shown = list(named_once(rows, 3))
        return Grid(self.title, headings, shown, 3 + has_levels, self.notes, starts)


def summary_tables(results: RunResults, metrics: Sequence[str] = ()) -> list[SummaryTable]:
    """Return the tables of a run that are not empty, in the order of the config.

    metrics: their columns by key or heading.
    """
    standings = standings_of(results)
    kinds = [kind._replace(chosen=_chosen(results, kind, metrics)) for kind in KINDS] if metrics else KINDS
    found = [
        _with_notes(_table(results, kind, standings.in_config_order(), standings.of), standings)
        for kind in kinds
    ]
    return [table for table in found if table.rows]


def _chosen(results: RunResults, kind: Kind, metrics: Sequence[str]) -> tuple[Metric, ...]:
    """Return the columns of a table by key or heading. Raises ConfmlError for a metric without results."""
    present = {row.metric for row in results.summary if row.view}
    known = {
        name: one for one in known_metrics().values() if one.key in present for name in (one.heading, one.key)
    }
    for name in metrics:
        if name not in known:
            raise ConfmlError(f"the run has no metric '{name}'", near=(name, known))
    own = [known[name] for name in metrics]
    return tuple(one for one in own if (one.per or LEVEL) == kind.level_name)


def printed_tables(results: RunResults) -> list[SummaryTable]:
    """Return the tables that are not empty, in the order of the config, without a comparison of methods."""
    standings = standings_of(results)

    def mean(line: Line, metric: str, level: float | None) -> Standing | None:
        found = standings.of(line, metric, level)
        return None if found is None else found._replace(interval=None)

    found = [_table(results, kind, standings.in_config_order(), mean) for kind in KINDS]
    return [table for table in found if table.rows]


def _table(
    results: RunResults, kind: Kind, lines: Iterable[Line], value: Callable[[Line, str, float | None], Any]
) -> SummaryTable:
    """Return the table of some lines. value: the mean of a line by metric and level, None without one."""

    def known(line: Line, columns: Sequence[Metric], level: float | None) -> dict[str, Any]:
        found = {column.key: value(line, column.key, level) for column in columns}
        return {key: one for key, one in found.items() if one is not None}

    plain = [column for column in kind.columns if not column.per]
    per_level = [column for column in kind.columns if column.per]
    rows: Rows = []
    for line in lines:
        own = known(line, plain, None)
        several = [
            (level, found) for level in kind.levels(results) if (found := known(line, per_level, level))
        ]
        rows += [(line, level, {**own, **found}) for level, found in several]
        if own and not several:
            rows.append((line, None, own))
    shown = [column for column in kind.columns if any(column.key in found for _, _, found in rows)]
    return SummaryTable(kind, tuple(shown), rows)


def _with_notes(table: SummaryTable, standings: Standings) -> SummaryTable:
    rows = table.rows
    every = [(key, one) for _, _, found in rows for key, one in found.items()]
    several_splits = any(one.n > 1 for _, one in every)
    plain = {column.key for column in table.columns if not column.per}
    notes = [
        setting_text(standings.results),
        "Rates in per cent, set sizes in labels" + ("; mean ± sd over splits." if several_splits else "."),
    ]
    notes += [f"{name}: so far {text}, no comparison." for name, text in standings.unfinished.items()]
    if any(one.best for key, one in every if key in plain):
        notes.append("Bold error: lowest of the data set.")
    if any(one.best for key, one in every if key == SIZE):
        notes.append(
            "Bold set size: smallest regions at the level whose promised coverage is not shown to be too "
            "low; an empty region counts as one label."
        )
    low = (
        level is not None and standings.coverage(line, level).too_low
        for line, level, found in rows
        if SIZE in found
    )
    if number := sum(low):
        notes.append(
            f"Coverage shown to be too low (1 %, Holm's correction over the data sets of a method), so not "
            f"compared: {number} of the rows."
        )
    if any(one.interval for _, one in every):
        notes.append("Mean cost per row with its 95 % interval over all test rows (t test of the rows).")
    if any(not math.isnan(one.p_value) for _, one in every):
        notes.append(f"*: {STAR} ({RULE}).")
    if any(column.key == "coverage" for column in table.columns):
        notes += filter(None, [unpromised(standings, table.kind.levels(standings.results)[0])])
    if any(column.key == "error" for column in table.columns):
        names = dict.fromkeys(line.dataset for line, _, _ in rows)
        notes += filter(None, [not_above_baseline(standings, name) for name in names])
    return replace(table, notes=tuple(notes))


def csv_rows(table: SummaryTable) -> Iterator[tuple]:
    """Yield one row per number: line, metric, level, mean, sd, splits, best, p_value, worse.

    p_value: of the comparison with the best mean, corrected by Holm over all pairs. worse: whether the mean
    is shown to be worse. A mean cost has two more rows, the ends of its 95 % interval.
    """
    per_level = {column.key for column in table.columns if column.per}
    for line, level, found in table.rows:
        for metric, one in found.items():
            p_value = None if math.isnan(one.p_value) else one.p_value
            own = level if metric in per_level else None
            yield (*line, metric, own, one.mean, one.sd, one.n, one.best, p_value, one.worse)
            for end, value in zip(("low", "high"), one.interval or (), strict=False):
                yield (*line, f"{metric}_{end}", own, value, math.nan, one.n, False, None, False)


def _marked(standing: Standing | None, column: Metric, with_sd: bool) -> str | Mark:
    text = standing_text(standing, column, with_sd)
    return text if standing is None else Mark(text, standing.best, "*" if standing.worse else "")


def standing_text(standing: Standing | None, column: Metric, with_sd: bool = True) -> str:
    """Return mean and sd, in per cent for a share; "-" if undefined, "" without the metric."""
    if standing is None:
        return ""
    if interval := getattr(standing, "interval", None):
        return f"{column.text(standing.mean)} ({column.text(interval[0])} to {column.text(interval[1])})"
    return column.text(standing.mean, standing.sd) if with_sd else column.text(standing.mean)


def mark_of(standing: Standing | None) -> str:
    """Return "+" for the best, "*" for a mean that is shown to be worse, else ""."""
    return "" if standing is None else "+" if standing.best else "*" if standing.worse else ""
