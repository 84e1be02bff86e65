"""Weighted p-values under covariate and label shift, and class frequencies, against their definitions."""

import numpy as np
import pandas as pd
import pytest
from reference.weighted import bbse, weighted_p_value
from sklearn.linear_model import LogisticRegression
from trials import blobs

import confml
from confml import Conformal
from confml.errors import ConfmlError
from confml.methods.label_shift import bbse_intervals
from confml.methods.naive_bayes import NaiveBayes
from confml.methods.shift import ShiftWeights, covariate_weights, label_weights


@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("smoothed", [False, True])
def test_split_conformal_is_the_weighted_formula(mondrian, smoothed):
    X, y = blobs(2, 200)
    X, T = X.round(), blobs(3, 25)[0].round() + 0.5  # ties and duplicates
    params = {"mondrian": mondrian, "smoothed": smoothed, "random_state": 5}
    method = Conformal(NaiveBayes(), shift="covariate", **params).fit(X, y)
    view = method.confident_predict(T)["p-value"]
    part = method.labelled_
    weights = covariate_weights(X, T, part.rows)
    scores = np.empty(len(part.rows))
    for group, values in zip(method.scores_[0].places[0], method.scores_[0].lists[0], strict=True):
        scores[group] = values
    for (row, column), score in np.ndenumerate(view.extra["nonconformity"]):
        counted = part.codes == column if mondrian else np.ones(len(scores), dtype=bool)
        rounded = np.where(np.isclose(scores, score, rtol=1e-12, atol=1e-12), score, scores)[counted]
        tau = view.extra["tau"][row] if smoothed else 1
        expected = weighted_p_value(rounded, score, weights.weights[counted], weights.new[row, 0], tau)
        assert view.scores[row, column] == pytest.approx(expected, rel=1e-15)
    assert np.all(view.scores >= view.extra["own_share"] * (0 if smoothed else 1))


def test_row_order_does_not_matter():
    rng = np.random.default_rng(3)
    w = rng.random(500) * 99
    order = rng.permutation(500)
    first, second = (ShiftWeights.of(w[rows], np.array([[1.0]]), {}) for rows in (np.arange(500), order))
    np.testing.assert_array_equal(first.weights[order], second.weights)
    assert first.metrics["shift_effective_rows"] == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert int(first.weights.sum()) + int(first.new.max()) < 2**53
    np.testing.assert_allclose(first.weights / first.new[0, 0], w, rtol=1e-9)


def test_weights_are_ratios_of_densities():
    rng = np.random.default_rng(4)
    X, T = rng.normal(size=(4000, 1)), rng.normal(1.0, 1.0, size=(4000, 1))
    shift = covariate_weights(X, T, np.arange(4000))
    assert np.mean(np.abs(shift.weights / shift.weights.mean() - np.exp(X[:, 0] - 0.5))) < 0.1
    assert shift.metrics["shift_auc"] == pytest.approx(0.76, abs=0.02)
    assert 1000 < shift.metrics["shift_effective_rows"] < 2200  # 4000 / e = 1472
    none = covariate_weights(X, rng.normal(size=(300, 1)), np.arange(4000)).metrics
    assert none["shift_auc"] == pytest.approx(0.5, abs=0.06) and none["shift_effective_rows"] > 3800


def test_missing_values_and_constant_features_have_weights():
    rng = np.random.default_rng(5)
    X, T = rng.normal(size=(80, 3)), rng.normal(size=(60, 3))
    X[:, 2] = T[:, 2] = 1.0
    X[::3, 0] = np.nan
    shift = covariate_weights(X, T, np.arange(80))
    assert np.all(shift.weights > 0) and shift.metrics["shift_auc"] > 0.55  # only X has missing values
    with pytest.raises(ConfmlError, match="at least 5 training and test examples, got 80 and 2"):
        covariate_weights(X, T[:2], np.arange(80))


def test_bbse_is_the_solution_in_fractions():
    rng = np.random.default_rng(6)
    for _ in range(20):
        true, test = rng.integers(0, 3, 60), rng.integers(0, 3, 40)
        predicted = np.where(rng.random(60) < 0.7, true, rng.integers(0, 3, 60))
        expected = bbse(predicted, true, test, range(3))
        shift = label_weights(predicted, true, test, 3)
        w = shift.new[0] / shift.new.max()
        np.testing.assert_allclose(w, np.array(expected) / max(expected), rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(shift.weights, shift.new[0][true])


# ---- class frequencies


def classes(rng, priors, rows):
    y = rng.choice(3, rows, p=priors)
    y[:3] = 0, 1, 2
    return rng.normal(size=(rows, 2)) + 2 * np.column_stack([y % 2, y // 2]), y


def test_intervals_contain_the_true_frequencies():
    """Priors 0.7, 0.2, 0.1 become 0.2, 0.3, 0.5: of 30 draws of three classes most intervals contain them."""
    covered, new = 0, np.array([0.2, 0.3, 0.5])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, [0.7, 0.2, 0.1], 1500)
        model = LogisticRegression().fit(X[:700], y[:700])
        predicted_new = model.predict(classes(rng, new, 800)[0])
        intervals = bbse_intervals(model.predict(X[700:]), y[700:], predicted_new, 3)
        assert np.all(intervals.low <= intervals.estimate) and np.all(intervals.estimate <= intervals.high)
        covered += int(np.sum((intervals.low <= new) & (new <= intervals.high)))
        weights = label_weights(model.predict(X[700:]), y[700:], predicted_new, 3).new[0]
        ratio = intervals.estimate / intervals.training
        assert ratio / ratio.sum() == pytest.approx(weights / weights.sum(), abs=1e-6)
    assert covered >= 24


def test_a_class_without_a_calibration_example_has_no_interval():
    predicted, codes = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 1, 1])
    intervals, two = (bbse_intervals(predicted, codes, np.array([0, 1, 1, 1]), c) for c in (3, 2))
    assert intervals.low[:2].tolist() == two.low.tolist() and intervals.high[:2].tolist() == two.high.tolist()
    assert intervals.estimate[2] == 0 and np.isnan(intervals.low[2]) and np.isnan(intervals.high[2])


def test_a_run_writes_the_frequencies(tmp_path):
    data = {"generate": "label-shift", "n": 2000, "test-n": 500, "prior": 0.6, "distance": 2.5}
    method = {"name": "naive-bayes", "conformal": {"kind": "split", "calibration": 0.5, "shift": "label"}}
    config = {"datasets": [data], "methods": [method], "protocol": "fixed-split", "levels": [0.1]}
    confml.run(config, out=tmp_path / "out", engine="serial")
    frequencies = pd.read_csv(tmp_path / "out" / "tables/shift-classes.csv")
    assert frequencies["class"].tolist() == [1, 2]
    row = frequencies.iloc[1]
    assert row["training"] < 0.2 and row["low"] < row["estimate"] < row["high"]
    assert row["estimate"] == pytest.approx(0.6, abs=0.1) and row["observed"] == pytest.approx(0.6, abs=0.1)
    assert (pd.read_csv(tmp_path / "out" / "tables/shift.csv")["coverage"] > 0.85).all()
