"""Choice of a grid point: ties, failed folds, direction."""

from __future__ import annotations

import numpy as np
import pytest

from confml.measures.grid_choice import best_point, fold_score
from confml.measures.prediction import Prediction, argmax_with_tie_break

GRID = [{"k": 1}, {"k": 3}, {"k": 5}]


def test_ties_go_to_the_first_point_in_any_order_of_folds():
    folds = [[0.5, 0.5, 0.5], [0.1, 0.7, 0.9], [0.9, 0.1, 0.7]]
    best, scores = best_point(GRID, folds, 1)
    assert best == 1
    assert scores[1]["mean"] == scores[2]["mean"] and scores[1]["params"] == {"k": 3}


@pytest.mark.parametrize(("sign", "expected"), [(1, 2), (-1, 0)])
def test_direction(sign, expected):
    assert best_point(GRID, [[0.1], [0.2], [0.3]], sign)[0] == expected


def test_points_that_failed_are_excluded():
    best, scores = best_point(GRID, [[0.9, None], [], [0.1, 0.2]], 1)
    assert best == 2
    assert [score["mean"] for score in scores[:2]] == [None, None]
    assert best_point(GRID, [[None]] * 3, 1)[0] is None


def test_fold_score():
    view = Prediction(np.array([0, 1]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), "probability")
    truth = np.array([0, 1, 1])
    assert fold_score(view, truth, "accuracy") == pytest.approx(2 / 3)
    assert fold_score(view, truth, "error") == pytest.approx(1 / 3)
    assert fold_score(view, np.array([1, 0, 1]), "ari") == 1.0


def test_argmax_with_tie_break():
    scores = np.array([[0.5, 0.5, 0.0], [0.2, 0.5, 0.3], [0.5, 0.5, 0.5], [0.4, 0.5, 0.5]])
    tie_break = np.array([[1.0, 2.0, 9.0], [9.0, 0.0, 9.0], [3.0, 3.0, 3.0], [9.0, -np.inf, -np.inf]])
    assert argmax_with_tie_break(scores, tie_break).tolist() == [1, 1, 0, 1]
    assert argmax_with_tie_break(scores, tie_break, tolerance=0.1).tolist() == [1, 1, 0, 0]
    assert argmax_with_tie_break(np.empty((0, 2)), np.empty((0, 2))).tolist() == []
