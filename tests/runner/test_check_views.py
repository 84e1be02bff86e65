"""Results of methods that violate their contract: each is refused with its reason."""

from __future__ import annotations

import numpy as np
import pytest

from confml.measures.prediction import Prediction
from confml.methods.base import Views
from confml.runner.check_views import InvalidResult, check_points, check_views

CLASSES = np.array(["a", "b", "c"])


def one_view(scores=((0.7, 0.3), (0.4, 0.6)), labels=("a", "b"), classes=("a", "b"), extra=None, **metrics):
    view = Prediction(np.array(classes), np.array(scores), "probability", np.array(labels), extra or {})
    return Views({"reject": view}, fit_metrics=metrics)


def test_a_right_result_is_returned():
    views = one_view(steps=np.int64(3), converged=np.bool_(True))
    checked = check_views(views, "mine", 2, CLASSES)
    assert checked is views and checked.fit_metrics == {"steps": 3, "converged": True}


def with_list_of_metrics():
    views = one_view()
    views.fit_metrics = []
    return views


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ({"reject": one_view()["reject"]}, "expected Views, got dict"),
        (Views({}), "expected at least one view"),
        (Views({"": one_view()["reject"]}), "the name of a view must be text, got ''"),
        (Views({"reject": np.zeros(2)}), "view 'reject' must be a Prediction, got ndarray"),
        (one_view([[1, 0]], ["a"]), "has 1 rows for 2 test examples"),
        (one_view(labels=["a", "a"], classes=["a", "d"]), "has class 'd', which is not in"),
        (one_view(classes=["b", "a"]), "must be sorted, and each listed once"),
        (one_view(labels=["a", "c"]), "predicts 'c', which is not one of its classes"),
        (one_view(extra={"thing": np.array([object(), object()])}), "must hold numbers or text"),
        (one_view([[np.nan, 1], [0, 1]]), "1 of 2 rows are not .nan in row 0"),
        (one_view([[1.5, -0.5], [0, 1]]), r"must be in \[0, 1\], got 1.5"),
        (one_view([[0.5, 0.5], [0.5, 0.4]]), "must sum to 1 in each row, got 0.9 in row 1"),
        (with_list_of_metrics(), "fit_metrics_ must be a dict, got list"),
        (one_view(steps="many"), "must map names to numbers, got 'steps': 'many'"),
    ],
)
def test_a_wrong_result_is_refused(views, words):
    with pytest.raises(InvalidResult, match=f"mine returned an invalid result: .*{words}"):
        check_views(views, "mine", 2, CLASSES)


def test_paths():
    check_points("mine", 3, 3)
    with pytest.raises(InvalidResult, match="gave 2 results for 3 points"):
        check_points("mine", 2, 3)
