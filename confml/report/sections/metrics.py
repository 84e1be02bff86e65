"""Every metric of every cell: ``metrics.csv``."""

from __future__ import annotations

from collections.abc import Iterator

from confml.measures import known_metrics
from confml.report.sections.base import Item, Section, Table

COLUMNS = ("dataset", "method", "params", "split", "view", "metric", "level", "value")


class Metrics(Section):
    """``metrics.csv``: every metric of every cell, one number per row."""

    name = "metrics"
    place = 10
    files = {"metrics.csv": "every metric, one number per row"}
    metrics = {"metrics.csv": known_metrics()}

    def items(self) -> Iterator[Item]:
        rows = [
            (row.cell.dataset, row.cell.method, row.cell.variant, row.cell.split, *row[1:])
            for row in self.results.metrics
        ]
        yield Table("metrics.csv", COLUMNS, rows)
