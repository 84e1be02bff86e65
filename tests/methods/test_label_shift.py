"""Class frequencies under label shift: intervals, and a run."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import confml
from confml.methods.label_shift import bbse_intervals
from confml.methods.shift import label_weights


def classes(rng, priors, rows):
    y = rng.choice(3, rows, p=priors)
    y[:3] = 0, 1, 2
    return rng.normal(size=(rows, 2)) + 2 * np.column_stack([y % 2, y // 2]), y


def test_intervals_contain_the_true_frequencies():
    """Priors 0.7, 0.2, 0.1 become 0.2, 0.3, 0.5: of 30 draws of three classes most intervals hold them."""
    held, new = 0, np.array([0.2, 0.3, 0.5])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, [0.7, 0.2, 0.1], 1500)
        T, _ = classes(rng, new, 800)
        model = LogisticRegression().fit(X[:700], y[:700])
        found = bbse_intervals(model.predict(X[700:]), y[700:], model.predict(T), 3)
        assert np.all(found.low <= found.estimate) and np.all(found.estimate <= found.high)
        held += int(np.sum((found.low <= new) & (new <= found.high)))
        expected = label_weights(model.predict(X[700:]), y[700:], model.predict(T), 3)
        ratio = found.estimate / found.training
        own = expected.new[0] / expected.new[0].sum()
        assert ratio / ratio.sum() == pytest.approx(own, abs=1e-6)
    assert held >= 24


def test_a_class_without_a_calibration_example_has_no_interval():
    predicted, codes = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1, 1])
    found = bbse_intervals(predicted, codes, np.array([0, 1, 1, 1]), 3)
    two = bbse_intervals(predicted, codes, np.array([0, 1, 1, 1]), 2)
    assert found.low[:2].tolist() == two.low.tolist() and found.high[:2].tolist() == two.high.tolist()
    assert found.estimate[2] == 0 and np.isnan(found.low[2]) and np.isnan(found.high[2])


def test_a_run_writes_the_frequencies(tmp_path):
    data = {"name": "d", "generate": "label-shift", "n": 2000, "test-n": 500, "prior": 0.6, "distance": 2.5}
    conformal = {"kind": "split", "calibration": 0.5, "shift": "label"}
    config = {
        "name": "shift",
        "datasets": [data],
        "methods": [{"name": "naive-bayes", "conformal": conformal}],
        "protocol": "fixed-split",
        "levels": [0.1],
    }
    confml.run(config, out=tmp_path / "out", jobs=1, engine="serial")
    with (tmp_path / "out" / "tables/shift-classes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    for row in rows[1::2]:
        assert row["class"] == "2" and float(row["training"]) < 0.2
        assert float(row["low"]) < float(row["estimate"]) < float(row["high"])
        assert float(row["estimate"]) == pytest.approx(0.6, abs=0.1)
        assert float(row["observed"]) == pytest.approx(0.6, abs=0.1)
    with (tmp_path / "out" / "tables/shift.csv").open(newline="") as file:
        assert all(float(row["coverage"]) > 0.85 for row in csv.DictReader(file))
