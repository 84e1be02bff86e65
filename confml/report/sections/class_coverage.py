"""Coverage of each class by itself, over the splits: ``class-coverage.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.validity import class_coverage
from confml.report.sections.base import Item, Section, Table

if TYPE_CHECKING:
    from confml.report.results import RunResults


class ClassRow(NamedTuple):
    """Coverage of one class at one level.

    rows: different test examples of the class. coverage: share of their regions that hold the label, all
    splits together. low, high: where the coverage of p-values that are valid for this class lies with
    probability 95 %: quantiles of the binomial distribution of ``rows`` trials. p-values of one batch are
    counted among the same N examples, and vary 1 + rows/N times as much: the band is a little narrow then.
    """

    dataset: str
    method: str
    params: str
    view: str
    label: object
    level: float
    rows: int
    coverage: float
    low: float
    high: float


def class_rows(results: RunResults) -> Iterator[ClassRow]:
    """A row for every variant with p-values, true label and level, in the order of ``metrics.csv``."""
    from scipy.stats import binom

    levels = tuple(results.config.levels)
    counts: dict[tuple, dict[tuple, list[int]]] = {}  # by variant: (label, level) -> rows, covered
    seen: dict[tuple, dict[object, set[int]]] = {}  # by variant: label -> different rows
    for result in results.finished():
        cell = result.cell
        for view, prediction in result.views.items():
            if prediction.kind != "p-value":
                continue
            case, key = Case(prediction, result.truth), (cell.dataset, cell.method, cell.variant, view)
            found, rows = counts.setdefault(key, {}), seen.setdefault(key, {})
            for label in np.unique(case.truth).tolist():
                rows.setdefault(label, set()).update(np.asarray(result.rows)[case.truth == label].tolist())
            for level in levels:
                for label, (n, covered) in class_coverage(case, level).items():
                    sums = found.setdefault((label, level), [0, 0])
                    sums[0] += n
                    sums[1] += covered
    for key, found in counts.items():
        for label in sorted(seen[key]):
            n = len(seen[key][label])
            for level in levels:
                total, covered = found[label, level]
                low, high = (float(binom.ppf(q, n, 1 - level)) / n for q in (0.025, 0.975))
                yield ClassRow(*key, label, level, n, covered / total, low, high)


class ClassCoverage(Section):
    """``class-coverage.csv``: coverage of each class by itself."""

    name = "class-coverage"
    place = 60
    needs = "p-values"
    files = {"class-coverage.csv": "coverage of each class, with the band of valid p-values"}

    def items(self) -> Iterator[Item]:
        rows = list(class_rows(self.results))
        if rows:
            header = ("dataset", "method", "params", "view", "class", *ClassRow._fields[5:])
            yield Table("class-coverage.csv", header, rows)
