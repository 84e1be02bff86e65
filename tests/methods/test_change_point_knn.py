"""The exact posterior of k: equal to the sum over all segmentations, with ties, and worked values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import change_points

from confml.methods.change_point_knn import ChangePointKNN


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=7),
    st.sampled_from([0.05, 0.3, 0.9]),
    st.sampled_from([0.5, 1.0, 10.0]),
)
def test_it_equals_the_sum_over_all_segmentations(rows, change, prior):
    rows = sorted(rows, key=lambda row: row[1])
    labels, distances = [label for label, _ in rows], [float(distance) for _, distance in rows]
    known = sorted(set(labels))
    codes = [known.index(label) for label in labels]
    fitted = ChangePointKNN(change, prior).fit(np.array(distances)[::-1, None], labels[::-1])
    found = fitted.confident_predict([[0.0]])["probability"]
    chances, masses = change_points.posterior(codes, distances, len(known), change, prior)
    np.testing.assert_allclose(found.scores[0], chances, rtol=1e-11)
    assert found.extra["k"][0] == pytest.approx(sum(k * mass for k, mass in enumerate(masses)), rel=1e-11)


def test_twelve_of_one_class_then_thirty_of_the_other():
    X, y = np.arange(1.0, 43.0)[:, None], np.repeat([0, 1], [12, 30])
    found = ChangePointKNN(0.05, 1.0).fit(X, y).confident_predict([[0.0]])["probability"]
    assert found.scores[0, 0] == pytest.approx(0.885, abs=5e-4)


def test_the_order_of_tied_rows_does_not_matter_and_ties_of_the_last_place_count():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, size=(300, 2)).astype(float), rng.integers(0, 3, 300)
    order = rng.permutation(300)
    for k_max in (1, 20, 299, 1000):
        one = ChangePointKNN(k_max=k_max).fit(X, y).predict_proba(X[:9])
        assert np.array_equal(one, ChangePointKNN(k_max=k_max).fit(X[order], y[order]).predict_proba(X[:9]))
    ties = np.count_nonzero((X == X[0]).all(axis=1))
    assert ties > 1
    first = ChangePointKNN(0.5, 1.0, k_max=1).fit(X, y).confident_predict(X[:1])["probability"]
    chances, masses = change_points.posterior([0], [0], 2, 0.5, 1.0)
    assert len(chances) == 2 and len(masses) == 2
    assert first.extra["k"][0] > 0  # k is 0 or the number of ties
    assert first.extra["k"][0] <= ties


def test_rows_far_away_count_less_and_less():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 2))
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
    near, far, all_rows = (
        ChangePointKNN(k_max=k).fit(X, y).predict_proba(X[:20] + 0.01) for k in (200, 600, 2000)
    )
    assert np.abs(far - all_rows).max() < np.abs(near - all_rows).max() < 0.02


def test_it_finds_the_class_regions():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    X_test = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    found = ChangePointKNN(prior=1.0).fit(X, y).confident_predict(X_test)["probability"]
    assert found.labels[:2].tolist() == [0, 1] and found.confidence[:2].min() > 0.9
    assert found.extra["k"][:2].min() > found.extra["k"][2]
