"""The printed tables of a run: errors and prediction regions, and predictions accepted at thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confml.measures import metrics_in
from confml.measures.metric import LEVEL, RESULTS, THRESHOLD
from confml.report.summaries import SummaryRow

if TYPE_CHECKING:
    from confml.measures import Metric
    from confml.report.results import RunResults


def result_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: one row per data set, method variant, view and level, in the config's order.

    Rates are in per cent, set sizes in labels. Data set, method and metrics without levels are in the first
    of their rows only.
    """
    found: dict[tuple, dict[tuple[str, float | None], SummaryRow]] = {}
    for row in results.summary:
        if row.view:
            key = row.dataset, row.method, row.variant, row.view
            found.setdefault(key, {})[row.metric, row.level] = row
    levels = [float(level) for level in dict.fromkeys(results.config.levels)]
    every = {name for values in found.values() for name, _ in values}
    plain, regions = ([one for one in metrics_in(RESULTS, per) if one.key in every] for per in ("", LEVEL))
    table: list[list[str]] = []
    order = dict.fromkeys((cell.dataset, cell.method, cell.variant) for cell in results.cells)
    labels = {(cell.dataset, cell.method, cell.variant): results.label(cell) for cell in results.cells}
    last = None
    for variant in order:
        for key in [key for key in found if key[:3] == variant]:
            values = found[key]
            line = [variant[0] if variant[0] != last else "", labels[variant], key[3]]
            texts = [_text(one, values.get((one.key, None))) for one in plain]
            last = variant[0]
            shown = [level for level in levels if any((one.key, level) in values for one in regions)]
            for level in shown:
                numbers = [_text(one, values.get((one.key, level)), with_sd=False) for one in regions]
                table.append([*line, f"{level!r}", *texts, *numbers])
                line, texts = [""] * 3, [""] * len(plain)
            if not shown:
                table.append([*line, "", *texts, *[""] * len(regions)])
    headings = [one.heading for one in (*plain, *regions)]
    if not any(line[3] for line in table):  # no regions at all
        end = 4 + len(plain)
        return ["data set", "method", "view", *headings[: len(plain)]], [
            [*line[:3], *line[4:end]] for line in table
        ]
    return ["data set", "method", "view", "level", *headings], table


def sureness_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """Return metrics of acceptance, such as sure correct: one row per view and threshold of the config."""
    columns = {one.key: one for one in metrics_in(RESULTS, THRESHOLD)}
    found = {
        (row.dataset, row.method, row.variant, row.view, row.metric, row.level): row
        for row in results.summary
        if row.metric in columns
    }
    headings = ["data set", "method", "view", "threshold", *(one.heading for one in columns.values())]
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
                values = (found.get((*variant, view, name, threshold)) for name in columns)
                numbers = [_text(one, row) for one, row in zip(columns.values(), values, strict=True)]
                table.append([*line, f"{threshold!r}", *numbers])
    return headings, table


def _text(metric: Metric, row: SummaryRow | None, with_sd: bool = True) -> str:
    if row is None:
        return ""
    return metric.text(row.mean, row.sd) if with_sd else metric.text(row.mean)
