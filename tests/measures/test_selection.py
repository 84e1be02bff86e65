"""The one choice of a grid point: largest mean, ties to the first point, failed points out."""

import numpy as np
import pytest

from confml.measures.prediction import Prediction
from confml.measures.selection import best_point, inner_score

GRID = [{"k": 1}, {"k": 3}, {"k": 5}]


@pytest.mark.parametrize(
    ("scores", "select_by", "best"),
    [
        ([[0.5, 0.7], [0.8, 0.6], [0.6, 0.8]], "accuracy", 1),
        ([[0.5, 0.7], [0.8, 0.6], [0.6, 0.8]], "error", 0),
        ([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]], "accuracy", 0),  # sums differ in their last bit
        ([[0.9, None], [0.2, 0.2], [0.1, 0.1]], "ari", 1),
        ([[None], [None], [None]], "accuracy", None),
        ([[], [], []], "accuracy", None),
    ],
)
def test_best_point(scores, select_by, best):
    point, summaries = best_point(GRID, scores, select_by)
    assert point == best
    assert [summary["params"] for summary in summaries] == GRID
    assert [summary["folds"] for summary in summaries] == scores
    for summary, folds in zip(summaries, scores, strict=True):
        failed = not folds or None in folds
        assert summary["mean"] is None if failed else summary["mean"] == pytest.approx(np.mean(folds))
        assert summary["sd"] is None if failed else summary["sd"] == pytest.approx(np.std(folds, ddof=1))


def test_inner_score():
    truth, labels = np.array(list("aabb")), np.array(list("aaba"))
    scores = np.array([[1.0, 0], [1, 0], [0, 1], [0.7, 0.3]])
    prediction = Prediction(np.array(["a", "b"]), scores, "probability")
    assert prediction.labels.tolist() == labels.tolist()
    assert inner_score(prediction, truth, "accuracy") == 0.75
    assert inner_score(prediction, truth, "error") == 0.25
    assert inner_score(Prediction(np.array(["a", "b"]), scores, "vote"), labels, "ari") == 1.0
    costs = {"matrix": {"a": {"b": 1}, "b": {"a": 5}}}
    assert inner_score(prediction, truth, "cost", costs) == 0.0  # b costs less than a with probability 0.3
    assert inner_score(Prediction(prediction.classes, scores, "vote"), truth, "cost", costs) == 1.25
