"""Metrics of predictions: values counted by hand, and what happens at the ends."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confml.measures import evaluate
from confml.measures.prediction import Prediction
from confml.measures.regions import level_note, rows_needed, smallest_p_notes

ABC = np.array(["a", "b", "c"])

#   region at 0.05:      a         b c       -        a         a b c
P = np.array(
    [[0.50, 0.01, 0.02], [0.01, 0.60, 0.07], [0.02, 0.05, 0.01], [0.30, 0.03, 0.05], [0.20, 0.10, 0.06]]
)
TRUTH = np.array(["a", "c", "b", "b", "a"])


def rows_of(prediction, truth, levels=(), thresholds=()) -> dict:
    metrics = evaluate(prediction, truth, levels, thresholds)
    rows = {(row.metric, row.level): row.value for row in metrics}
    assert len(rows) == len(metrics), "a metric is listed twice"
    assert all(type(row.value) is float for row in metrics)
    return rows


def test_every_number_of_a_small_example():
    rows = rows_of(Prediction(ABC, P, "p-value"), TRUTH, [0.05], [0.94, 0.975])
    assert rows == {
        ("error", None): 2 / 5,  # predicted a b b a a
        ("accuracy", None): 3 / 5,
        ("ari", None): pytest.approx(1 / 11),
        ("coverage", 0.05): 3 / 5,
        ("mean_region_size", 0.05): 7 / 5,
        ("one_class", 0.05): 2 / 5,
        ("two_or_more", 0.05): 2 / 5,
        ("no_class", 0.05): 1 / 5,
        ("correct_of_one_class", 0.05): 1 / 2,
        ("augrc", None): pytest.approx(4 / 25),  # errors among the first 1 to 5: 0 0 1 2 2
        ("aurc", None): pytest.approx((1 / 3 + 2 / 4 + 2 / 5) / 5),
        ("auroc_correct", None): pytest.approx(4 / 6),
        ("expected_loss", 0.94): pytest.approx(0.0),
        ("expected_loss", 0.975): pytest.approx(-2 / 5),
        ("sure_correct", 0.94): 2 / 5,  # confidences .98 .93 .98 .95 .90
        ("sure_incorrect", 0.94): 1 / 5,
        ("unsure", 0.94): 2 / 5,
        ("sure_correct", 0.975): 2 / 5,
        ("sure_incorrect", 0.975): 0.0,
        ("unsure", 0.975): 3 / 5,
        ("ks_statistic", None): pytest.approx(math.nan, nan_ok=True),  # without counts
        ("worst_class_coverage", 0.05): 0.0,  # that of b
        ("sum_of_p", None): pytest.approx(2.03 / 5),
        ("unconfidence", None): pytest.approx(0.26 / 5),
        ("fuzziness", None): pytest.approx(0.38 / 5),
        ("observed_unconfidence", None): pytest.approx(1.04 / 5),
        ("observed_fuzziness", None): pytest.approx(1.18 / 5),
        ("f1_macro", None): pytest.approx(13 / 30),
    }


@pytest.mark.parametrize("unseen", ["A", "bb", "z"])
def test_a_true_label_that_training_never_saw_is_wrong_and_not_covered(unseen):
    prediction = Prediction(ABC, np.full((2, 3), 0.5), "p-value")
    rows = rows_of(prediction, np.array(["a", unseen]), [0.05], [0.1])
    assert rows["error", None] == 0.5 and rows["coverage", 0.05] == 0.5
    assert rows["sure_incorrect", 0.1] == 0.5
    numeric = Prediction(np.array([3]), np.full((2, 1), 0.5), "p-value")
    rows = rows_of(numeric, np.array([3, 12]), [0.05])
    assert rows["correct_of_one_class", 0.05] == 0.5 and rows["one_class", 0.05] == 1


@pytest.mark.parametrize("text", ["0.001", "0.01", "0.03", "0.05", "0.1", "0.3", "0.5", "0.99", "1"])
def test_rows_needed_is_the_fewest_that_can_exclude(text):
    needed, level = rows_needed(float(text)), Fraction(text)
    assert Fraction(1, needed + 1) <= level
    assert needed == 0 or Fraction(1, needed) > level
    smallest = np.array([[1 / (needed + 1)]])
    assert not Prediction(np.array([0]), smallest, "p-value").region(float(text)).any()


def test_notes_say_which_levels_cannot_be_reached():
    (note,) = smallest_p_notes([0.05, 0.1], {None: 12}, of="knn", noun="calibration row")
    assert "level 0.05" in note and "at least 19" in note
    assert "p-value of knn, 1/13" in note and "12 calibration rows" in note
    (note,) = smallest_p_notes([0.05], {"x": 12, "y": 19, "w": 1}, "classes")
    assert "in 2 of 3 classes" in note and "w (1 training row), x (12 training rows)" in note
    assert smallest_p_notes([0.01], {None: 99}) == []
    assert smallest_p_notes([0], {None: 10**6})[0].endswith("no number of rows is enough")


def test_a_level_that_seems_to_be_a_confidence_is_noted():
    assert level_note(0.5) is None
    assert "may miss 95 % of the labels; did you mean level 0.05?" in level_note(0.95)


def test_truth_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"truth must be \(5,\)"):
        evaluate(Prediction(ABC, P, "p-value"), TRUTH[:4])
