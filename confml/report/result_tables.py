"""The tables of a run that people read first: errors and regions, and predictions accepted at thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from confml.report.summaries import SummaryRow

if TYPE_CHECKING:
    from confml.report.results import RunResults

REGION_METRICS = {  # metric -> (heading, whether it is a share)
    "coverage": ("coverage", True),
    "mean_region_size": ("size", False),
    "one_class": ("one", True),
    "two_or_more": ("two+", True),
    "no_class": ("none", True),
    "correct_of_one_class": ("right of one", True),
}


def result_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: a line for each data set, method variant, view and level, in the config's order.

    Shares are in per cent, sizes in labels; data set, method and error stand in the first of their lines.
    """
    found: dict[tuple, list[SummaryRow]] = {}
    for row in results.summary:
        if row.view:
            found.setdefault((row.dataset, row.method, row.variant, row.view), []).append(row)
    levels = [float(level) for level in dict.fromkeys(results.config.levels)]
    headings = ["data set", "method", "view", "error", "level"]
    headings += [heading for heading, _ in REGION_METRICS.values()]
    table: list[list[str]] = []
    order = dict.fromkeys((cell.dataset, cell.method, cell.variant) for cell in results.cells)
    labels = {(cell.dataset, cell.method, cell.variant): results.label(cell) for cell in results.cells}
    last = None
    for variant in order:
        for key in [key for key in found if key[:3] == variant]:
            values = {(row.metric, row.level): row for row in found[key]}
            error = values["error", None]
            line = [variant[0] if variant[0] != last else "", labels[variant], key[3], _percent(error)]
            last = variant[0]
            shown = [level for level in levels if ("coverage", level) in values]
            for level in shown:
                numbers = [
                    _percent(values[metric, level], with_sd=False) if share else _size(values[metric, level])
                    for metric, (_, share) in REGION_METRICS.items()
                ]
                table.append([*line, f"{level!r}", *numbers])
                line = [""] * 4
            if not shown:
                table.append([*line, "", *[""] * len(REGION_METRICS)])
    if not any(line[4] for line in table):  # no regions at all
        return headings[:4], [line[:4] for line in table]
    return headings, table


def sureness_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """SURE CORRECT, UNSURE and SURE INCORRECT at the config's thresholds: a line a view and threshold."""
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
