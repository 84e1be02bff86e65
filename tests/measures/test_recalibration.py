"""Events and the reliability diagram."""

import numpy as np

from confml.measures import Case
from confml.measures.prediction import Prediction
from confml.measures.recalibration import Event, event_of
from confml.report.figures.reliability import Diagram


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
