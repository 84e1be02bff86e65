"""Intervals of shares, and bands of p-values."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest

from confml.measures import Case
from confml.measures.coverage_band import coverage_band
from confml.measures.distributions import clopper_pearson
from confml.measures.prediction import Prediction
from confml.report.run.results import Split
from confml.report.tables.class_coverage import calibration_parts


def test_intervals_are_clopper_pearson():
    interval = binomtest(45, 50).proportion_ci(0.95, "exact")
    assert clopper_pearson(45, 50) == pytest.approx((interval.low, interval.high))
    assert (clopper_pearson(0, 3)[0], clopper_pearson(3, 3)[1]) == (0.0, 1.0)


def test_weighted_p_values_have_no_band():
    """The coverage of weighted p-values varies more than that of independent errors: see the simulation."""
    p = np.tile([0.5, 0.01], (60, 1))
    counts = {name: np.ones((60, 2), np.int64) for name in ("n_greater", "n_equal")}
    y = np.zeros(60, dtype=int)
    for extra, has_band in ((counts, True), ({**counts, "own_share": np.full((60, 2), 0.01)}, False)):
        case = Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), y)
        parts = calibration_parts([Split(SimpleNamespace(rows=np.arange(60)), case)])
        assert np.isfinite(coverage_band(parts.values(), 0.1)).all() == has_band
