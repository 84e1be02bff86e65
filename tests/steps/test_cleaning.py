"""Steps that clean and select: the book's rules, their properties, and nominal attributes among the steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confml.methods.knn import KNN
from confml.steps.consistent_subset import ConsistentSubset
from confml.steps.registry import build_pipeline, build_step
from confml.steps.select_attributes import SelectAttributes
from confml.steps.select_examples import SelectExamples
from confml.steps.tomek_links import TomekLinks, find_links


@st.composite
def training_sets(draw, rows=25):
    """Rows on a coarse grid, so that distances tie and rows repeat; some of the attributes nominal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    m, d = draw(st.integers(1, rows)), draw(st.integers(1, 3))
    X = rng.integers(0, draw(st.integers(2, 6)), (m, d)).astype(float)
    nominal = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    return X, rng.integers(0, draw(st.integers(1, 3)), m), nominal


def literal_distances(X, nominal):
    """(m, m) eq. 3.2; the number of differences where all attributes are nominal."""
    squared = np.zeros((len(X), len(X)))
    for column, coded in zip(X.T, nominal, strict=True):
        differences = column[:, None] - column
        squared += (differences != 0) if coded else differences**2
    return squared if nominal.all() else np.sqrt(squared)


def literal_links(X, y, nominal):
    """Pairs of different classes in which each is a nearest neighbour of the other."""
    distances = literal_distances(X, nominal)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    return {
        (i, j)
        for i in range(len(X))
        for j in range(i + 1, len(X))
        if y[i] != y[j] and distances[i, j] == nearest[i] == nearest[j]
    }


def fitted(step, X, y, nominal, seed=1):
    step.nominal = nominal
    return step.fit_training(X, y, np.random.default_rng(seed))


# ---- Tomek links


def test_a_tomek_link_by_hand():
    X, y = np.array([[0.0], [1.0], [5.0], [5.5], [9.0]]), np.array(["a", "a", "a", "b", "b"])
    step = TomekLinks()
    _, labels, kept = step.fit_training(X, y)
    assert kept.tolist() == [0, 1, 4] and labels.tolist() == ["a", "a", "b"]
    assert step.fit_metrics_ == {"removed_rows": 2, "links": 1, "passes": 1}


def test_a_removal_that_makes_a_new_link():
    X, y = np.array([[0.0], [2.0], [3.0], [5.0], [9.0], [9.5]]), np.array([0, 0, 1, 1, 1, 0])
    assert TomekLinks().fit_training(X, y)[2].tolist() == [0, 3]
    # 0 and 5 are now each other's nearest, and the last of their classes.
    assert TomekLinks(repeat=True).fit_training(X, y)[2].tolist() == [0, 3]


def test_exercise_3_9_3_links_and_a_consistent_subset_of_table_3_7():
    """The signs are those of tests/test_classical_methods.py."""
    X = np.array([[1, 1], [1, 2], [1, 4], [2, 3], [3, 0], [3, 2], [3, 5], [4, 4], [5, 3]], float)
    y = np.array(["+", "-", "-", "+", "-", "+", "-", "-", "-"])
    nominal = np.zeros(2, dtype=bool)
    links, linked = find_links(X, np.unique(y, return_inverse=True)[1], nominal)
    assert literal_links(X, y, nominal) == {(0, 1), (2, 3)} and links == 2
    assert np.flatnonzero(linked).tolist() == [0, 1, 2, 3]
    _, _, kept = SelectExamples().fit_training(X, y, np.random.default_rng(0))
    assert len(kept) < 9
    assert (KNN().fit(X[kept], y[kept]).predict(X) == y).all()


@given(training_sets())
@settings(max_examples=80)
def test_links_equal_the_definition(training_set):
    X, y, nominal = training_set
    literal = literal_links(X, y, nominal)
    links, linked = find_links(X, np.unique(y, return_inverse=True)[1], nominal)
    assert links == len(literal)
    assert set(np.flatnonzero(linked)) == {row for pair in literal for row in pair}


@given(training_sets())
@settings(max_examples=80)
def test_after_repeated_removal_no_link_is_left(training_set):
    """But for those with a class's last row."""
    X, y, nominal = training_set
    cleaned, labels, kept = fitted(TomekLinks(repeat=True), X, y, nominal)
    assert set(labels) == set(y)
    for i, j in literal_links(cleaned, labels, nominal):
        assert 1 in (np.sum(labels == labels[i]), np.sum(labels == labels[j]))


# ---- the consistent subset, and dropped examples


def contradicted(X, y):
    """(m,) bool: rows with an identical one of another class."""
    same = (X[:, None, :] == X[None, :, :]).all(axis=2)
    return (same & (y[:, None] != y)).any(axis=1)


@pytest.mark.parametrize(
    "step",
    [ConsistentSubset, lambda: ConsistentSubset(add="one"), SelectExamples],
    ids=["all", "one", "drop"],
)
@given(training_sets())
@settings(max_examples=60)
def test_a_subset_classifies_the_training_set_like_the_whole(step, training_set):
    X, y, nominal = training_set
    columns = np.flatnonzero(nominal).tolist() or "auto"
    cleaned, labels, kept = fitted(step(), X, y, nominal)
    assert np.array_equal(cleaned, X[kept]) and np.array_equal(labels, y[kept])
    whole = KNN(nominal=columns).fit(X, y).predict(X)
    subset = KNN(nominal=columns).fit(cleaned, labels).predict(X)
    clear = ~contradicted(X, y)
    if step is not SelectExamples:
        assert np.array_equal(subset[clear], whole[clear])
        assert set(labels) == set(y)
    else:
        assert np.sum(subset == y) >= np.sum(whole == y)
    assert np.array_equal(whole[clear], y[clear])


def test_two_far_clusters_need_one_example_each():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 2)) + 100 * y[:, None]
    for step in (ConsistentSubset(), SelectExamples()):
        _, labels, kept = step.fit_training(X, y, rng)
        assert sorted(labels) == [0, 1]
        assert step.fit_metrics_["removed_rows"] == 98 and step.fit_metrics_["kept_rows"] == 2


def test_one_by_one_keeps_fewer():
    rng = np.random.default_rng(8)
    X = rng.random((300, 2))
    y = (X.sum(axis=1) > 1).astype(int)
    kept = {add: len(ConsistentSubset(add).fit_training(X, y, rng)[1]) for add in ("all", "one")}
    assert kept["one"] < 60 < kept["all"]


def test_dropping_examples_leaves_none_that_could_go():
    rng = np.random.default_rng(3)
    X = rng.random((60, 2))
    y = (X[:, 0] + 0.2 * rng.normal(size=60) > 0.5).astype(int)
    cleaned, labels, _ = SelectExamples().fit_training(X, y, rng)
    right = np.sum(KNN().fit(cleaned, labels).predict(X) == y)
    assert right == 60
    for row in range(len(labels)):
        rest = np.arange(len(labels)) != row
        assert np.sum(KNN().fit(cleaned[rest], labels[rest]).predict(X) == y) < right


# ---- attributes


def test_irrelevant_attributes_go():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([rng.random((120, 4)), y + 0.1 * rng.random(120)])
    step = SelectAttributes()
    step.fit(X, y, rng)
    assert step.kept_columns_.tolist() == [4]
    assert step.transform(X).shape == (120, 1)
    metrics = step.fit_metrics_
    assert metrics["removed_attributes"] == 4 and metrics["kept_attributes"] == 1
    assert metrics["score_after"] == 1 >= metrics["score_before"]


def test_as_many_attributes_are_kept_as_asked():
    X, y = np.zeros((20, 5)), np.arange(20) % 2
    step = SelectAttributes(least=3)
    step.fit(X, y, np.random.default_rng(1))
    assert step.kept_columns_.tolist() == [2, 3, 4]


def test_the_score_never_falls():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 6)), rng.integers(0, 3, 80)
    step = SelectAttributes(method="naive-bayes", folds=3)
    step.fit(X, y, rng)
    assert step.fit_metrics_["score_after"] >= step.fit_metrics_["score_before"]


# ---- nominal columns among steps


def test_scaling_leaves_codes_alone():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.integers(0, 4, 30), rng.normal(5, 3, 30), rng.normal(1, 9, 30)]).astype(float)
    nominal, y = np.array([True, False, False]), np.arange(30) % 2
    for name in ("standardise", "min-max", "row-standardise"):
        chain = build_pipeline([(name, {})])
        treated, _, _ = chain.fit_training(X, y, None, nominal)
        plain = build_step(name)
        expected = plain.fit_training(X[:, 1:], y)[0]
        assert np.array_equal(treated[:, 0], X[:, 0]) and np.array_equal(treated[:, 1:], expected)
        assert np.array_equal(chain.transform(X), treated)


def test_missing_codes_become_the_most_frequent():
    X = np.array([[2.0, 1.0], [2.0, np.nan], [np.nan, 3.0], [1.0, 5.0]])
    chain = build_pipeline([("impute-mean", {})])
    treated, _, _ = chain.fit_training(X, np.zeros(4), None, np.array([True, False]))
    np.testing.assert_array_equal(treated, [[2, 1], [2, 3], [2, 3], [1, 5]])


def test_a_chain_knows_what_is_left():
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([rng.random(80), rng.random(80), y, y + 0.01 * rng.random(80)])
    chain = build_pipeline([("min-max", {}), ("select-attributes", {"least": 2}), ("tomek-links", {})])
    treated, _, kept = chain.fit_training(X, y, rng, np.array([False, False, True, False]))
    assert len(chain.columns_) == treated.shape[1] == 2
    assert np.array_equal(chain.nominal_, chain.columns_ == 2)
    assert chain.fit_metrics_["tomek-links.removed_rows"] == 80 - len(kept)


@pytest.mark.parametrize("step", [TomekLinks, ConsistentSubset, SelectAttributes, SelectExamples])
def test_warming_compiles_what_a_step_needs(step):
    from numba.core.dispatcher import Dispatcher

    from confml.steps import _kernels_pairs as kernels

    step.compile_kernels()
    compiled = {
        name: set(value.signatures) for name, value in vars(kernels).items() if isinstance(value, Dispatcher)
    }
    rng = np.random.default_rng(1)
    X, y = np.column_stack([rng.integers(0, 3, 20), rng.random(20)]), np.arange(20) % 2
    for nominal in (np.array([False, False]), np.array([True, False])):
        fitted(step(), X, y, nominal)
    for name, signatures in compiled.items():
        assert set(getattr(kernels, name).signatures) == signatures
