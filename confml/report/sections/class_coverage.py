"""Coverage of each class over the splits: ``class-coverage.csv``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from confml.measures.coverage_band import coverage_band
from confml.report.calibration_parts import CalibrationParts, case_of
from confml.report.items import Item, Table
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults
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

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self.rows: list[ClassRow] = []
        # of the views of one variant; counts: rows and covered ones by label and level
        self._counts: dict[_Key, dict[tuple, list[int]]] = {}
        self._parts: dict[_Key, CalibrationParts] = {}

    def add(self, result: CellResult) -> Iterator[Item]:
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
        yield from ()

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
            header = ("dataset", "method", "params", "view", "class", *ClassRow._fields[5:])
            yield Table("class-coverage.csv", header, self.rows)
