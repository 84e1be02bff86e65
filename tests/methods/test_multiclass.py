"""Two-class machines put together: problems, votes, probabilities and errors, by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC

from confml.methods.multiclass import (
    class_errors,
    class_probabilities,
    decision_scores,
    one_vs_one,
    one_vs_rest,
    vote_scores,
)

CODES = np.array([2, 0, 1, 2, 1])


def test_one_against_the_rest():
    problems = one_vs_rest(CODES, 3)
    assert [(p.positive, p.negative) for p in problems] == [(0, None), (1, None), (2, None)]
    assert [p.targets.tolist() for p in problems] == [
        [-1, 1, -1, -1, -1],
        [-1, -1, 1, -1, 1],
        [1, -1, -1, 1, -1],
    ]
    assert all(p.rows.tolist() == [0, 1, 2, 3, 4] for p in problems)


def test_one_against_one():
    problems = one_vs_one(CODES, 3)
    assert [(p.positive, p.negative) for p in problems] == [(1, 0), (2, 0), (2, 1)]
    assert [p.rows.tolist() for p in problems] == [[1, 2, 4], [0, 1, 3], [0, 2, 3, 4]]
    assert [p.targets.tolist() for p in problems] == [[-1, 1, 1], [1, -1, 1], [1, -1, 1, -1]]


@pytest.mark.parametrize("cut", [one_vs_rest, one_vs_one])
def test_two_classes_are_one_problem(cut):
    (problem,) = cut(np.array([0, 1, 0]), 2)
    assert problem.targets.tolist() == [-1, 1, -1] and (problem.positive, problem.negative) == (1, 0)


def test_votes_by_hand():
    values = np.array([[-1.0, 2.0, 3.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [3.0, -1.0, 1.0]])
    shares, winners = vote_scores(values, 3)
    # Row 0: 0 beats 1, 2 beats both. Rows 1 and 3: a circle of one vote each, settled by summed values.
    np.testing.assert_allclose(shares, np.array([[1, 0, 2], [1, 1, 1], [1, 1, 1], [1, 1, 1]]) / 3)
    assert winners.tolist() == [2, 0, 0, 1]


def test_votes_are_scikit_learns():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 80)
    X = rng.normal(size=(80, 3)) + rng.normal(size=(4, 3))[y]
    oracle = OneVsOneClassifier(SVC(gamma=0.5)).fit(X, y)
    X_test = rng.normal(size=(200, 3))
    values = np.column_stack([machine.decision_function(X_test) for machine in oracle.estimators_])
    shares, winners = vote_scores(values, 4)
    assert np.array_equal(winners, oracle.predict(X_test))
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_decision_values():
    values = np.array([[1.0, -2.0, 4.0]])
    assert np.array_equal(decision_scores(values, 3, "ovr"), values)
    assert np.array_equal(decision_scores(values, 3, "ovo"), [[0.5, -1.5, 1.0]])
    assert np.array_equal(decision_scores(values[:, :1], 2, "ovo"), [[-0.5, 0.5]])


def test_probabilities():
    positive = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    by_rest = class_probabilities(positive, 3, "ovr")
    np.testing.assert_allclose(by_rest, [[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0]])
    by_pairs = class_probabilities(positive, 3, "ovo")
    np.testing.assert_allclose(by_pairs, np.array([[1.25, 1.25, 0.5], [2, 1, 0], [0, 2, 1]]) / 3)
    assert np.array_equal(class_probabilities(positive[:, :1], 2, "ovr")[0], [0.5, 0.5])


@pytest.mark.parametrize("way, classes, machines", [("ovr", 3, 3), ("ovo", 4, 6), ("ovr", 2, 1)])
def test_errors_by_simulation(way, classes, machines):
    rng = np.random.default_rng(2)
    positive, errors = rng.uniform(0.2, 0.8, machines), rng.uniform(0.002, 0.01, machines)
    draws = positive + errors * rng.normal(size=(200_000, machines))
    expected = class_probabilities(draws, classes, way).std(axis=0)
    got = class_errors(positive[None], errors[None], classes, way)[0]
    np.testing.assert_allclose(got, expected, rtol=0.02)
