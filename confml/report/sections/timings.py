"""Run times of every cell: ``timings.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from confml.report.items import Item, Table
from confml.report.sections.base import Section
from confml.report.summaries import TIME_METRICS

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult


class Timings(Section):
    """``timings.csv``: seconds of fits, predictions and inner selection on one thread.

    configurations: number of grid points in the inner selection, each fitted on every inner fold.
    prepare_seconds: part of fit_seconds that is spent once per training part, for any grid.
    """

    name = "timings"
    place = 20
    files = {"timings.csv": "seconds of fit, prediction and inner selection"}
    metrics = {"timings.csv": TIME_METRICS}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> Iterator[Item]:
        cell, tuning = result.cell, result.tuning
        self._rows.append(
            (
                *(cell.dataset, cell.method, cell.variant, cell.split),
                *(result.fit_seconds, result.predict_seconds),
                tuning.get("seconds") if tuning else None,
                len(tuning["scores"]) if tuning else None,
                result.prepare_seconds,
            )
        )
        yield from ()

    def items(self) -> Iterator[Item]:
        header = ("dataset", "method", "params", "split", "fit_seconds", "predict_seconds", "tuning_seconds")
        yield Table("timings.csv", (*header, "configurations", "prepare_seconds"), self._rows)
