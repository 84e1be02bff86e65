"""Coverage of groups: strata, intervals, expected gaps."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta, betabinom, binom

from confml.measures import Case
from confml.measures.conditional import (
    GroupCoverage,
    equal_mass_groups,
    fewest_rows,
    size_strata,
    stratum_name,
)
from confml.measures.coverage_band import coverage_band, expected_deviation
from confml.measures.prediction import Prediction
from confml.report.run.results import Split
from confml.report.tables.class_coverage import calibration_parts


def test_strata_double():
    names = [stratum_name(s) for s in size_strata(np.array([0, 1, 2, 3, 4, 5, 8, 9, 16, 17])).tolist()]
    assert names == ["0", "1", "2", "3-4", "3-4", "5-8", "5-8", "9-16", "9-16", "17-32"]


def test_minimum_counts():
    assert [fewest_rows(level) for level in (0.01, 0.05, 0.1, 0.3)] == [500, 100, 50, 17]


def test_intervals_are_clopper_pearson_with_bonferroni():
    found = GroupCoverage.of(50, 45, groups=5)
    assert found.low == pytest.approx(beta.ppf(0.005, 45, 6))
    assert found.high == pytest.approx(beta.ppf(0.995, 46, 5))
    assert (GroupCoverage.of(3, 0).low, GroupCoverage.of(3, 3).high) == (0.0, 1.0)


def test_expected_gaps_equal_de_moivre_and_the_beta_binomial():
    n, e = 20, 0.1
    v = math.floor(n * (1 - e) + 1e-9) + 1
    assert expected_deviation([(n, None)], e) == pytest.approx(2 * v / n * e * binom.pmf(v, n, 1 - e))
    k = np.arange(n + 1)
    literal = np.sum(betabinom.pmf(k, n, 90, 10) * np.abs(k / n - 0.9))
    assert expected_deviation([(n, 100)], e) == pytest.approx(literal)
    assert expected_deviation([(n, 5)], e) == pytest.approx(0.1)  # everything is covered


def test_weighted_p_values_have_no_band():
    """The coverage of weighted p-values varies more than that of independent errors: see the simulation."""
    p = np.tile([0.5, 0.01], (60, 1))
    counts = {name: np.ones((60, 2), np.int64) for name in ("n_greater", "n_equal")}
    y = np.zeros(60, dtype=int)
    for extra, has_band in ((counts, True), ({**counts, "own_share": np.full((60, 2), 0.01)}, False)):
        case = Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), y)
        parts = calibration_parts([Split(SimpleNamespace(rows=np.arange(60)), case)])
        assert np.isfinite(coverage_band(parts.values(), 0.1)).all() == has_band


def test_equal_mass_groups_do_not_divide_equal_values():
    assert equal_mass_groups(np.arange(10.0)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    groups = equal_mass_groups(np.array([1.0, 1.0, 1.0, 0.0, 2.0]))
    assert len(set(groups[:3].tolist())) == 1 and groups[3] < groups[0] < groups[4]
