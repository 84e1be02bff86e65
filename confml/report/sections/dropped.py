"""Rows and features that steps removed from training sets: ``dropped/<data set>/<variant>/<split>.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from confml.report.items import Item, Table
from confml.report.sections.base import Section
from confml.report.sections.regions import region_paths

if TYPE_CHECKING:
    from confml.runner.results import CellResult


class Dropped(Section):
    """One file for every finished cell whose steps removed rows or features; counts are in ``metrics.csv``.

    ``what,name``: ``row`` and its number, counted as in the region tables, or ``attribute`` and its name.
    """

    name = "dropped"
    place = 120
    needs = "steps that remove training rows or features"
    files = {"dropped": "training rows and features that steps removed"}

    def add(self, result: CellResult) -> Iterator[Item]:
        rows = [("row", str(row)) for row in result.dropped_rows.tolist()]
        rows += [("attribute", name) for name in result.dropped_attributes]
        if rows:
            yield Table(f"dropped/{region_paths(self.results)[result.cell.key]}.csv", ("what", "name"), rows)
