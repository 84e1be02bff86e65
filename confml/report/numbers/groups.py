"""Coverage and errors of regions in groups of test rows, each test row counted once."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from confml.methods.divisions import DIVISIONS, GROUP, UNKNOWN
from confml.report.numbers.region_levels import group_names
from confml.report.numbers.row_set import RowSet
from confml.report.run.results import RunResults, Variant
from confml.runner.origins import MISSING
from confml.runner.results import CellResult

CLASS, SIZE = "class", "size"


class GroupLine(NamedTuple):
    """Coverage of one group.

    band_low, band_high, expected_gap: None without a band. few: fewer than 5 / level rows.
    """

    by: str
    group: Any
    rows: int
    covered: int
    coverage: float
    low: float
    high: float
    band_low: float | None
    band_high: float | None
    expected_gap: float | None
    few: int


class GapLine(NamedTuple):
    """Distance of the coverage of all groups of one ``by`` from 1 - level.

    covgap: mean of |coverage - (1 - level)|. expected: mean of covgap if p-values are valid for each group,
    None for views without p-values. undercoverage: mean shortfall. enough: number of groups with at least
    5 / level rows; worst_group, worst_coverage: of those, the group with the lowest coverage.
    """

    by: str
    groups: int
    covgap: float
    expected: float | None
    undercoverage: float
    enough: int
    worst_group: Any
    worst_coverage: float | None


class CoverageOfGroups:
    """Collect the test rows of a view over the splits; of several repeats, the first one that tests a row.

    grouped: whether rows of a group are dependent; then there are neither bands nor intervals.
    """

    def __init__(self, grouped: bool = False):
        self._grouped = grouped
        self._seen = RowSet()
        self._parts: list[tuple[Case, np.ndarray | None, np.ndarray]] = []  # case, counted, groups of by
        self._values: dict[str, list[np.ndarray]] = {}

    def add(self, result, case, origins=None) -> None:
        """Add the new test rows of one view of a finished cell. origins: `RowOrigins` of the data set."""
        new = self._seen.add(np.asarray(result.rows), [""])
        if new.any():
            counted = case.counted if case.prediction.kind == "p-value" else None
            prediction = case.prediction if new.all() else case.prediction.take(new)
            part = Case(prediction, case.truth[new], context=case.context)
            names = group_names(result, prediction)
            names = np.full(len(prediction), "") if names is None else names
            self._parts.append((part, None if counted is None else counted[new], names))
            values = {} if origins is None else origins.values_of(result.rows, result.cell.split)
            for name, column in values.items():
                self._values.setdefault(name, []).append(column[new])

    def lines(self, level: float) -> Iterator[GroupLine]:
        """Yield a line for each class, each stratum of region sizes, and each group of each column."""
        if not self._parts:
            return
        cases = [case for case, _, _ in self._parts]
        covered = np.concatenate([case.covered(level) for case in cases])
        truth = np.concatenate([case.truth for case in cases])
        sizes = np.concatenate([case.regions(level).sizes for case in cases])
        first = cases[0].prediction
        banded = first.kind == "p-value" and not is_weighted(first) and not self._grouped
        bands = _Bands(self._parts, truth) if banded else None
        for line in self._lines(truth, sizes, covered, level, bands):
            yield line._replace(low=math.nan, high=math.nan) if self._grouped else line

    def _lines(self, truth, sizes, covered, level: float, bands: "_Bands | None") -> Iterator[GroupLine]:
        yield from _groups(CLASS, truth, covered, level, bands)
        for line in _groups(SIZE, size_strata(sizes), covered, level, None):
            yield line._replace(group=stratum_name(line.group))
        for name, parts in self._values.items():
            by = f"column.{name}" if name in (CLASS, SIZE) else name
            groups, names = column_groups(np.concatenate(parts))
            for line in _groups(by, groups, covered, level, bands):
                yield line._replace(group=names[line.group])


class _Bands:
    """Bands of valid p-values of groups of test rows."""

    def __init__(self, parts: Sequence[tuple[Case, np.ndarray | None, np.ndarray]], truth: np.ndarray):
        counted, names = [part for _, part, _ in parts if part is not None], [one for *_, one in parts]
        self._counted = np.concatenate(counted) if len(counted) == len(parts) else None
        first = parts[0][0]
        self._smoothed = "tau" in first.prediction.extra
        labels = truth if first.is_label_conditional else np.zeros(len(truth), dtype=np.int64)
        codes = [np.unique(own, return_inverse=True)[1] for own in (labels, np.concatenate(names))]
        self._groups = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].reshape(-1)

    def of(self, mine: np.ndarray, level: float) -> tuple[float, float, float]:
        """Return the ends of the band and the expected gap of the rows of a mask (n,).

        Rows of absent classes are never covered; a group of such rows only has no band.
        """
        rows = int(np.count_nonzero(mine))
        if self._counted is not None:
            mine = mine & (self._counted > 0)
        absent = rows - int(np.count_nonzero(mine))
        if absent == rows:
            return math.nan, math.nan, 1 - level
        groups = self._groups[mine]
        counted = None if self._counted is None else self._counted[mine]
        parts = []
        for code in np.unique(groups).tolist():
            own = groups == code
            parts.append((int(own.sum()), None if counted is None else int(counted[own].min())))
        low, high = coverage_band(parts, level, self._smoothed)
        share = 1 - absent / rows
        return low * share, high * share, expected_deviation(parts, level, self._smoothed, absent)


def _groups(
    by: str, groups: np.ndarray, covered: np.ndarray, level: float, bands: _Bands | None
) -> Iterator[GroupLine]:
    labels = np.unique(groups).tolist()
    for label in labels:
        mine = groups == label
        found = GroupCoverage.of(int(mine.sum()), int(np.count_nonzero(covered[mine])), len(labels))
        low, high, gap = (None, None, None) if bands is None else bands.of(mine, level)
        few = int(found.rows < fewest_rows(level))
        numbers = found.rows, found.covered, found.share, found.low, found.high, low, high, gap
        yield GroupLine(by, label, *numbers, few)


def gap_lines(lines: Sequence[GroupLine], level: float) -> Iterator[GapLine]:
    """Yield a line for the classes and for each column from the lines of one level."""
    for by in dict.fromkeys(line.by for line in lines if line.by != SIZE):
        mine = [line for line in lines if line.by == by]
        short = [1 - level - line.coverage for line in mine]
        expected = [line.expected_gap for line in mine if line.expected_gap is not None]
        expected = [gap for gap in expected if not math.isnan(gap)]
        enough = [line for line in mine if not line.few]
        worst = min(enough, key=lambda line: line.coverage, default=None)
        yield GapLine(
            by,
            len(mine),
            _mean([abs(gap) for gap in short]),
            _mean(expected) if expected else None,
            _mean([max(gap, 0.0) for gap in short]),
            len(enough),
            *((worst.group, worst.coverage) if worst else (None, None)),
        )


def column_groups(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return the group (n,) of each value of a column, as a place in the list of names, and that list.

    Texts are groups. Numbers are divided into 5 bins of equal mass that do not divide equal values; a bin is
    named by its smallest and largest value. Missing values are the last group.
    """
    if values.dtype.kind != "f":
        texts, places = np.unique(values, return_inverse=True)
        return places, texts.tolist()
    missing = np.isnan(values)
    groups = np.zeros(len(values), dtype=np.int64)
    if missing.all():
        return groups, [MISSING]
    bins, groups[~missing] = np.unique(equal_mass_groups(values[~missing]), return_inverse=True)
    groups[missing] = len(bins)
    names = []
    for place in range(len(bins)):
        mine = values[groups == place]
        low, high = float(mine.min()), float(mine.max())
        names.append(number_text(low) if low == high else f"{number_text(low)} to {number_text(high)}")
    if len(set(names)) < len(names):
        names = [f"bin {place + 1}: {name}" for place, name in enumerate(names)]
    return groups, [*names, *([MISSING] if missing.any() else [])]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


UNSEEN = "no calibration row"


class ErrorLine(NamedTuple):
    """Regions of one view in one group: ``calibration`` is the smallest number over the splits of the
    calibration rows in the group, ``low`` to ``high`` the Clopper-Pearson interval of the error at 95 %."""

    by: str
    group: str
    view: tuple[str, ...]
    level: float
    guaranteed: int
    calibration: int
    rows: int
    error: float
    low: float
    high: float
    size: float


class SplitRegions(NamedTuple):
    """Rows (n,) of one split, and for each level (l, n) whether a region misses the label, and its size."""

    rows: np.ndarray
    missed: np.ndarray
    sizes: np.ndarray


class ViewRegions(NamedTuple):
    """Regions of one view of a method on a data set, by split.

    key: method, label and view. groups: name of the group of each row, by division of ``by`` and split.
    calibration: smallest number of calibration rows of each group, by division and name.
    """

    key: tuple[str, str, str]
    splits: dict[str, SplitRegions]
    groups: dict[tuple[str, str], dict[int, str]]
    calibration: dict[tuple[str, str], int]


@dataclass(frozen=True)
class RegionsByGroup:
    """Function of a variant that returns the regions of its views at some levels."""

    levels: tuple[float, ...]

    def __call__(self, variant: Variant) -> tuple[str, list[ViewRegions]]:
        """Return the data set and the regions of each view that has some."""
        views = []
        method = variant.splits[0].cell.method
        for view, splits in variant.views.items():
            regions = ViewRegions((method, variant.label, view), {}, {}, {})
            for result, case in splits:
                if not case.prediction.has_regions:
                    continue
                found = [case.regions(level) for level in self.levels]
                missed, sizes = (
                    ~np.array([one.covered for one in found]),
                    np.array([one.sizes for one in found]),
                )
                regions.splits[result.cell.split] = SplitRegions(np.asarray(result.rows), missed, sizes)
                if GROUP in case.prediction.extra:
                    _add_groups(regions, result, case)
            if regions.splits:
                views.append(regions)
        return variant.dataset, views


def _add_groups(regions: ViewRegions, result: CellResult, case: Case) -> None:
    for division, details in enumerate(result.views.fit_details.other[DIVISIONS]):
        codes, columns = case.prediction.extra[GROUP][:, division], case.true_columns
        places = codes
        if details["label"]:
            unknown = (codes == UNKNOWN) | (columns < 0)
            places = np.where(unknown, UNKNOWN, codes * len(case.prediction.classes) + columns)
        names = np.array([*details["groups"], UNSEEN])[places].tolist()
        by = details["name"]
        regions.groups[by, result.cell.split] = dict(zip(result.rows.tolist(), names, strict=True))
        for name, count in zip(details["groups"], details["rows"], strict=True):
            regions.calibration[by, name] = min(regions.calibration.get((by, name), count), count)


def error_lines(run: RunResults, levels: tuple[float, ...]) -> dict[str, list[ErrorLine]]:
    """Return by data set the lines of every division, group, view and level."""
    views: dict[str, list[ViewRegions]] = {}
    for dataset, found in run.collected(RegionsByGroup(levels)):
        views.setdefault(dataset, []).extend(found)
    return {dataset: list(_of_dataset(own, levels)) for dataset, own in views.items()}


def _of_dataset(views: Sequence[ViewRegions], levels: Sequence[float]) -> Iterator[ErrorLine]:
    """Yield the lines of one data set. Of several splits that test a row, the first one counts."""
    groups: dict[tuple[str, str], dict[int, str]] = {}  # of the first view that has the division
    calibration: dict[tuple[str, str], int] = {}
    for view in views:
        groups = view.groups | groups
        for key, count in view.calibration.items():
            calibration[key] = min(calibration.get(key, count), count)
    for by in dict.fromkeys(by for view in views for by, _ in view.groups):
        for view in views:
            known: set[int] = set()
            parts = []
            for split, regions in view.splits.items():
                name_of = view.groups.get((by, split)) or groups.get((by, split))
                if name_of is None:
                    continue
                rows = regions.rows.tolist()
                new = [place for place, row in enumerate(rows) if row not in known]
                known.update(rows[place] for place in new)
                names = np.array([name_of.get(rows[place], UNSEEN) for place in new])
                parts.append((names, regions.missed[:, new], regions.sizes[:, new]))
            if not parts:
                continue
            names = np.concatenate([part[0] for part in parts])
            missed, sizes = (np.concatenate([part[at] for part in parts], axis=1) for at in (1, 2))
            guaranteed = int(any(division == by for division, _ in view.groups))
            for group in sorted(set(names.tolist()), key=lambda name: (name == UNSEEN, name)):
                mine = names == group
                n, rows_of_group = int(mine.sum()), calibration.get((by, group), 0)
                for at, level in enumerate(levels):
                    wrong = int(missed[at, mine].sum())
                    interval = GroupCoverage.of(n, wrong)
                    yield ErrorLine(
                        *(by, group, view.key, level, guaranteed, rows_of_group, n),
                        *(wrong / n, interval.low, interval.high, float(sizes[at, mine].mean())),
                    )
