"""The printed tables of a run: errors and prediction regions, and predictions accepted at thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confml.report.summaries import SummaryRow

if TYPE_CHECKING:
    from confml.report.results import RunResults

REGION_METRICS = {  # metric -> (heading, whether it is a share)
    "coverage": ("coverage", True),
    "mean_region_size": ("set size", False),
    "one_class": ("singleton rate", True),
    "two_or_more": ("multiple", True),
    "no_class": ("empty", True),
    "correct_of_one_class": ("singleton accuracy", True),
}


def result_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: one row per data set, method variant, view and level, in the config's order.

    Rates are in per cent, set sizes in labels. Data set, method and error are in the first of their rows
    only.
    """
    found: dict[tuple, list[SummaryRow]] = {}
    for row in results.summary:
        if row.view:
            found.setdefault((row.dataset, row.method, row.variant, row.view), []).append(row)
    levels = [float(level) for level in dict.fromkeys(results.config.levels)]
    headings = ["data set", "method", "view", "level", "error"]
    headings += [heading for heading, _ in REGION_METRICS.values()]
    table: list[list[str]] = []
    order = dict.fromkeys((cell.dataset, cell.method, cell.variant) for cell in results.cells)
    labels = {(cell.dataset, cell.method, cell.variant): results.label(cell) for cell in results.cells}
    last = None
    for variant in order:
        for key in [key for key in found if key[:3] == variant]:
            values = {(row.metric, row.level): row for row in found[key]}
            error = values["error", None]
            line = [variant[0] if variant[0] != last else "", labels[variant], key[3]]
            text = _percent(error)
            last = variant[0]
            shown = [level for level in levels if ("coverage", level) in values]
            for level in shown:
                numbers = [
                    _percent(values[metric, level], with_sd=False) if share else _size(values[metric, level])
                    for metric, (_, share) in REGION_METRICS.items()
                ]
                table.append([*line, f"{level!r}", text, *numbers])
                line, text = [""] * 3, ""
            if not shown:
                table.append([*line, "", text, *[""] * len(REGION_METRICS)])
    if not any(line[3] for line in table):  # no regions at all
        return [*headings[:3], "error"], [[*line[:3], line[4]] for line in table]
    return headings, table


def sureness_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """Return sure correct, unsure and sure incorrect rates: one row per view and threshold of the config."""
    names = ("sure_correct", "unsure", "sure_incorrect")
    found = {
        (row.dataset, row.method, row.variant, row.view, row.metric, row.level): row
        for row in results.summary
        if row.metric in names
    }
    headings = ["data set", "method", "view", "threshold", "sure correct", "unsure", "sure incorrect"]
    table: list[list[str]] = []
    thresholds = [float(threshold) for threshold in dict.fromkeys(results.config.thresholds)]
    labels = {(cell.dataset, cell.method, cell.variant): results.label(cell) for cell in results.cells}
    before = ("", "", "")
    for variant, label in labels.items():
        for view in dict.fromkeys(key[3] for key in found if key[:3] == variant):
            for threshold in thresholds:
                keys = (variant[0], label, view)
                line = [
                    "" if keys[: place + 1] == before[: place + 1] else key for place, key in enumerate(keys)
                ]
                before = keys
                numbers = [_percent(found[*variant, view, name, threshold]) for name in names]
                table.append([*line, f"{threshold!r}", *numbers])
    return headings, table


def _percent(row: SummaryRow, with_sd: bool = True) -> str:
    if math.isnan(row.mean):
        return "-"
    sd = f" ± {100 * row.sd:.2f}" if with_sd and not math.isnan(row.sd) else ""
    return f"{100 * row.mean:.2f}{sd}"


def _size(row: SummaryRow) -> str:
    return "-" if math.isnan(row.mean) else f"{row.mean:.3f}"
