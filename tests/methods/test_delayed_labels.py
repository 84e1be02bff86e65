"""Labels that come later, and p-values without labels, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstest

from confml.errors import ConfmlError
from confml.measures import Case
from confml.measures.monitoring import shiryaev_roberts_alarms
from confml.measures.p_values import required_smoothed_p_values
from confml.methods.tcm_nn.delayed import DelayedLabels, NoveltyPass
from confml.methods.tcm_nn.online import OnlineTCMNN


def examples(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)).round(1) + y[:, None], y


def online(seed=1):
    return OnlineTCMNN([0, 1], k=2, smoothed=True, random_state=seed)


def literal_p(X, y, taus):
    """p-values of the true labels of a sequence: `OnlineTCMNN` without smoothing, and the taus."""
    plain = OnlineTCMNN([0, 1], k=2).predict_then_learn(X, y)
    at = np.arange(len(y)), y
    counts = plain.extra["n_greater"][at] + taus * plain.extra["n_equal"][at]
    return counts / np.arange(1, len(y) + 1)


@pytest.mark.parametrize("order", ["given", "arrival"])
def test_p_values_are_those_of_the_order(order):
    X, y = examples(30)
    arrivals = np.random.default_rng(3).permutation(30)
    delayed = DelayedLabels(online(), order)
    for i in range(30):
        view = delayed.predict(i, X[i])
        assert view.extra["learnt"].tolist() == [0]  # no label is known
    for step, i in enumerate(arrivals.tolist()):
        delayed.label(i, y[i])
        known = set(arrivals[: step + 1].tolist())
        # Of the given order: all up to the first one without a label.
        first = next((j for j in range(30) if j not in known), 30)
        expected = list(range(first)) if order == "given" else arrivals[: step + 1].tolist()
        assert delayed.keys == expected and delayed.waiting == 30 - len(expected)
    # The predictions without labels have used one tau each.
    draws = np.random.default_rng(1)
    taus = draws.random(60)[30:]
    sequence = np.array(delayed.keys)
    assert delayed.p_values == pytest.approx(literal_p(X[sequence], y[sequence], taus))


def test_predictions_use_the_examples_learnt_so_far():
    X, y = examples(12)
    delayed = DelayedLabels(online())
    for i in range(6):
        delayed.predict(i, X[i])
        delayed.label(i, y[i])
    fresh = OnlineTCMNN([0, 1], k=2).learn(X[:6], y[:6])
    found, expected = delayed.predict(6, X[6]), fresh.predict(X[6:7])
    assert np.array_equal(found.extra["n_greater"], expected.extra["n_greater"])
    case = Case(found, y[6:7])
    assert 0 <= required_smoothed_p_values(case)[0] <= 1


def test_a_late_label_holds_up_an_alarm_in_the_given_order_only():
    """From row 300 on the labels are exchanged; the label of row 100 comes at the end."""
    X, y = examples(600, 5)
    X = X + 2 * y[:, None]
    y[300:] = 1 - y[300:]
    alarms = {}
    for order in ("given", "arrival"):
        delayed = DelayedLabels(online(), order)
        for i in range(600):
            delayed.predict(i, X[i])
            if i != 100:
                delayed.label(i, y[i])
        alarms[order] = shiryaev_roberts_alarms(delayed.p_values, 10_000)
    assert not alarms["given"] and alarms["arrival"]
    assert 150 < alarms["arrival"][0].change_after < 310 < alarms["arrival"][0].row < 400


def test_wrong_uses_are_errors():
    with pytest.raises(ConfmlError, match="needs smoothed"):
        DelayedLabels(OnlineTCMNN([0, 1]))
    with pytest.raises(ConfmlError, match="order must be"):
        DelayedLabels(online(), "late")
    delayed = DelayedLabels(online())
    with pytest.raises(ConfmlError, match="not waiting for a label"):
        delayed.label(1, 0)
    delayed.predict(1, [0.0, 1.0])
    with pytest.raises(ConfmlError, match="label 7 of example 1 is not one of the classes"):
        delayed.label(1, 7)
    assert delayed.waiting == 1  # so the right label can follow
    with pytest.raises(ConfmlError, match="predicted already"):
        delayed.predict(1, [0.0, 1.0])


@pytest.mark.parametrize("k", [1, 3])
def test_novelty_is_its_definition(k):
    X, _ = examples(25, 2)
    X[7] = X[3]  # a duplicate
    found = NoveltyPass(k, random_state=4).p_values(X)
    taus = np.random.default_rng(4).random(25)
    for n in range(25):
        strangeness = []
        for i in range(n + 1):
            others = sorted(math.dist(X[i], X[j]) for j in range(n + 1) if j != i)
            strangeness.append(others[k - 1] if len(others) >= k else math.inf)
        greater = sum(one > strangeness[n] for one in strangeness)
        equal = sum(one == strangeness[n] for one in strangeness)
        assert found[n] == pytest.approx((greater + taus[n] * equal) / (n + 1))


def test_novelty_sees_a_change_of_the_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    assert kstest(NoveltyPass(3, 1).p_values(X), "uniform").pvalue > 0.001
    X[300:] += 3
    p = NoveltyPass(3, 1).p_values(X)
    assert shiryaev_roberts_alarms(p, 10_000) and not shiryaev_roberts_alarms(p[:300], 10_000)
