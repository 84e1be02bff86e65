"""Coverage of each class over the splits: ``class-coverage.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from confml.measures.coverage_band import coverage_band
from confml.measures.validity import class_coverage
from confml.report.calibration_parts import CalibrationParts, case_of
from confml.report.sections.base import Item, Section, Table

if TYPE_CHECKING:
    from confml.report.results import RunResults


class ClassRow(NamedTuple):
    """Coverage of one class at one level.

    rows: number of different test examples of the class. counted: number of examples that its p-values are
    counted among, including the new one (smallest of the splits); None for an online pass. coverage: share of
    its regions that contain the label, over all splits. band_low, band_high: 95 % band of the coverage if the
    p-values are valid for the class, quantiles of the beta-binomial distribution of one split with this test
    and calibration part (`confml.measures.coverage_band`). The band is exact for split conformal prediction
    without ties and approximate for the others: TCM-NN with k = 1 leaves it in 6 to 11 % of the splits with
    60 to 200 training examples. Coverage far below the band is lower than chance explains. Coverage above the
    band means conservative p-values: few examples, ties, or lower coverage of other classes. Only
    label-conditional p-values are valid for every class. NaN for an absent class.
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


def class_rows(results: RunResults) -> Iterator[ClassRow]:
    """Yield a row for every variant with p-values, true label and level, in the order of ``metrics.csv``."""
    levels = tuple(results.config.levels)
    counts: dict[tuple, dict[tuple, list[int]]] = {}  # by variant: (label, level) -> rows, covered
    parts: dict[tuple, CalibrationParts] = {}
    for result in results.finished():
        cell = result.cell
        for view, prediction in result.views.items():
            if prediction.kind != "p-value":
                continue
            case, key = case_of(result, prediction), (cell.dataset, cell.method, cell.variant, view)
            found = counts.setdefault(key, {})
            parts.setdefault(key, CalibrationParts()).add(case, result.rows)
            for level in levels:
                for label, (n, covered) in class_coverage(case, level).items():
                    sums = found.setdefault((label, level), [0, 0])
                    sums[0] += n
                    sums[1] += covered
    for key, found in counts.items():
        for label, (rows, counted) in parts[key].classes().items():
            for level in levels:
                total, covered = found[label, level]
                band = coverage_band([(rows, counted)], level, parts[key].smoothed)
                yield ClassRow(*key, label, level, rows, counted, covered / total, *band)


class ClassCoverage(Section):
    """``class-coverage.csv``: coverage of each class, with the band of `ClassRow`."""

    name = "class-coverage"
    place = 60
    needs = "p-values"
    files = {
        "class-coverage.csv": "coverage of each class, with the 95 % band of valid p-values on one split "
        "(exact for split conformal prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits)"
    }

    def items(self) -> Iterator[Item]:
        rows = list(class_rows(self.results))
        if rows:
            header = ("dataset", "method", "params", "view", "class", *ClassRow._fields[5:])
            yield Table("class-coverage.csv", header, rows)
