"""The volume of version space by expectation propagation, and the PAC-Bayesian bound that follows from it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confml.measures.bounds import gibbs_bound
from confml.methods.version_space import BayesTransduction


def log_volume(X, y, **params):
    method = BayesTransduction(kernel="linear", sampler="ep", random_state=0, **params).fit(X, y)
    return method.fit_metrics_["log_volume"]


def sampled_volume(X, y, draws=2_000_000, seed=1):
    """Fraction of random directions that classify all rows correctly, and its standard error."""
    signs = np.where(y == max(y), 1.0, -1.0)
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(20):
        W = rng.standard_normal((draws // 20, X.shape[1]))
        inside += np.count_nonzero(((W @ (X * signs[:, None]).T) > 0).all(axis=1))
    share = inside / draws
    return share, math.sqrt(share * (1 - share) / draws)


def test_orthogonal_walls_have_independent_halves():
    X = np.eye(4) * [[1.0], [2.0], [3.0], [4.0]]
    assert log_volume(X, [0, 1, 0, 1]) == pytest.approx(4 * math.log(0.5), abs=1e-9)


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0, 2.8])
def test_two_walls_have_the_angle_between_them(angle):
    # Walls with the angle t between them leave (pi - t) / (2 pi) of the circle.
    X = np.array([[1.0, 0.0], [-math.cos(angle), -math.sin(angle)]])
    exact = math.log((math.pi - angle) / (2 * math.pi))
    assert log_volume(X, [1, 0]) == pytest.approx(exact, abs=0.06)


@pytest.mark.parametrize("d, rows, seed", [(3, 6, 1), (4, 8, 2), (5, 12, 3), (8, 10, 4)])
def test_the_volume_is_that_of_long_sampling(d, rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, d))
    y = (X @ rng.standard_normal(d) > 0).astype(int)
    share, error = sampled_volume(X, y)
    assert share > 30 * error
    assert log_volume(X, y) == pytest.approx(math.log(share), abs=0.12)


def test_the_volume_does_not_depend_on_lengths_of_rows():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((9, 5))
    y = (X[:, 0] > 0).astype(int)
    lengths = 10.0 ** rng.integers(-2, 3, size=(9, 1))
    assert log_volume(X * lengths, y) == pytest.approx(log_volume(X, y), abs=1e-6)


def test_the_bound_by_hand():
    # ln 1/V = 10, m = 100: 1 - exp(-(10 + ln(101 / 0.05)) / 100)
    assert gibbs_bound(-10.0, 100) == pytest.approx(1 - math.exp(-(10 + math.log(2020)) / 100), rel=1e-12)
    with pytest.raises(ValueError, match="log_volume <= 0"):
        gibbs_bound(1.0, 100)


def test_the_bound_holds_and_is_given_for_two_classes_without_ridge():
    rng = np.random.default_rng(6)
    w = rng.standard_normal(3)
    broken = 0
    for draw in range(40):
        X = rng.standard_normal((200, 3))
        y = (X @ w > 0).astype(int)
        method = BayesTransduction(kernel="linear", sampler="ep", random_state=draw).fit(X[:60], y[:60])
        p = method.predict_proba(X[60:])
        error_of_one = 1 - p[np.arange(140), y[60:]].mean()  # of a perceptron drawn from version space
        broken += error_of_one > method.fit_metrics_["gibbs_bound"]
    assert broken == 0
    assert method.fit_metrics_["gibbs_bound"] < 0.4
    soft = BayesTransduction(kernel="linear", sampler="ep", ridge=0.5, random_state=0).fit(X[:60], y[:60])
    assert not {"log_volume", "gibbs_bound"} & set(soft.fit_metrics_)
