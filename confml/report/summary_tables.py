"""Summary tables of a run as rows of standings: results with regions, and accepted predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confml.measures import metrics_in
from confml.measures.metric import LEVEL, RESULTS, THRESHOLD
from confml.report.answers.standings import SIZE, Line, Standing, Standings, standings_of
from confml.report.answers.text import RULE, STAR
from confml.report.captions import setting_text

if TYPE_CHECKING:
    from confml.measures import Metric
    from confml.report.results import RunResults


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """A table with one row per data set, method, view and level.

    name: of its files. level_name: heading of the levels. rows: line, level (None without levels) and
    standings by metric.
    """

    name: str
    title: str
    level_name: str
    columns: tuple[Metric, ...]
    rows: list[tuple[Line, float | None, Mapping[str, Standing]]]
    notes: tuple[str, ...]

    @property
    def has_levels(self) -> bool:
        return any(level is not None for _, level, _ in self.rows)


def summary_tables(results: RunResults) -> list[SummaryTable]:
    """Return the tables of a run that are not empty."""
    standings = standings_of(results)
    of_regions = (*metrics_in(RESULTS), *metrics_in(RESULTS, LEVEL))
    of_thresholds = tuple(metrics_in(RESULTS, THRESHOLD))
    found = [
        _table(standings, "results", "Results", LEVEL, of_regions),
        _table(standings, "acceptance", "Accepted and rejected predictions", THRESHOLD, of_thresholds),
    ]
    return [table for table in found if table.rows]


def _table(
    standings: Standings, name: str, title: str, level_name: str, columns: tuple[Metric, ...]
) -> SummaryTable:
    config = standings.results.config
    given = config.thresholds if level_name == THRESHOLD else config.levels
    plain = [column.key for column in columns if not column.per]
    by_level = [column.key for column in columns if column.per]
    rows: list[tuple[Line, float | None, Mapping[str, Standing]]] = []
    for line in standings.lines:
        own = _known(standings, line, plain, None)
        several = [
            (level, found)
            for level in map(float, dict.fromkeys(given))
            if (found := _known(standings, line, by_level, level))
        ]
        rows += [(line, level, {**own, **found}) for level, found in several]
        if own and not several:
            rows.append((line, None, own))
    shown = [column for column in columns if any(column.key in found for _, _, found in rows)]
    several_splits = any(one.n > 1 for _, _, found in rows for one in found.values())
    notes = [
        setting_text(standings.results),
        "Rates in per cent, set sizes in labels" + ("; mean ± sd over splits." if several_splits else "."),
    ]
    notes += [f"{name}: so far {text}, no comparison." for name, text in standings.unfinished.items()]
    if any(found[metric].best for _, _, found in rows for metric in plain if metric in found):
        notes.append("Bold error: lowest of the data set.")
    if any(SIZE in found and found[SIZE].best for _, _, found in rows):
        notes.append(
            "Bold set size: smallest regions at the level not shown to be invalid; an empty region counts "
            "as one label."
        )
    if low := sum(_is_low(standings, line, level) for line, level, found in rows if SIZE in found):
        notes.append(
            f"Coverage shown to be too low (1 %, Holm's correction over the data sets of a method), so not "
            f"compared: {low} of the rows."
        )
    if any(not math.isnan(one.p_value) for _, _, found in rows for one in found.values()):
        notes.append(f"*: {STAR} ({RULE}).")
    return SummaryTable(name, title, level_name, tuple(shown), rows, tuple(notes))


def _is_low(standings: Standings, line: Line, level: float | None) -> bool:
    return level is not None and standings.coverage(line, level).too_low


def _known(standings: Standings, line: Line, metrics: list[str], level: float | None) -> dict[str, Standing]:
    found = {metric: standings.of(line, metric, level) for metric in metrics}
    return {metric: one for metric, one in found.items() if one is not None}


def standing_text(standing: Standing | None, column: Metric, with_sd: bool = True) -> str:
    """Return mean and sd, in per cent for a share; "-" if undefined, "" without the metric."""
    if standing is None:
        return ""
    return column.text(standing.mean, standing.sd) if with_sd else column.text(standing.mean)


def mark_of(standing: Standing | None) -> str:
    """Return "+" for the best, "*" for a mean that is shown to be worse, else ""."""
    if standing is None:
        return ""
    return "+" if standing.best else "*" if standing.worse else ""
