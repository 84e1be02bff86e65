"""``conditional-coverage.csv`` and ``coverage-gaps.csv``: coverage of classes, region sizes and groups."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from confml.measures import Case
from confml.report.numbers.groups import CoverageOfGroups, GapLine, GroupLine, gap_lines
from confml.report.report import Report
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view


def has_regions(case: Case) -> bool:
    return case.prediction.has_regions


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
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
    """
    groups = CoverageOfGroups(variant.run.has_groups(variant.dataset))
    for result, case in splits:
        groups.add(result, case, variant.run.origins.get(variant.dataset))
    for level in map(float, variant.run.config.levels):
        yield from ((level, *line) for line in groups.lines(level))


CONDITIONAL = Table(
    "conditional-coverage.csv",
    "coverage by class, by region size and by the columns of coverage-by, with intervals and bands",
    (*KEY, "level", *GroupLine._fields),
    by_view(rows, has_regions),
    needs="views with regions",
)


def gap_rows(report: Report) -> Iterator[Row]:
    """Distance of the coverage of the classes, or of the groups of a column, from 1 - level.

    ``covgap`` is the mean distance of the coverage of the classes, or of the groups of
    a column, from 1 - level. ``expected`` is its mean by chance, ``undercoverage`` the mean shortfall.
    ``enough`` is the number of groups that are not ``few``; of these, ``worst_group`` has the lowest
    coverage.
    """
    of_level = len(KEY) + 1
    for key, lines in groupby(report.rows[CONDITIONAL.path], key=lambda row: tuple(row[:of_level])):
        of_groups = [GroupLine(*line[of_level:]) for line in lines]
        yield from ((*key, *gap) for gap in gap_lines(of_groups, key[-1]))


GAPS = Table(
    "coverage-gaps.csv",
    "mean distance of the coverage of classes and of groups of a column from 1 - level, with its expected "
    "value",
    (*KEY, "level", *GapLine._fields),
    gap_rows,
    needs="views with regions",
    of_run=True,
)
