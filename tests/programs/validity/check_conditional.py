"""Conditional coverage: intervals of groups, expected gaps, worst slab, excess risk of constant coverage."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, Claim, Entry

from confml.measures.conditional import GroupCoverage, mean_deviation, worst_slab
from confml.measures.excess_risk import excess_risks
from confml.report.sections.coverage import ert_row, slab_row

LEVEL, COVERAGE = 0.1, 0.9


def intervals(rng, groups, rows):
    """Interval of any group of a table without the true coverage, which is that of all groups."""
    found = [GroupCoverage.of(rows, int(rng.binomial(rows, COVERAGE)), groups) for _ in range(groups)]
    return [any(not one.low <= COVERAGE <= one.high for one in found)]


def gap(rng, classes, rows, calibration):
    """CovGap of split conformal p-values of each class, minus covgap_expected."""
    covered = []
    for _ in range(classes):
        scores, new = rng.random(calibration), rng.random(rows)
        p = ((scores[:, None] >= new).sum(axis=0) + 1) / (calibration + 1)
        covered.append(np.mean(p > LEVEL))
    found = np.abs(np.array(covered) - (1 - LEVEL)).mean()
    return [found - mean_deviation(rows, calibration + 1, LEVEL)]


def slab(rng, rows, features):
    """Evidence of the worst slab although every row is covered with probability 0.9."""
    X, covered = rng.normal(size=(rows, features)), rng.random(rows) < COVERAGE
    found = worst_slab(X, covered, int(rng.integers(2**31)))
    names = tuple(f"x{place}" for place in range(features))
    return [found is not None and found.rows > 0 and slab_row(found, LEVEL, names).evidence]


def excess(rng, rows, features):
    """Evidence of the excess risks although every row is covered with probability 0.9."""
    X, covered = rng.normal(size=(rows, features)), rng.random(rows) < COVERAGE
    found = excess_risks(X, covered, LEVEL, int(rng.integers(2**31)))
    return [ert_row(name, risk, covered, LEVEL).evidence for name, risk in zip("ab", found, strict=True)]


ENTRIES = (
    Entry("group-intervals", "interval, conditional-coverage.csv",
          "at 95 % for all groups of one column together",
          [{"groups": groups, "rows": rows} for groups, rows in ((3, 100), (10, 30))],
          lambda setting: [Claim("interval of any group without the true coverage", 0.05)], intervals),
    Entry("covgap", "covgap_expected", "mean of covgap if the p-values were valid for every class",
          [{"classes": classes, "rows": rows, "calibration": m}
           for classes, rows, m in ((3, 40, 59), (20, 20, 19))],
          lambda setting: [Claim("covgap minus covgap_expected", 0.0, ABOUT, True)], gap, fraction=0.2),
    Entry("worst-slab", "worst-slab, conditional-tests.csv",
          "the slab is chosen on one half and counted on the other; interval at 95 %, one end counts",
          [{"rows": rows, "features": features} for rows, features in ((400, 2), (1000, 8))],
          lambda setting: [Claim("evidence with a coverage of 0.9 everywhere", 0.025)], slab,
          fraction=0.05),
    Entry("excess-risk", "ert, conditional-tests.csv",
          "a valid predictor has evidence of ert-l1 in about 5 % of the test parts",
          [{"rows": 300, "features": 2}],
          lambda setting: [Claim(f"evidence of {name} with a coverage of 0.9 everywhere", 0.05, ABOUT)
                           for name in ("ert-l1", "ert-brier")], excess, fraction=0.03),
)  # fmt: skip
