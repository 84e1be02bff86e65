"""Conditional coverage: intervals of groups, expected gaps."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, Claim, Entry

from confml.measures.conditional import GroupCoverage
from confml.measures.coverage_band import expected_deviation

LEVEL, COVERAGE = 0.1, 0.9


def intervals(rng, groups, rows):
    """Interval of any group of a table without the true coverage, which is that of all groups."""
    found = [GroupCoverage.of(rows, int(rng.binomial(rows, COVERAGE)), groups) for _ in range(groups)]
    return [any(not one.low <= COVERAGE <= one.high for one in found)]


def gap(rng, classes, rows, calibration):
    """covgap of split conformal p-values of each class, minus its expected value."""
    covered = []
    for _ in range(classes):
        scores, new = rng.random(calibration), rng.random(rows)
        p = ((scores[:, None] >= new).sum(axis=0) + 1) / (calibration + 1)
        covered.append(np.mean(p > LEVEL))
    found = np.abs(np.array(covered) - (1 - LEVEL)).mean()
    return [found - expected_deviation([(rows, calibration + 1)], LEVEL)]


ENTRIES = (
    Entry("group-intervals", "interval, conditional-coverage.csv",
          "at 95 % for all groups of one column together",
          [{"groups": groups, "rows": rows} for groups, rows in ((3, 100), (10, 30))],
          lambda setting: [Claim("interval of any group without the true coverage", 0.05)], intervals),
    Entry("covgap", "expected, coverage-gaps.csv", 
          "mean of covgap if the p-values were valid for every class",
          [{"classes": classes, "rows": rows, "calibration": m}
           for classes, rows, m in ((3, 40, 59), (20, 20, 19))],
          lambda setting: [Claim("covgap minus expected", 0.0, ABOUT, True)], gap, fraction=0.2),
)  # fmt: skip
