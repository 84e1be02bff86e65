"""``conditional-coverage.csv`` and ``coverage-gaps.csv``: coverage of classes, region sizes and groups."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np

from confml.data.text_table import number_text
from confml.measures import Case
from confml.measures.conditional import (
    GroupCoverage,
    equal_mass_groups,
    fewest_rows,
    size_strata,
    stratum_name,
)
from confml.measures.coverage_band import coverage_band, expected_deviation
from confml.measures.p_values import is_weighted
from confml.report.report import Report
from confml.report.run.results import Split, Variant, first_tests
from confml.report.tables.class_coverage import group_names, has_p_values
from confml.report.tables.table import KEY, Row, Table, by_view
from confml.runner.origins import MISSING

CLASS, SIZE = "class", "size"
Band = Callable[[np.ndarray, float], tuple]
"""Function of a mask of the test rows (n,) and a level that returns low, high and the expected gap."""


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
    be 1 - level for valid p-values. Rows of absent classes are never covered, in the band too. With
    ``groups`` there are neither bands nor intervals, because the rows of a group are dependent.
    """
    tests = [(split, new) for split, new in zip(splits, first_tests(splits), strict=True) if len(new)]
    if not tests:
        return

    def joined(values: Callable[..., np.ndarray], *given) -> np.ndarray:
        return np.concatenate([np.asarray(values(split, *given))[new] for split, new in tests])

    is_grouped = variant.run.has_groups(variant.dataset)
    band, truth = None, joined(lambda split: split.case.truth)
    first = tests[0][0].case
    if has_p_values(first) and not is_weighted(first.prediction) and not is_grouped:
        band = _band(joined, truth, first, all(split.case.counted is not None for split, _ in tests))
    columns: dict[str, tuple[np.ndarray, list[str]]] = {}
    origins = variant.run.origins.get(variant.dataset)
    if origins is not None:
        values = [origins.values_of(result.rows, result.cell.split) for (result, _), _ in tests]
        for name in values[0]:
            parts = [of_split[name][new] for of_split, (_, new) in zip(values, tests, strict=True)]
            columns[f"column.{name}" if name in (CLASS, SIZE) else name] = column_groups(
                np.concatenate(parts)
            )
    for level in map(float, variant.run.config.levels):
        covered = joined(lambda split, level: split.case.covered(level), level)
        strata = size_strata(joined(lambda split, level: split.case.regions(level).sizes, level))
        groups: list[tuple] = [(CLASS, label, mine, band) for label, mine in _masks(truth)]
        groups += [(SIZE, stratum_name(stratum), mine, None) for stratum, mine in _masks(strata)]
        for name, (codes, names) in columns.items():
            groups += [(name, names[code], mine, band) for code, mine in _masks(codes)]
        together = Counter(by for by, *_ in groups)
        for by, group, mine, bounds in groups:
            coverage = GroupCoverage.of(int(mine.sum()), int(covered[mine].sum()), together[by])
            interval = (math.nan, math.nan) if is_grouped else (coverage.low, coverage.high)
            limits = (None, None, None) if bounds is None else bounds(mine, level)
            few = int(coverage.rows < fewest_rows(level))
            yield level, by, group, coverage.rows, coverage.covered, coverage.share, *interval, *limits, few


def _masks(values: np.ndarray) -> Iterator[tuple]:
    """Yield the different values, sorted, and the rows (n,) that have each of them."""
    for value in np.unique(values).tolist():
        yield value, values == value


def _band(joined: Callable, truth: np.ndarray, first: Case, are_counted: bool) -> Band:
    """Return the function for bands. are_counted: False for an online pass."""
    counted = joined(lambda split: split.case.counted) if are_counted else np.full(len(truth), -1)
    labels = truth if first.is_label_conditional else np.zeros(len(truth))
    names = joined(lambda split: group_names(split.result, split.case.prediction))
    codes = [np.unique(values, return_inverse=True)[1] for values in (labels, names)]
    parts = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1)
    smoothed = "tau" in first.prediction.extra

    def of(mine: np.ndarray, level: float) -> tuple[float, float, float]:
        """Rows of absent classes are never covered; a group of such rows only has no band."""
        seen = mine & (counted != 0)
        rows, absent = int(seen.sum()), int((mine & ~seen).sum())
        if not rows:
            return math.nan, math.nan, 1 - level
        sizes = [
            (int(part.sum()), int(counted[seen][part].min()) if are_counted else None)
            for _, part in _masks(parts[seen])
        ]
        low, high = coverage_band(sizes, level, smoothed)
        share = 1 - absent / (rows + absent)
        return low * share, high * share, expected_deviation(sizes, level, smoothed, absent)

    return of


def column_groups(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the group (n,) of each value of a column, as a position in the list of names, and that list.

    Texts are groups. Numbers are divided into 5 bins of equal mass that do not divide equal values; a bin is
    named by its smallest and largest value. Missing values are the last group.
    """
    if values.dtype.kind != "f":
        texts, codes = np.unique(values, return_inverse=True)
        return codes, texts.tolist()
    missing = np.isnan(values)
    groups = np.zeros(len(values), dtype=np.int64)
    if missing.all():
        return groups, [MISSING]
    bins, groups[~missing] = np.unique(equal_mass_groups(values[~missing]), return_inverse=True)
    groups[missing] = len(bins)
    names = []
    for code in range(len(bins)):
        mine = values[groups == code]
        low, high = float(mine.min()), float(mine.max())
        names.append(number_text(low) if low == high else f"{number_text(low)} to {number_text(high)}")
    if len(set(names)) < len(names):
        names = [f"bin {code + 1}: {name}" for code, name in enumerate(names)]
    return groups, [*names, *([MISSING] if missing.any() else [])]


CONDITIONAL = Table(
    "conditional-coverage.csv",
    "coverage by class, by region size and by the columns of coverage-by, with intervals and bands",
    (*KEY, *"level by group rows covered coverage low high band_low band_high expected_gap few".split()),
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
    names = (*KEY, "level", "by")
    lines = (line for line in report.dicts(CONDITIONAL.path) if line["by"] != SIZE)
    for key, of_key in groupby(lines, key=lambda line: [line[name] for name in names]):
        groups = list(of_key)
        short = [1 - key[-2] - line["coverage"] for line in groups]
        expected = [gap for line in groups if (gap := line["expected_gap"]) is not None and gap == gap]
        enough = [line for line in groups if not line["few"]]
        worst = min(enough, key=lambda line: line["coverage"], default={"group": None, "coverage": None})
        yield (
            *(*key, len(groups), _mean([abs(gap) for gap in short]), _mean(expected) if expected else None),
            *(_mean([max(gap, 0.0) for gap in short]), len(enough), worst["group"], worst["coverage"]),
        )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


GAPS = Table(
    "coverage-gaps.csv",
    "mean distance of the coverage of classes and of groups of a column from 1 - level, with its expected "
    "value",
    (*KEY, *"level by groups covgap expected undercoverage enough worst_group worst_coverage".split()),
    gap_rows,
    needs="views with regions",
    of_run=True,
)
