"""`StoredReport`: numbers of the report in the folder of a run, which are read again instead of the cells."""

import csv
import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from confml.config.warnings import Warned
from confml.report.numbers.metric_rows import COLUMNS, MetricRows
from confml.report.run.cells import RunCells


@dataclass(frozen=True)
class ShortTable:
    """Headings, rows of texts (data set, method, view, numbers), and the lines of the legend."""

    headings: list[str]
    rows: list[list[str]]
    legend: list[str]


@dataclass(frozen=True)
class StoredReport:
    """Numbers of the report in a folder: warnings of results, and the short table."""

    folder: Path
    warnings: tuple[Warned, ...]
    table: ShortTable

    def read_metrics(self, results: RunCells) -> MetricRows | None:
        """Return `RunResults.metrics` from ``metrics.csv``; None if it has other cells."""
        return read_metrics(results, self.folder)


def read_metrics(results: RunCells, folder: Path) -> MetricRows | None:
    """Return `RunResults.metrics` from the ``metrics.csv`` of a fresh report; None if it has other cells."""
    cells = {(cell.dataset, cell.method, cell.variant, cell.split): cell for cell in results.cells}
    if len(cells) < len(results.cells):
        return None
    rows = MetricRows()
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        if next(lines, [])[: len(COLUMNS)] != list(COLUMNS):
            return None
        for key, own in groupby(lines, key=lambda line: tuple(line[:4])):
            cell = cells.get(key)
            if cell is None:
                return None
            found = [
                ((view, metric, float(level) if level else None), float(value) if value else math.nan)
                for _, _, _, _, view, metric, level, value, *_ in own
            ]
            rows.append(cell, [name for name, _ in found], [value for _, value in found])
    return rows
