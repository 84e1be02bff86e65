"""Coverage by class and by region size, with intervals: ``conditional-coverage.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from confml.report.group_coverage import CoverageOfGroups, GroupLine
from confml.report.sections.base import Item, Section, Table

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult


class ConditionalCoverage(Section):
    """Coverage of the regions of each class and of each region size, for all views with regions.

    No method guarantees coverage given the features. Each test row counts once: of several repeats only the
    first one that tests it. ``by``: ``class`` or ``size``. ``group``: the class, or the sizes as ``3-4``;
    empty regions have a line of their own. ``rows``, ``covered``, ``coverage``: of the group. ``low``,
    ``high``: Clopper-Pearson interval of the coverage, at 95 % for all groups of one ``by`` together
    (Bonferroni). ``few``: 1 for groups with fewer than 5 / level rows, which are in no minimum.

    ``band_low``, ``band_high``: 95 % band of the coverage of a class if its p-values are valid for the class
    (`confml.measures.coverage_band`): beta-binomial, exact for split conformal prediction without ties.
    Empty for sizes and for views without p-values. Label-conditional p-values are valid for every class, and
    others only for all classes together. Coverage by size need not be 1 - level for valid p-values.
    """

    name = "conditional-coverage"
    place = 62
    needs = "views with regions"
    files = {"conditional-coverage.csv": "coverage by class and by region size, with intervals and bands"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple[str, str, str, str], CoverageOfGroups] = {}  # of the views of one variant
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            if prediction.has_regions:
                key = cell.dataset, cell.method, cell.variant, view
                self._found.setdefault(key, CoverageOfGroups()).add(result, prediction)
        yield from ()

    def finish_variant(self) -> None:
        for key, found in self._found.items():
            for level in self.results.config.levels:
                self._rows += [(*key, float(level), *line) for line in found.lines(float(level))]
        self._found = {}

    def items(self) -> Iterator[Item]:
        if self._rows:
            header = ("dataset", "method", "params", "view", "level", *GroupLine._fields)
            yield Table("conditional-coverage.csv", header, self._rows)
