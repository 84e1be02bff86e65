"""Coverage of classes, region sizes and groups of columns over the splits."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confml.data.dataset import DataSet
from confml.errors import ConfmlError
from confml.measures.conditional import GroupCoverage, Slab, fewest_rows, worst_slab
from confml.measures.coverage_band import coverage_band
from confml.measures.excess_risk import ExcessRisk, excess_risks
from confml.report.items import Item, Note, TableKind
from confml.report.numbers.groups import CoverageOfGroups, GapLine, GroupLine, gap_lines
from confml.report.numbers.region_levels import CalibrationParts, group_names
from confml.report.run.results import RunResults
from confml.report.sections.base import KEY, ViewSection
from confml.runner.origins import RowOrigins
from confml.runner.results import CellResult


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


OF_CLASSES = TableKind("class-coverage.csv", (*KEY, "class", *ClassRow._fields[5:]), read=True)


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


OF_GROUPS = TableKind("conditional-coverage.csv", (*KEY, "level", *GroupLine._fields), read=True)
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

    def start(self) -> None:
        self._plain: dict[tuple[str, str], None] = {}

    def new(self, key):
        return CoverageOfGroups(self.results.has_groups(key[0]))

    def takes(self, case):
        return case.prediction.has_regions

    def add(self, result: CellResult) -> None:
        if result.views.fit_metrics.get("class_clusters") == 0:
            self._plain[result.cell.dataset, self.results.label(result.cell)] = None
        super().add(result)

    def add_view(self, found, result, view, case):
        found.add(result, case, self.results.origins.get(result.cell.dataset))

    def rows_of(self, key, found):
        rows, gaps = [], []
        for level in map(float, self.results.config.levels):
            lines = list(found.lines(level))
            rows += [(*key, level, *line) for line in lines]
            gaps += [(*key, level, *line) for line in gap_lines(lines, level)]
        return rows, gaps

    def items(self) -> Iterator[Item]:
        yield from super().items()
        for dataset, label in self._plain:
            yield Note(
                f"{dataset}, {label}: the classes have too few calibration rows for clusters, so p-values "
                "are plain; use mondrian: true, or a larger calibration part"
            )


SLAB, ERT = "worst-slab", "ert"
TERMS = 3  # features of a direction that are named


class ConditionalTest(NamedTuple):
    """One test. See `ConditionalTests`."""

    test: str
    rows: int
    covered: int
    value: float
    low: float
    high: float
    chosen: float | None
    few: int
    evidence: int | None
    where: str


CONDITIONAL = TableKind("conditional-tests.csv", (*KEY, "level", *ConditionalTest._fields))


class _Covered:
    """The test rows of a view over the splits, and whether they are covered at each level."""

    def __init__(self):
        self.split = ""
        self._seen: set[int] = set()
        self._rows: list[int] = []
        self._columns: list[np.ndarray] = []

    def add(self, result: CellResult, covered: np.ndarray) -> None:
        self.split, rows = self.split or result.cell.split, result.rows
        new = [place for place, row in enumerate(np.asarray(rows).tolist()) if row not in self._seen]
        if new:
            own = np.asarray(rows)[new].tolist()
            self._seen.update(own)
            self._rows += own
            self._columns.append(covered[:, new])

    @property
    def rows(self) -> np.ndarray:
        return np.array(self._rows)

    @property
    def covered(self) -> np.ndarray:
        return np.concatenate(self._columns, axis=1)


class ConditionalTests(ViewSection):
    """``conditional-tests.csv``: for ``conditional-tests``, whether coverage given the features is 1 - level.

    Each test row counts once: of several repeats only the first one that tests it. The features are those
    before the steps, nominal ones as dummy columns. The report needs the data for them.

    ``worst-slab``: test rows x with a <= v.x <= b, the features standardised. A random half of the test rows
    (at most 2,500) chooses a slab along the features or 1000 random directions. It is the slab with the
    smallest coverage among all slabs with at least 10 % of the half. ``value`` is the coverage of the other
    rows in this slab, with its Clopper-Pearson interval at 95 %; ``rows`` and ``covered`` are counted there.
    ``chosen`` is the coverage in the choosing half, which is too small because the slab was chosen by it.
    ``where``: the slab, with the largest weights. ``few``: 1 with fewer than 5 / level rows.

    ``ert-l1``, ``ert-brier``: excess risk of the target coverage (`confml.measures.excess_risk`): a lower
    bound, in expectation, of the mean distance (squared distance) of the coverage given the features from
    1 - level, with its normal interval.

    ``evidence``: 1 if the interval is below 1 - level (worst-slab), or above 0 (ert, not ``few``): the
    coverage given the features is not 1 - level. If it is, ``evidence`` is 1 by chance in at most 2.5 % of
    the test parts (worst-slab), or about 5 % (ert-l1). 0 does not show that it is. A predictor with valid
    p-values, whose coverage is 1 - level on average over calibration parts, may have evidence for two
    reasons. No method guarantees coverage given the features. And with few calibration examples the coverage
    of one split differs from 1 - level everywhere: compare ``value`` with the coverage of all test rows, and
    this with its band (``validity`` figure). The tests are not corrected for their number. With ``groups``
    there are neither intervals nor evidence, because the rows of a group are dependent.
    """

    name = "conditional-tests"
    place = 63
    needs = "conditional-tests, views with regions, the data"
    setting = "conditional_tests"
    files = {
        "conditional-tests.csv": "worst slab and excess risk: whether the coverage given the features is "
        "1 - level"
    }

    tables = (CONDITIONAL,)
    kept = _Covered

    def start(self) -> None:
        self._features: dict[str, _Features | str] = {}  # of one data set; a text: the reason for none
        self._missing: dict[str, str] = {}

    def takes(self, case):
        return case.prediction.has_regions and len(self.results.config.levels) > 0

    def add_view(self, found, result, view, case):
        covered = np.stack([case.covered(float(level)) for level in self.results.config.levels])
        found.add(result, covered)

    def rows_of(self, key, found):
        if key[0] not in self._features:
            self._features[key[0]] = _Features.of(self.results, key[0])
        here, rows = self._features[key[0]], []
        if not isinstance(here, str):
            X = here.rows(found.rows, found.split)
            grouped = self.results.has_groups(key[0])
            for level, covered in zip(self.results.config.levels, found.covered, strict=True):
                for row in self._tests(X, covered, float(level), here.names):
                    test = row._replace(low=math.nan, high=math.nan, evidence=None) if grouped else row
                    rows.append((*key, float(level), *test))
        return (rows,)

    def finish_dataset(self) -> None:
        self._missing |= {name: one for name, one in self._features.items() if isinstance(one, str)}
        self._features = {}

    def items(self) -> Iterator[Item]:
        yield from super().items()
        for dataset, reason in self._missing.items():
            yield Note(f"{dataset}: conditional-tests.csv has no rows of it: {reason}")

    def _tests(
        self, X: np.ndarray, covered: np.ndarray, level: float, names: tuple[str, ...]
    ) -> Iterator[ConditionalTest]:
        wanted = self.results.config.conditional_tests
        if SLAB in wanted:
            means = np.nanmean(X, axis=0) if np.isnan(X).any() else np.zeros(X.shape[1])
            slab = worst_slab(np.where(np.isnan(X), means, X), covered, self.results.config.seed)
            if slab is not None and slab.rows:
                yield slab_row(slab, level, names)
        risks = excess_risks(X, covered, level, self.results.config.seed) if ERT in wanted else None
        for name, risk in zip(("ert-l1", "ert-brier"), risks or (), strict=False):
            yield ert_row(name, risk, covered, level)


class _Features:
    """The features of a data set by row."""

    def __init__(self, data: DataSet):
        self._data, self._origins, self.names = data, RowOrigins.of(data), data.attributes

    def rows(self, rows: np.ndarray, split: str) -> np.ndarray:
        return np.asarray(self._data.X[self._origins.places(rows, split)])

    @classmethod
    def of(cls, results: RunResults, dataset: str) -> "_Features | str":
        """Return the features of a data set of the run, or the reason why there are none."""
        from confml.data import load

        (spec,) = [one for one in results.config.datasets if one.name == dataset]
        try:
            data = load(spec.spec())
        except ConfmlError as error:
            return f"the report needs the data ({error.message})"
        info = results.datasets.get(dataset)
        if info is not None and info.checksum and info.checksum != data.checksum:
            return "the data differ from those of the run"
        return cls(data)


def slab_row(slab: Slab, level: float, names: tuple[str, ...]) -> ConditionalTest:
    """Return the row of a worst slab."""
    found = GroupCoverage.of(slab.rows, slab.covered)
    few, evidence = slab.rows < fewest_rows(level), found.high < 1 - level
    numbers = found.rows, found.covered, found.share, found.low, found.high, slab.chosen_share
    return ConditionalTest(SLAB, *numbers, int(few), int(evidence), slab_words(slab, names))


def ert_row(name: str, risk: ExcessRisk, covered: np.ndarray, level: float) -> ConditionalTest:
    """Return the row of an excess risk."""
    few = len(covered) < fewest_rows(level)
    held = int(np.count_nonzero(covered))
    # With few expected errors the normal interval is too short: without an error it has no length.
    evidence = risk.low > 0 and not few
    return ConditionalTest(name, len(covered), held, *risk, None, int(few), int(evidence), "")


def slab_words(slab: Slab, names: tuple[str, ...]) -> str:
    """Return the ends and the direction of a slab: ``-0.31 <= 0.8 x1 - 0.6 x2 <= 1.2``."""
    order = np.argsort(-np.abs(slab.direction), kind="stable")
    kept = [place for place in order[:TERMS].tolist() if slab.direction[place] != 0]
    terms = " ".join(f"{slab.direction[place]:+.2g} {names[place]}" for place in kept)
    more = np.count_nonzero(slab.direction) - len(kept)
    rest = f" and {more} more" if more else ""
    return f"{slab.low:.3g} <= {terms.removeprefix('+')}{rest} <= {slab.high:.3g}"
