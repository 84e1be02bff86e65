"""Coverage of classes, region sizes and groups of columns over the splits."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from confml.measures.coverage_band import coverage_band
from confml.report.items import Item, Note, TableKind
from confml.report.numbers.calibration_parts import CalibrationParts, case_of
from confml.report.numbers.group_coverage import CoverageOfGroups, GapLine, GroupLine, gap_lines
from confml.report.sections.base import Section
from confml.runner.results import CellResult

_Key = tuple[str, str, str, str]  # data set, method, params, view


class ClassRow(NamedTuple):
    """Coverage of one class at one level.

    rows: number of different test examples of the class. counted: number of examples that its p-values are
    counted among; None for an online pass, 0 for weighted p-values. coverage: share of its regions that
    contain the label. band_low, band_high: quantiles of the beta-binomial distribution of one split with this
    test and calibration part (`confml.measures.coverage_band`), approximate for methods other than split
    conformal prediction: TCM-NN with k = 1 leaves it in 6 to 11 % of the splits with 60 to 200 training
    examples. NaN for an absent class and for weighted p-values.
    """

    dataset: str
    method: str
    params: str
    view: str
    label: object
    level: float
    rows: int
    counted: int | None
    coverage: float
    band_low: float
    band_high: float


OF_CLASSES = TableKind(
    "class-coverage.csv",
    ("dataset", "method", "params", "view", "class", *ClassRow._fields[5:]),
    read=True,
)


class ClassCoverage(Section):
    """``class-coverage.csv``: coverage of each class, with the band of valid p-values.

    ``rows``: number of different test rows of the class. ``counted``: number of examples that its p-values
    are counted among, including the new one (smallest of the splits). ``coverage``: over all splits.
    ``band_low``, ``band_high``: 95 % band of the coverage of one test part with ``rows`` rows if the
    p-values are valid for the class, exact for split conformal prediction without ties; none for weighted
    p-values (``shift``). The coverage is over all splits: of valid classes, at most one in 40
    is below its band by chance. A coverage above it means conservative p-values. Only label-conditional
    p-values are valid for every class.
    """

    name = "class-coverage"
    place = 60
    needs = "p-values"
    files = {
        "class-coverage.csv": "coverage of each class, with the 95 % band of valid p-values on one split "
        "(exact for split conformal prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits)"
    }

    def start(self) -> None:
        self.rows: list[ClassRow] = []
        # of the views of one variant; counts: rows and covered ones by label and level
        self._counts: dict[_Key, dict[tuple, list[int]]] = {}
        self._parts: dict[_Key, CalibrationParts] = {}

    def add(self, result: CellResult) -> None:
        cell = result.cell
        for view, prediction in result.views.items():
            if prediction.kind != "p-value":
                continue
            case, key = case_of(result, prediction), (cell.dataset, cell.method, cell.variant, view)
            found = self._counts.setdefault(key, {})
            self._parts.setdefault(key, CalibrationParts()).add(case, result.rows)
            for level in self.results.config.levels:
                for label, (n, covered) in case.class_coverage(level).items():
                    sums = found.setdefault((label, level), [0, 0])
                    sums[0] += n
                    sums[1] += covered

    def finish_variant(self) -> None:
        for key, found in self._counts.items():
            parts = self._parts[key]
            for label, (rows, counted) in parts.classes().items():
                for level in self.results.config.levels:
                    total, covered = found[label, level]
                    grouped = self.results.has_groups(key[0])
                    nothing = (math.nan, math.nan)
                    band = nothing if grouped else coverage_band([(rows, counted)], level, parts.smoothed)
                    self.rows.append(ClassRow(*key, label, level, rows, counted, covered / total, *band))
        self._counts, self._parts = {}, {}

    def items(self) -> Iterator[Item]:
        if self.rows:
            yield OF_CLASSES.of(self.rows)


_KEY = ("dataset", "method", "params", "view", "level")
OF_GROUPS = TableKind("conditional-coverage.csv", (*_KEY, *GroupLine._fields), read=True)
GAPS = TableKind("coverage-gaps.csv", (*_KEY, *GapLine._fields))


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

    def start(self) -> None:
        self._found: dict[tuple[str, str, str, str], CoverageOfGroups] = {}  # of the views of one variant
        self._rows: list[tuple] = []
        self._gaps: list[tuple] = []
        self._plain: dict[tuple[str, str], None] = {}

    def add(self, result: CellResult) -> None:
        cell = result.cell
        if result.fit_metrics.get("class_clusters") == 0:
            self._plain[cell.dataset, self.results.label(cell)] = None
        for view, prediction in result.views.items():
            if prediction.has_regions:
                key = cell.dataset, cell.method, cell.variant, view
                found = self._found.setdefault(key, CoverageOfGroups(self.results.has_groups(cell.dataset)))
                found.add(result, prediction, self.results.origins.get(cell.dataset))

    def finish_variant(self) -> None:
        for key, found in self._found.items():
            for level in map(float, self.results.config.levels):
                lines = list(found.lines(level))
                self._rows += [(*key, level, *line) for line in lines]
                self._gaps += [(*key, level, *line) for line in gap_lines(lines, level)]
        self._found = {}

    def items(self) -> Iterator[Item]:
        if self._rows:
            yield OF_GROUPS.of(self._rows)
            yield GAPS.of(self._gaps)
        for dataset, label in self._plain:
            yield Note(
                f"{dataset}, {label}: the classes have too few calibration rows for clusters, so p-values "
                "are plain; use mondrian: true, or a larger calibration part"
            )
