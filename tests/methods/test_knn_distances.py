"""Minkowski, Mahalanobis and polar distances of k-NN, and the votes of a teacher."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import knn_distances as literal
from trials import tied_rows

from confml import KNN, WeightedKNN
from confml.data import load
from confml.errors import ConfmlError
from confml.neighbours.distance_kinds import prepare_rows


def assert_literal(method, X, y, X_test, distance):
    view = method.fit(X, y).confident_predict(X_test)["vote"]
    literal.assert_votes(view, X, y, X_test, method.k, lambda row: [distance(row, x) for x in X.tolist()])


@given(tied_rows(), st.sampled_from([1, 1.5, 2.5, 3, 7, 400, "max"]), st.integers(0, 3))
def test_minkowski_equals_the_literal_version(data, power, columns):
    X, y, X_test, k = data
    nominal = list(range(min(columns, X.shape[1])))
    if nominal:  # numbers that can be compared with a difference of 1
        X, X_test = (rows / max(np.abs(rows).max(), 1e-300) * 3 for rows in (X, X_test))
    p = math.inf if power == "max" else float(power)
    method = KNN(k, nominal=nominal, distance="minkowski", power=power)
    assert_literal(method, X, y, X_test, lambda x, z: literal.minkowski(x, z, p, nominal))


@given(tied_rows())
def test_polar_equals_the_literal_version(data):
    X, y, X_test, k = data
    assert_literal(KNN(k, distance="polar"), X, y, X_test, literal.polar)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_powers_neither_overflow_nor_vanish(scale):
    X, y = np.array([[1.0, 1.0], [1.3, 0.0], [5000.0, 5000.0]]) * scale, np.array([1, 0, 2])
    # The roots are 2^(1/100) = 1.007 and 1.3; powers of both vanish in a sum with one of 5000.
    assert KNN(1, distance="minkowski", power=100).fit(X, y).predict([[0.0, 0.0]]) == 1


@pytest.mark.parametrize("shape", [(80, 3), (40, 15), (12, 20)])
def test_mahalanobis_equals_the_literal_version(shape):
    rng = np.random.default_rng(shape[1])
    mix = rng.normal(size=(shape[1], shape[1])) * 10.0 ** rng.integers(-3, 4, shape[1])
    X, X_test = rng.normal(size=shape) @ mix, rng.normal(size=(15, shape[1])) @ mix
    X[:, 0] = X_test[:, 0] = 7.0  # a constant column
    X[:, 2], X_test[:, 2] = X[:, 1], X_test[:, 1]  # and a repeated one
    y = rng.integers(0, 3, shape[0])
    assert_literal(KNN(3, distance="mahalanobis"), X, y, X_test, literal.mahalanobis(X))


def test_mahalanobis_does_not_depend_on_units_and_keeps_duplicates_tied():
    rng = np.random.default_rng(5)
    X, y, X_test = rng.normal(size=(60, 4)), rng.integers(0, 3, 60), rng.normal(size=(20, 4))
    X[30:] = X[:30]
    units = np.array([1e-5, 1.0, 2.54, 1e9])
    plain = KNN(1, distance="mahalanobis").fit(X, y)
    moved = KNN(1, distance="mahalanobis").fit(X * units + 3.0, y)
    assert np.array_equal(plain.predict_proba(X_test), moved.predict_proba(X_test * units + 3.0))
    assert np.array_equal(plain.predict_proba(X[:30]), (np.eye(3)[y[:30]] + np.eye(3)[y[30:]]) / 2)


def test_directions_of_polar_distance():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [0.0, 0.0]]), np.array([0, 1, 2, 3])
    nearest = prepare_rows(X, y, 4, np.zeros(2, bool), "polar", 2.0).query(np.array([[8.0, 8.0]]), 4)
    np.testing.assert_allclose(nearest.distances[0], np.array([1, 1, 2, 3]) * math.pi / 4, rtol=1e-11)
    assert KNN(1, distance="polar").fit(X, y).predict([[0.0, 0.0]]) == 3


def test_weighted_votes_use_the_distance():
    rng = np.random.default_rng(6)
    X, y, X_test = rng.normal(size=(70, 3)), rng.integers(0, 2, 70), rng.normal(size=(12, 3))
    method = WeightedKNN(9, distance="polar").fit(X, y)
    for row, shares in zip(X_test.tolist(), method.predict_proba(X_test), strict=True):
        distances = np.array([literal.polar(row, training_row) for training_row in X.tolist()])
        nearest = np.argsort(distances)[:9]
        weights = np.bincount(y[nearest], distances[nearest[-1]] - distances[nearest], 2)
        np.testing.assert_allclose(shares, weights / weights.sum(), rtol=1e-9)


# ---- a teacher's examples


@given(tied_rows(), st.sampled_from([1.0, 2.0, 0.5, 10.0]), st.integers(0, 2**32 - 1))
def test_votes_of_a_teacher_equal_the_literal_version(data, weight, seed):
    X, y, X_test, k = data
    taught = np.random.default_rng(seed).integers(0, 2, len(X))
    method = KNN(k, teacher=1, teacher_weight=weight).fit(np.insert(X, 1, taught, axis=1), y)
    view = method.confident_predict(np.insert(X_test, 1, 0.0, axis=1))["vote"]
    literal.assert_votes(view, X, y, X_test, k, lambda row: literal.euclidean(X, row), taught, weight)


# ---- the textbook


@given(tied_rows(), st.sampled_from([("minkowski", 1), ("minkowski", 2.5), ("mahalanobis", 2), ("polar", 2)]))
def test_distances_satisfy_the_four_requirements_of_section_3_2(data, kind):
    """Never negative, 0 for identical vectors, symmetric, triangle inequality."""
    X = np.concatenate([data[0], data[2]])[:7]
    m, numbers = len(X), np.zeros(X.shape[1], bool)
    between = np.empty((m, m))
    rows = prepare_rows(X, np.arange(m), m, numbers, *kind)
    nearest = rows.query(X, m)
    for i in range(m):
        between[i, nearest.codes[i]] = nearest.distances[i]
    size = max(between.max(), 1e-300)
    assert (between >= 0).all() and (np.diag(between) <= 1e-7 * size).all()
    np.testing.assert_allclose(between, between.T, rtol=1e-6, atol=1e-7 * size)
    assert (between[:, None, :] <= (between[:, :, None] + between[None, :, :]) + 1e-7 * size).all()


def test_the_pies_of_table_3_1():
    data = load({"name": "pies"})
    pie = ["square", "thick", "gray", "thin", "white"]
    codes = np.array([[float(words.index(word)) for words, word in zip(data.categories, pie, strict=True)]])
    rows = prepare_rows(data.table, np.zeros(12, np.int64), 1, np.ones(5, bool), "euclidean", 2.0)
    differences = rows.query(codes, 12).distances[0]
    assert sorted([3, 4, 4, 4, 1, 3, 2, 3, 3, 3, 3, 4]) == differences.tolist()
    assert KNN(1, nominal=list(range(5))).fit(data.table, data.y).predict(codes) == "pos"  # as ex5


# ---- errors


@pytest.mark.parametrize(
    "params, message",
    [
        ({"distance": "polar", "power": 3}, "power is for distance: minkowski"),
        ({"teacher_weight": 3}, "needs teacher"),
        ({"teacher": 2}, "teacher is column 2, but X has columns 0 to 1"),
        ({"distance": "mahalanobis", "nominal": [0]}, "mahalanobis distance needs numbers, and 1"),
    ],
)
def test_errors(params, message):
    with pytest.raises(ConfmlError, match=message):
        KNN(**params).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1])
