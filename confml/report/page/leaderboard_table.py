"""The leaderboard on the page of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from confml.report.leaderboard import Entry
from confml.report.page.material import Material
from confml.report.page.page_table import Cell, PageTable, number_of, short
from confml.report.sections.leaderboard import columns, region_level

MOST_ROWS = 300


def leaderboard_table(material: Material) -> PageTable | None:
    """Return mean ranks and means of all methods by every column of the leaderboard."""
    rows = [*material.rows_of("leaderboard.csv"), *material.rows_of("leaderboard-timings.csv")]
    if not rows:
        return None
    about = {one.name: one for one in columns(region_level(material.results.config.levels))}
    names = list(dict.fromkeys(row["column"] for row in rows))
    cells: dict[str, dict[str, Any]] = {}
    for row in rows:
        cells.setdefault(Entry(row["method"], row["view"]).name, {})[row["column"]] = row
    table = PageTable(
        "leaderboard-table",
        "Mean rank over the data sets (1 is best), and the mean value in brackets (seconds: the median); "
        "shares in per cent.",
        ["method", *(about[name].heading for name in names)],
        note="Bold: best mean rank; shaded: not shown to differ from it (Wilcoxon's test with Holm's "
        "correction over all pairs, 5 %, after Friedman's test). The number after the coverage is the "
        "number of data sets on which it is shown to be too low (1 %, Holm's correction over the data sets "
        "of a method). " + " ".join(f"{about[name].heading}: {about[name].about}." for name in names),
    )
    for label, own in cells.items():
        table.add(label, *(_leaderboard_cell(own.get(name), about[name]) for name in names))
    for column, name in enumerate(names, start=1):
        ranks = [own[name]["mean_rank"] for own in cells.values() if name in own]
        for shown, own in zip(table.rows, cells.values(), strict=True):
            if name in own and own[name]["mean_rank"] is not None:
                best = own[name]["mean_rank"] == min(ranks) < max(ranks)
                shown[column] = replace(shown[column], best=best)
    table.rows.sort(key=lambda row: (number_of(row[1].text) is None, number_of(row[1].text) or 0.0))
    return table.limit(MOST_ROWS, "leaderboard.csv")


def _leaderboard_cell(row: Any, about: Any) -> Cell:
    if row is None:
        return Cell("")
    typical = row["median" if about.name == "seconds" else "mean"]
    value = f"{100 * typical:.1f}" if about.per_cent else short(typical, 3)
    if row["mean_rank"] is None:
        low = row["datasets_low"]
        return Cell(value if low is None else f"{value} [{low}]")
    return Cell(f"{row['mean_rank']:.2f} [{value}]", shade=2 if row["near_best"] else None)
