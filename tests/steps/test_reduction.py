"""Training rows that are dropped: Tomek links, consistent subsets, `select-examples`."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import SIGNS, TABLE_3_7

from confml import KNN
from confml.steps.reduction import ConsistentSubset, SelectExamples, TomekLinks, find_links


@st.composite
def training_sets(draw, rows=25):
    """Rows on a coarse grid, so that distances tie and rows repeat; some of the attributes nominal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    m, d = draw(st.integers(1, rows)), draw(st.integers(1, 3))
    X = rng.integers(0, draw(st.integers(2, 6)), (m, d)).astype(float)
    nominal = np.array(draw(st.lists(st.booleans(), min_size=d, max_size=d)))
    return X, rng.integers(0, draw(st.integers(1, 3)), m), nominal


def literal_links(X, y, nominal):
    """Pairs of different classes in which each is a nearest neighbour of the other, by equation 3.2.

    The distance is the number of differences where all attributes are nominal.
    """
    differences = X[:, None] - X
    squared = np.where(nominal, differences != 0, differences**2).sum(axis=2)
    distances = squared if nominal.all() else np.sqrt(squared)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    pairs = itertools.combinations(range(len(X)), 2)
    return {(i, j) for i, j in pairs if y[i] != y[j] and distances[i, j] == nearest[i] == nearest[j]}


def fitted(step, X, y, nominal):
    step.nominal = nominal
    return step.fit_training(X, y, np.random.default_rng(1))


# ---- Tomek links


@given(training_sets())
@settings(max_examples=60)
def test_links_equal_the_definition_and_repeated_removal_leaves_none(training_set):
    X, y, nominal = training_set
    literal = literal_links(X, y, nominal)
    links, linked = find_links(X, np.unique(y, return_inverse=True)[1], nominal)
    assert links == len(literal)
    assert set(np.flatnonzero(linked)) == {row for pair in literal for row in pair}
    cleaned, labels, _ = fitted(TomekLinks(repeat=True), X, y, nominal)
    assert set(labels) == set(y)
    for i, j in literal_links(cleaned, labels, nominal):  # but for those with a class's last row
        assert 1 in (np.sum(labels == labels[i]), np.sum(labels == labels[j]))


def test_links_by_hand():
    X, step = np.array([0, 1, 5, 5.5, 9])[:, None], TomekLinks()
    assert step.fit_training(X, np.array(list("aaabb")))[2].tolist() == [0, 1, 4]
    assert step.fit_metrics_ == {"removed_rows": 2, "links": 1, "passes": 1}
    # A removal makes a new link: 0 and 5 are then nearest to each other, and the last of their classes.
    X, y = np.array([0, 2, 3, 5, 9, 9.5])[:, None], np.array(list("aabbba"))
    for repeat in (False, True):
        assert TomekLinks(repeat=repeat).fit_training(X, y)[2].tolist() == [0, 3]


def test_exercise_3_9_3_links_and_a_consistent_subset_of_table_3_7():
    X, y = TABLE_3_7, SIGNS
    nominal = np.zeros(2, dtype=bool)
    links, linked = find_links(X, np.unique(y, return_inverse=True)[1], nominal)
    assert literal_links(X, y, nominal) == {(0, 1), (2, 3)} and links == 2
    assert np.flatnonzero(linked).tolist() == [0, 1, 2, 3]
    _, _, remaining = SelectExamples().fit_training(X, y, np.random.default_rng(0))
    assert len(remaining) < 9
    assert (KNN().fit(X[remaining], y[remaining]).predict(X) == y).all()


# ---- consistent subsets


@pytest.mark.parametrize(
    "step",
    [ConsistentSubset, lambda: ConsistentSubset(add="one"), SelectExamples],
    ids=["all", "one", "drop"],
)
@given(training_sets())
@settings(max_examples=40)
def test_a_subset_classifies_the_training_set_like_the_whole(step, training_set):
    X, y, nominal = training_set
    columns = np.flatnonzero(nominal).tolist() or "auto"
    cleaned, labels, remaining = fitted(step(), X, y, nominal)
    assert np.array_equal(cleaned, X[remaining]) and np.array_equal(labels, y[remaining])
    whole = KNN(nominal=columns).fit(X, y).predict(X)
    subset = KNN(nominal=columns).fit(cleaned, labels).predict(X)
    same = (X[:, None, :] == X[None, :, :]).all(axis=2)
    clear = ~(same & (y[:, None] != y)).any(axis=1)  # rows without an identical one of another class
    if step is SelectExamples:
        assert np.sum(subset == y) >= np.sum(whole == y)
    else:
        assert np.array_equal(subset[clear], y[clear]) and set(labels) == set(y)


def test_two_far_clusters_need_one_example_each():
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 2)) + 100 * y[:, None]
    for step in (ConsistentSubset(), SelectExamples()):
        assert sorted(step.fit_training(X, y, rng)[1]) == [0, 1]
        assert step.fit_metrics_["removed_rows"] == 98 and step.fit_metrics_["kept_rows"] == 2


def test_less_is_kept_when_one_is_added_at_a_time_and_none_can_be_dropped():
    rng = np.random.default_rng(3)
    X = rng.random((60, 2))
    y = (X[:, 0] + 0.2 * rng.normal(size=60) > 0.5).astype(int)
    slowly, quickly = (ConsistentSubset(add).fit_training(X, y, rng)[1] for add in ("one", "all"))
    assert len(slowly) < len(quickly)
    cleaned, labels, _ = SelectExamples().fit_training(X, y, rng)
    assert KNN().fit(cleaned, labels).score(X, y) == 1
    for row in range(len(labels)):
        assert KNN().fit(np.delete(cleaned, row, axis=0), np.delete(labels, row)).score(X, y) < 1
