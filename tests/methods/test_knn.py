"""k nearest neighbours: worked examples, ties, equality with the literal version, published errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import knn_distances as literal
from trials import tied_rows

from confml import KNN
from confml.data import load
from confml.neighbours import nearest_rows
from confml.neighbours.distance_kinds import prepare_rows
from confml.steps.scaling import RowStandardise


def assert_literal(X, y, X_test, k):
    view = KNN(k).fit(X, y).confident_predict(X_test)["vote"]
    literal.assert_votes(view, X, y, X_test, k, lambda row: literal.euclidean(X.tolist(), row), rtol=0)


@pytest.fixture(params=["tree", "products"])
def way(request, monkeypatch):
    """Both ways of searching, whatever the number of attributes."""
    monkeypatch.setattr(nearest_rows, "_TREE_FEATURES", 10**9 if request.param == "tree" else 0)
    return request.param


# ---- by hand


def test_table_3_3_of_the_textbook():
    X = np.array([[1, 3, 1], [3, 5, 2], [3, 2, 2], [5, 2, 3]])
    y = np.array(["pos", "pos", "neg", "neg"])
    new = np.array([[2, 4, 2]])
    rows = prepare_rows(X.astype(float), np.array([1, 1, 0, 0]), 2, np.zeros(3, bool), "euclidean", 2.0)
    np.testing.assert_array_equal(rows.query(new.astype(float), 4).distances[0], np.sqrt([2, 3, 5, 14]))
    assert KNN(1).fit(X, y).predict(new) == KNN(3).fit(X, y).predict(new) == "pos"
    np.testing.assert_allclose(KNN(3).fit(X, y).predict_proba(new), [[1 / 3, 2 / 3]])


def test_all_rows_at_the_last_distance_share_the_places_left(way):
    X = np.array([[1.0], [2.0], [-2.0], [2.0], [3.0]])
    y = np.array([0, 1, 1, 2, 0])
    # k = 2: one row at distance 1, three at distance 2 for one place.
    assert np.array_equal(KNN(2).fit(X, y).predict_proba([[0.0]]), [[3 / 6, 2 / 6, 1 / 6]])
    # k = 3: two places for the three.
    assert np.array_equal(KNN(3).fit(X, y).predict_proba([[0.0]]), [[3 / 9, 4 / 9, 2 / 9]])
    assert np.array_equal(KNN(4).fit(X, y).predict_proba([[0.0]]), [[1 / 4, 2 / 4, 1 / 4]])


# ---- against the literal version


@given(
    tied_rows([1.0, 0.01, 1 / 3, 1e6, 1e-100, 1e-170, 1e200, 3e-320]),
    st.sampled_from([0.0, 0.0, 0.1, -1e8]),
    st.sampled_from([1.0, -1000.0, 1e15]),
    st.booleans(),
    st.sampled_from([0, 10, 10**9]),
)
def test_it_equals_the_literal_version(data, shift, outlier, far, tree_attributes):
    X, y, X_test, k = data
    X, X_test = X + shift, X_test + shift
    X[0] *= outlier
    if far:
        X_test[0] = X_test[0] * 1e20 + 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest_rows, "_TREE_FEATURES", tree_attributes)
        assert_literal(X, y, X_test, k)


def hostile(kind, rng):
    """Rows whose products in float32 say little, training (m, d) and test."""
    signs = rng.integers(-3, 4, size=(80, 12)) * 1e-25
    if kind == "clusters far apart":
        centres = rng.normal(scale=1e7, size=(3, 15))
        return centres[rng.integers(0, 3, 200)] + rng.normal(size=(200, 15)), centres + rng.normal(
            size=(3, 15)
        )
    if kind == "products vanish in float32":
        return np.vstack([np.ones((1, 12)), -np.ones((1, 12)), signs[:30], -signs[:30]]), signs[60:]
    return rng.normal(size=(400, kind)), rng.normal(size=(20, kind))


@pytest.mark.parametrize("kind", [2, 30, "clusters far apart", "products vanish in float32"])
@pytest.mark.parametrize("k", [1, 10])
def test_it_equals_the_literal_version_on_continuous_data(way, kind, k):
    rng = np.random.default_rng(k)
    X, X_test = hostile(kind, rng)
    assert_literal(X, rng.integers(0, 4, len(X)), X_test, k)


def test_distances_that_differ_only_before_the_root_are_tied(way):
    # 1 + 2^-52 and 1 have the same root in floating point.
    X = np.array([[1.0, 2.0**-26], [1.0, 0.0], [9.0, 9.0]])
    assert np.array_equal(KNN(1).fit(X, [1, 0, 0]).predict_proba([[0.0, 0.0]]), [[0.5, 0.5]])


# ---- published data


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("usps", 113),
        ("usps, each image to mean 0 and sd 1", 103),
        ("satimage", 211),
        ("shuttle", 17),
        ("pendigits", 79),
        ("optdigits", 36),
        ("ripley-synth", 150),
    ],
)
def test_known_errors_of_one_neighbour(needs_data, name, errors):
    """On the provider's test part."""
    name, _, standardised = name.partition(", ")
    needs_data(name)
    data = load({"name": name})
    X = RowStandardise().transform(data.X) if standardised else data.X
    train, test = data.train_rows, data.test_rows
    assert np.count_nonzero(KNN(1).fit(X[train], data.y[train]).predict(X[test]) != data.y[test]) == errors
