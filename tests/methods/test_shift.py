"""Weighted p-values under covariate and label shift, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from reference.weighted import bbse, weighted_p_value

from confml.errors import ConfigError, ConfmlError
from confml.methods.conformal import Conformal
from confml.methods.naive_bayes import NaiveBayes
from confml.methods.registry import build
from confml.methods.shift import ShiftWeights, covariate_weights, label_weights


def integers(rng, rows, classes=3):
    """Whole numbers with ties and duplicates."""
    y = rng.integers(0, classes, rows)
    y[:classes] = np.arange(classes)
    return rng.integers(0, 5, (rows, 2)).astype(float) + y[:, None], y


@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("smoothed", [False, True])
def test_split_conformal_is_the_weighted_formula(mondrian, smoothed):
    rng = np.random.default_rng(2)
    X, y = integers(rng, 200)
    T = integers(rng, 25)[0] + 0.5
    params = {"mondrian": mondrian, "smoothed": smoothed, "random_state": 5}
    method = Conformal(NaiveBayes(), shift="covariate", **params).fit(X, y)
    view = method.confident_predict(T)["p-value"]
    part = method.labelled_
    weights = covariate_weights(X, T, part.rows)
    scores = np.empty(len(part.rows))
    for group, values in zip(method.scores_[0].places[0], method.scores_[0].lists[0], strict=True):
        scores[group] = values
    for row in range(len(T)):
        for column in range(3):
            mine = part.codes == column if mondrian else np.ones(len(scores), dtype=bool)
            own = view.extra["nonconformity"][row, column]
            rounded = np.where(np.isclose(scores, own, rtol=1e-12, atol=1e-12), own, scores)
            tau = view.extra["tau"][row] if smoothed else 1
            expected = weighted_p_value(
                rounded[mine], own, weights.weights[mine], weights.new[row, 0], tau
            )  # fmt: skip
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
    found = covariate_weights(X, T, np.arange(4000))
    ratio = found.weights / found.weights.mean()
    true = np.exp(X[:, 0] - 0.5)
    assert np.mean(np.abs(ratio - true)) < 0.1
    assert found.metrics["shift_auc"] == pytest.approx(0.76, abs=0.02)
    assert 1000 < found.metrics["shift_effective_rows"] < 2200  # 4000 / e = 1472
    none = covariate_weights(X, rng.normal(size=(300, 1)), np.arange(4000)).metrics
    assert none["shift_auc"] == pytest.approx(0.5, abs=0.06) and none["shift_effective_rows"] > 3800


def test_missing_values_and_constant_features_have_weights():
    rng = np.random.default_rng(5)
    X, T = rng.normal(size=(80, 3)), rng.normal(size=(60, 3))
    X[:, 2] = T[:, 2] = 1.0
    X[::3, 0] = np.nan
    found = covariate_weights(X, T, np.arange(80))
    assert np.all(found.weights > 0) and found.metrics["shift_auc"] > 0.55  # only X has missing values
    with pytest.raises(ConfmlError, match="at least 5 training and test examples, got 80 and 2"):
        covariate_weights(X, T[:2], np.arange(80))


def test_bbse_is_the_solution_in_fractions():
    rng = np.random.default_rng(6)
    for _ in range(20):
        true, test = rng.integers(0, 3, 60), rng.integers(0, 3, 40)
        predicted = np.where(rng.random(60) < 0.7, true, rng.integers(0, 3, 60))
        expected = bbse(predicted, true, test, range(3))
        found = label_weights(predicted, true, test, 3)
        w = found.new[0] / found.new.max()
        np.testing.assert_allclose(w, np.array(expected) / max(expected), rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(found.weights, found.new[0][true])


def test_settings_that_do_not_fit():
    X, y = integers(np.random.default_rng(0), 40)
    for settings, message in (
        ({"kind": "cross", "shift": "covariate"}, "shift needs kind: split"),
        ({"kind": "split", "shift": "label", "mondrian": True}, "valid under label shift without weights"),
    ):
        with pytest.raises(ConfigError, match=message):
            Conformal(NaiveBayes(), **settings).fit(X, y)
        in_config = {f"conformal__{name}".replace("__kind", ""): value for name, value in settings.items()}
        with pytest.raises(ConfigError, match=message):
            build("naive-bayes", in_config)


def test_few_test_rows_and_no_test_rows():
    X, y = integers(np.random.default_rng(0), 40)
    method = Conformal(NaiveBayes(), shift="covariate").fit(X, y)
    assert method.predict_p_values(X[:7]).shape == (7, 3)
    with pytest.raises(ConfmlError, match="at least 5"):
        method.predict_p_values(X[:2])
