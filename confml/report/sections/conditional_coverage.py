"""Coverage of groups of test rows: ``conditional-coverage.csv`` and ``coverage-gaps.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from confml.report.group_coverage import CoverageOfGroups, GapLine, GroupLine, gap_lines
from confml.report.items import Item, Note, Table
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

KEY = ("dataset", "method", "params", "view", "level")


class ConditionalCoverage(Section):
    """Coverage of the regions by class, by region size and by the columns of ``coverage-by``.

    No method guarantees coverage given the features. Each test row counts once: of several repeats only the
    first one that tests it. ``by``: ``class``, ``size`` or the name of a column. ``group``: the class, the
    sizes as ``3-4``, or the value of the column; numbers are divided into 5 bins of equal mass. Empty regions
    have a line of their own. ``rows``, ``covered``, ``coverage``: of the group. ``low``, ``high``:
    Clopper-Pearson interval of the coverage, at 95 % for all groups of one ``by`` together (Bonferroni).
    ``few``: 1 for groups with fewer than 5 / level rows, which are left out of every minimum.

    ``band_low``, ``band_high``: 95 % band of the coverage of a group if p-values are valid for the group
    (`confml.measures.coverage_band`): beta-binomial, exact for split conformal prediction without ties.
    ``expected_gap``: mean distance of its coverage from 1 - level in that case. Empty for sizes, for views
    without p-values, and for weighted p-values (``shift``), whose coverage varies more. Label-conditional
    p-values are valid for every class, and others only for all test rows together. Coverage by size need not
    be 1 - level for valid p-values. Rows of absent classes are never covered, in the band too.

    ``coverage-gaps.csv``: ``covgap``, the mean distance of the coverage of the classes, or of the groups of a
    column, from 1 - level; ``expected``, its mean by chance alone; ``undercoverage``, the mean shortfall;
    ``enough``, the number of groups that are not ``few``; of those ``worst_group`` has the lowest coverage.
    """

    name = "conditional-coverage"
    place = 62
    needs = "views with regions"
    files = {
        "conditional-coverage.csv": "coverage by class, by region size and by the columns of coverage-by, "
        "with intervals and bands",
        "coverage-gaps.csv": "mean distance of the coverage of classes and of groups of a column from "
        "1 - level, with its expected value",
    }

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple[str, str, str, str], CoverageOfGroups] = {}  # of the views of one variant
        self._rows: list[tuple] = []
        self._gaps: list[tuple] = []
        self._plain: dict[tuple[str, str], None] = {}

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        if result.fit_metrics.get("class_clusters") == 0:
            self._plain[cell.dataset, self.results.label(cell)] = None
        for view, prediction in result.views.items():
            if prediction.has_regions:
                key = cell.dataset, cell.method, cell.variant, view
                found = self._found.setdefault(key, CoverageOfGroups(self.results.has_groups(cell.dataset)))
                found.add(result, prediction, self.results.origins.get(cell.dataset))
        yield from ()

    def finish_variant(self) -> None:
        for key, found in self._found.items():
            for level in map(float, self.results.config.levels):
                lines = list(found.lines(level))
                self._rows += [(*key, level, *line) for line in lines]
                self._gaps += [(*key, level, *line) for line in gap_lines(lines, level)]
        self._found = {}

    def items(self) -> Iterator[Item]:
        if self._rows:
            yield Table("conditional-coverage.csv", (*KEY, *GroupLine._fields), self._rows)
            yield Table("coverage-gaps.csv", (*KEY, *GapLine._fields), self._gaps)
        for dataset, label in self._plain:
            yield Note(
                f"{dataset}, {label}: the classes have too few calibration rows for clusters, so p-values "
                "are plain; use mondrian: true, or a larger calibration part"
            )
