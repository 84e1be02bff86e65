"""Coverage of classes, region sizes and groups of columns over the splits."""

import math
from typing import NamedTuple

from confml.measures.coverage_band import coverage_band
from confml.report.items import TableKind
from confml.report.numbers.groups import CoverageOfGroups, GapLine, GroupLine, gap_lines
from confml.report.numbers.region_levels import CalibrationParts, group_names
from confml.report.sections.base import KEY, ViewSection


class ClassRow(NamedTuple):
    """Coverage of one class at one level.

    rows: number of different test examples of the class. counted: number of examples that its p-values are
    counted among, in the smallest group of ``by``; None for an online pass, 0 for weighted p-values.
    coverage: share of its regions that contain the label. band_low, band_high: quantiles of the
    beta-binomial distribution of one split with these test and calibration parts, by group of ``by``
    (`confml.measures.coverage_band`), approximate for methods other than split conformal prediction: TCM-NN
    with k = 1 leaves it in 6 to 11 % of the splits with 60 to 200 training examples. NaN for an absent class,
    for weighted p-values and for several divisions of ``by``.
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


OF_CLASSES = TableKind("class-coverage.csv", (*KEY, "class", *ClassRow._fields[5:]))


class ClassCoverage(ViewSection):
    """``class-coverage.csv``: coverage of each class, with the band of valid p-values.

    ``rows``: number of different test rows of the class. ``counted``: number of examples that its p-values
    are counted among, including the new one (smallest of the splits). ``coverage``: over all splits.
    ``band_low``, ``band_high``: 95 % band of the coverage of one test part with ``rows`` rows if the p-values
    are valid for the class. It is exact for split conformal prediction without ties. Weighted p-values
    (``shift``) have none. The coverage is over all splits: of valid classes, at most one in 40 is below its
    band by chance. A coverage above it means conservative p-values. Only label-conditional p-values are valid
    for every class.
    """

    name = "class-coverage"
    place = 60
    needs = "p-values"
    files = {
        "class-coverage.csv": "coverage of each class, with the 95 % band of valid p-values on one split "
        "(exact for split conformal prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits)"
    }

    tables = (OF_CLASSES,)

    def new(self, key):
        return CalibrationParts(), {}

    def takes(self, case):
        return case.prediction.kind == "p-value"

    def add_view(self, found, result, view, case):
        parts, counts = found
        parts.add(case, result.rows, group_names(result, case.prediction))
        for level in self.results.config.levels:
            for label, (n, covered) in case.class_coverage(level).items():
                sums = counts.setdefault((label, level), [0, 0])  # rows and covered ones
                sums[0] += n
                sums[1] += covered

    def rows_of(self, key, found):
        parts, counts = found
        rows, grouped = [], self.results.has_groups(key[0])
        for label, own in parts.classes().items():
            sizes = [size for _, size in own if size is not None]
            n, counted = sum(rows for rows, _ in own), min(sizes) if len(sizes) == len(own) else None
            for level in self.results.config.levels:
                total, covered = counts[label, level]
                band = (math.nan, math.nan)
                if not grouped:
                    band = coverage_band(own, level, parts.smoothed)
                rows.append((*key, label, level, n, counted, covered / total, *band))
        return (rows,)


OF_GROUPS = TableKind("conditional-coverage.csv", (*KEY, "level", *GroupLine._fields))
GAPS = TableKind("coverage-gaps.csv", (*KEY, "level", *GapLine._fields))


class ConditionalCoverage(ViewSection):
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

    ``coverage-gaps.csv``: ``covgap`` is the mean distance of the coverage of the classes, or of the groups of
    a column, from 1 - level. ``expected`` is its mean by chance, ``undercoverage`` the mean shortfall.
    ``enough`` is the number of groups that are not ``few``; of these, ``worst_group`` has the lowest
    coverage.
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

    tables = (OF_GROUPS, GAPS)

    def new(self, key):
        return CoverageOfGroups(self.results.has_groups(key[0]))

    def takes(self, case):
        return case.prediction.has_regions

    def add_view(self, found, result, view, case):
        found.add(result, case, self.results.origins.get(result.cell.dataset))

    def rows_of(self, key, found):
        rows, gaps = [], []
        for level in map(float, self.results.config.levels):
            lines = list(found.lines(level))
            rows += [(*key, level, *line) for line in lines]
            gaps += [(*key, level, *line) for line in gap_lines(lines, level)]
        return rows, gaps
