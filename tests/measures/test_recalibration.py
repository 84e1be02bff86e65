"""Isotonic regression, calibration errors by chance, slopes, and the reliability diagram."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from confml.measures import Case
from confml.measures.prediction import Prediction
from confml.measures.recalibration import ChanceErrors, Event, Slope, event_of
from confml.report.figures.reliability import Diagram


@pytest.mark.parametrize("seed", range(5))
def test_slopes_equal_logistic_regression(seed):
    rng = np.random.default_rng(seed)
    p = np.clip(rng.beta(1, 1, 200), 0.01, 0.99)
    happened = rng.random(200) < p**1.5
    (found,) = Slope.of(p[None], happened[None])
    x = np.log(p / (1 - p))[:, None]
    oracle = LogisticRegression(C=np.inf, tol=1e-10).fit(x, happened)
    assert found.slope == pytest.approx(oracle.coef_[0, 0], abs=1e-5)
    assert found.intercept == pytest.approx(oracle.intercept_[0], abs=1e-5)
    # With slope 1 the mean of the moved probabilities is the frequency.
    moved = 1 / (1 + np.exp(-x[:, 0] - found.in_the_large))
    assert moved.mean() == pytest.approx(happened.mean(), abs=1e-9)


def test_slopes_that_do_not_exist():
    p = np.array([0.1, 0.2, 0.8, 1.0])
    (separated,) = Slope.of(p[None], np.array([[False, False, True, True]]))
    assert math.isnan(separated.slope) and not math.isnan(separated.in_the_large)
    assert separated.clipped == 2  # 0.1 and 1.0 leave [1/8, 7/8]
    (equal,) = Slope.of(p[None], np.zeros((1, 4), dtype=bool))
    assert math.isnan(equal.slope) and math.isnan(equal.in_the_large)
    (constant,) = Slope.of(np.full((1, 4), 0.5), np.array([[True, False, True, True]]))
    assert math.isnan(constant.slope)
    assert constant.in_the_large == pytest.approx(math.log(3))


def test_parts_together_have_the_numbers_of_each_alone():
    """Ties, separated and constant outcomes included."""
    rng = np.random.default_rng(3)
    p = np.stack([rng.beta(0.5, 0.5, 30), rng.integers(0, 4, 30) / 3, np.full(30, 0.5), rng.random(30)])
    happened = np.stack([rng.random(30) < p[0], rng.random(30) < 0.5, np.zeros(30, bool), p[3] > 0.5])
    assert ChanceErrors.of(p) == [ChanceErrors.of(row[None])[0] for row in p]
    alone = [Slope.of(one[None], own[None])[0] for one, own in zip(p, happened, strict=True)]
    np.testing.assert_allclose(Slope.of(p, happened), alone, rtol=1e-8, atol=1e-9)
    assert [math.isnan(one.slope) for one in alone] == [False, False, True, True]


def test_events():
    two = Prediction(np.array(["a", "b"]), [[0.3, 0.7], [0.6, 0.4]], "probability")
    assert event_of(Case(two, np.array(["b", "z"]))).happened.tolist() == [True, False]
    assert event_of(Case(two, np.array(["b", "z"]))).p.tolist() == [0.7, 0.4]
    three = Prediction(np.arange(3), [[0.2, 0.5, 0.3]], "probability")
    assert event_of(Case(three, np.array([1]))).p.tolist() == [0.5]


def test_the_band_holds_calibrated_outcomes_and_not_others():
    rng = np.random.default_rng(3)
    p = rng.integers(1, 20, 2000) / 20
    calibrated = Diagram.of(Event(p, rng.random(2000) < p), 200)
    inside = (calibrated.fit.fitted >= calibrated.low) & (calibrated.fit.fitted <= calibrated.high)
    assert inside.mean() > 0.7
    wrong = Diagram.of(Event(p, rng.random(2000) < p**3), 200)
    inside = (wrong.fit.fitted >= wrong.low) & (wrong.fit.fitted <= wrong.high)
    assert inside.mean() < 0.3
