"""Removal of Tomek links."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from steps.cases import fitted, literal_links, training_sets

from confml.methods.knn import KNN
from confml.steps.reduction import SelectExamples, TomekLinks, find_links


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
    """The signs are those of tests/methods/test_classical_methods.py."""
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
