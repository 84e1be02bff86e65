"""Rounded numbers of predictions never contradict a region, a label or a threshold."""

import numpy as np
import pytest

from confml.measures.prediction import Prediction
from confml.predictions.rounding import p_text, rounded, with_digits

LEVELS = (0.01, 0.05, 0.3)


def test_rounded_numbers_are_the_shortest_decimals():
    rng = np.random.default_rng(0)
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-40, 4, 3000)
    expected = [float(f"{value:.3e}") for value in values]
    np.testing.assert_allclose(rounded(values, 4), expected, rtol=1e-15)
    texts = [repr(value) for value in rounded(values, 4).tolist()]
    assert max(len(text.split("e")[0].replace("-", "").replace(".", "").strip("0")) for text in texts) <= 4
    assert rounded(np.array([1234567.8, -98765.4321]), 4).tolist() == [1234568.0, -98765.0]
    special = np.array([0.0, np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(rounded(special, 4), special)
    assert rounded(np.array([[0.12345, 0.5], [0.12345, 0.5]]), np.array([2, 17])).tolist() == [
        [0.12, 0.5],
        [0.12345, 0.5],
    ]


def hostile_scores(kind: str, rng: np.random.Generator) -> np.ndarray:
    """(400, 3) scores, many of which are so close to a level, or to each other, that digits hide it."""
    scores = rng.random((400, 3))
    near = np.array(LEVELS)[rng.integers(0, len(LEVELS), 400)]
    near = near * (1 + rng.choice([-1, 1], 400) * 10.0 ** rng.integers(-13, -3, 400))
    if kind == "p-value":
        scores[:200, 1] = near[:200]
    elif kind != "margin":
        scores /= scores.sum(axis=1, keepdims=True)
        scores[:200] = np.column_stack([1 - near[:200], near[:200] / 3, 2 * near[:200] / 3])
    scores[300:, 2] = scores[300:, 0] + 10.0 ** rng.integers(-12, -4, 100)
    return scores


@pytest.mark.parametrize("kind", ["p-value", "probability", "vote", "posterior", "margin"])
@pytest.mark.parametrize("digits", [2, 4])
def test_no_rounded_number_contradicts_a_region(kind, digits):
    rng = np.random.default_rng(digits)
    scores = hostile_scores(kind, rng)
    extra = {"sd": rng.uniform(0.01, 0.2, scores.shape)} if kind == "posterior" else {}
    prediction = Prediction(np.array(["a", "b", "c"]), scores, kind, extra=extra)
    levels = LEVELS if prediction.has_regions else ()
    threshold = float(np.median(prediction.certainty)) * (1 + 1e-9)
    short, confidence = with_digits(prediction, digits, levels, threshold)
    naive = Prediction(prediction.classes, rounded(scores, digits), kind, extra=extra)
    assert (naive.labels != prediction.labels).any()  # the rows are hostile
    assert (short.classes[short.scores.argmax(axis=1)] == prediction.labels).all()
    for level in levels:
        np.testing.assert_array_equal(short.region(level), prediction.region(level))
        text = confidence >= 1 - level
        np.testing.assert_array_equal(text, prediction.confidence >= 1 - level)
    np.testing.assert_array_equal(short.certainty >= threshold, prediction.certainty >= threshold)
    np.testing.assert_allclose(short.scores, scores, rtol=10.0 ** (1 - digits), atol=1e-12)
    plain = [len(repr(value)) for value in short.scores[200:300, 0].tolist()]
    assert np.median(plain) <= digits + 3  # most rows are short


def test_p_values_of_messages_stay_on_their_side_of_a_limit():
    assert p_text(0.0123, 0.05) == "0.012" and p_text(0.05, 0.05) == "0.05"
    assert p_text(0.0501, 0.05) == "0.0501" and p_text(0.010000001, 0.01) == "0.010000001"
    assert p_text(0.0499, 0.05) == "0.05"  # at the limit counts as below it
    assert float(p_text(np.nextafter(0.05, 1), 0.05)) > 0.05
