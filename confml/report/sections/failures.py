"""Failed cells: ``failures.csv``."""

from __future__ import annotations

from collections.abc import Iterator

from confml.report.items import Item, Table
from confml.report.run_cells import cell_order
from confml.report.sections.base import Section


class Failures(Section):
    """``failures.csv``: failed cells with the reason, and the calls that led to an error of a method."""

    name = "failures"
    place = 50
    files = {"failures.csv": "cells that failed, with the reason"}

    def items(self) -> Iterator[Item]:
        rows = [
            (
                failure.cell.dataset,
                failure.cell.method,
                failure.cell.variant,
                failure.cell.split,
                failure.error,
                failure.calls,
            )
            for failure in sorted(self.results.failures, key=lambda failure: cell_order(failure.cell))
        ]
        yield Table("failures.csv", ("dataset", "method", "params", "split", "error", "calls"), rows)
