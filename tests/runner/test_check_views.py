"""Results of methods that violate their contract: each is refused with its reason."""

from __future__ import annotations

import numpy as np
import pytest

from confml.measures.prediction import Prediction
from confml.methods.base import Views
from confml.runner.check_views import InvalidResult, check_points, check_views

CLASSES = np.array(["a", "b", "c"])


def prediction(
    scores=((0.7, 0.3), (0.4, 0.6)), kind="probability", classes=("a", "b"), labels=("a", "b"), **more
):
    return Prediction(np.array(classes), np.array(scores), kind, labels=np.array(labels), **more)


def changed(**attributes) -> Views:
    views = Views({"reject": prediction()})
    for name, value in attributes.items():
        setattr(views, name, value)
    return views


def test_a_right_result_is_returned():
    views = changed(fit_metrics={"steps": np.int64(3), "converged": np.bool_(True)})
    checked = check_views(views, "mine", 2, CLASSES)
    assert checked is views and checked.fit_metrics == {"steps": 3, "converged": True}


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ({"reject": prediction()}, "expected Views, got dict"),
        (Views({}), "expected at least one view"),
        (Views({"": prediction()}), "the name of a view must be text, got ''"),
        (Views({"reject": np.zeros(2)}), "view 'reject' must be a Prediction, got ndarray"),
        (Views({"reject": prediction([[1, 0]], labels=["a"])}), "has 1 rows for 2 test examples"),
        (
            Views({"reject": prediction(classes=["a", "d"], labels=["a", "a"])}),
            "has class 'd', which is not in",
        ),
        (Views({"reject": prediction(classes=["b", "a"])}), "must be sorted, and each listed once"),
        (Views({"reject": prediction(labels=["a", "c"])}), "predicts 'c', which is not one of its classes"),
        (
            Views({"reject": prediction(extra={"thing": np.array([object(), object()])})}),
            "must hold numbers or text",
        ),
        (Views({"reject": prediction([[np.nan, 1], [0, 1]])}), "1 of 2 rows are not .nan in row 0"),
        (Views({"reject": prediction([[1.5, -0.5], [0, 1]])}), r"must be in \[0, 1\], got 1.5"),
        (
            Views({"reject": prediction([[0.5, 0.5], [0.5, 0.4]])}),
            "must sum to 1 in each row, got 0.9 in row 1",
        ),
        (changed(fit_metrics=[]), "fit_metrics_ must be a dict, got list"),
        (changed(fit_metrics={"steps": "many"}), "must map names to numbers, got 'steps': 'many'"),
    ],
)
def test_a_wrong_result_is_refused(views, words):
    with pytest.raises(InvalidResult, match=f"mine returned an invalid result: .*{words}"):
        check_views(views, "mine", 2, CLASSES)


def test_paths():
    check_points("mine", 3, 3)
    with pytest.raises(InvalidResult, match="gave 2 results for 3 points"):
        check_points("mine", 2, 3)
