"""Data times a power of two: neighbours and p-values do not change (methods: test_methods_contract.py)."""

import numpy as np
import pytest

from confml import KNN
from confml.errors import ConfmlError
from confml.neighbours.distance_kinds import prepare_rows
from confml.neighbours.nearest_rows import NearestRows
from confml.neighbours.scaling import FARTHEST, SafeScale
from confml.steps.reduction import ConsistentSubset, SelectExamples, TomekLinks


def data(d, seed=0, m=120):
    """Small integers, which stay exact at every power of two: (X, y, T), full of ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, size=(m + 30, d)).astype(float)
    return X[:m], rng.integers(0, 3, m), X[m:]


@pytest.mark.parametrize("power", [-1000, 300])
def test_steps(power):
    X, y, _ = data(3, m=60)
    scaled = np.ldexp(X, power)
    for step in (TomekLinks(), ConsistentSubset(), ConsistentSubset(add="one"), SelectExamples()):
        remaining = [step.fit_training(rows, y, np.random.default_rng(1))[2] for rows in (X, scaled)]
        assert 0 < len(remaining[0]) < 60
        np.testing.assert_array_equal(*remaining)


@pytest.mark.parametrize("d", [3, 20])
def test_a_row_far_from_all_training_rows_is_equally_far_from_each(d):
    X, y, _ = data(d)
    far = np.zeros((2, d))
    far[:, 0] = 1e300, -1.7e308
    for power in (-500, 0, 200):
        nearest = NearestRows(np.ldexp(X, power), y, 3).query(far, 4)
        assert np.isfinite(nearest.distances).all() and (nearest.distances == nearest.distances[:, :1]).all()
        shares = KNN(4).fit(np.ldexp(X, power), y).predict_proba(far)
        np.testing.assert_array_equal(shares, np.tile(np.bincount(y) * 4 / (4 * len(y)), (2, 1)))


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_numeric_features_that_cannot_be_compared_with_nominal_ones(scale):
    X, y, _ = data(3)
    nominal = np.array([True, False, False])
    X[:, 1:] *= scale
    with pytest.raises(ConfmlError, match="too (large|small) to be compared with nominal features; scale"):
        prepare_rows(X, y, 3, nominal)
    prepare_rows(X, y, 3, np.ones(3, dtype=bool)).query(X[:3], 2)


def test_usual_data_are_used_as_they_are():
    X = np.random.default_rng(0).normal(size=(50, 3))
    for scale in (1e-50, 1.0, 1e100):
        assert SafeScale.of(X * scale) == SafeScale() and SafeScale().apply(X) is X
    assert SafeScale().apply(np.array([[1e200, -1e200, 3.0]])).tolist() == [[FARTHEST, -FARTHEST, 3.0]]
