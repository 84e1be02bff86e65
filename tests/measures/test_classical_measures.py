"""Confusion, precision, recall, F1, log loss, Brier score and calibration error: as
scikit-learn's."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.isotonic import isotonic_regression

from confml.measures import evaluate
from confml.measures.bins import Bins
from confml.measures.confusion_matrix import Confusion
from confml.measures.isotonic import isotonic
from confml.measures.point import adjusted_rand_index
from confml.measures.prediction import Prediction

CASES = [
    # classes of training, classes in the test part, rows
    (("a", "b"), ("a", "b"), 80),
    (("a", "b", "c", "d"), ("a", "b", "c", "d"), 120),
    (("a", "b", "c", "d"), ("a", "c"), 60),  # two classes of training without test rows
    (("a", "b", "c"), ("a", "b", "z"), 60),  # z is an absent class
    (("a", "b"), ("a", "b", "z"), 60),
    (("a", "b", "c"), ("b",), 20),  # one class only in the test part
    (("a", "b"), ("b",), 20),
    ((1, 2, 7), (1, 2, 7), 1),
]


def example(case, seed: int):
    """A view of probabilities with many ties, zeros and ones, and the true labels."""
    classes, there, n = case
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (n, len(classes)))
    counts[counts.sum(axis=1) == 0, 0] = 1
    truth = rng.choice(np.array(there), n)
    return Prediction(np.array(classes), counts / counts.sum(axis=1, keepdims=True), "probability"), truth


def values(prediction, truth) -> dict[str, float]:
    return {row.metric: row.value for row in evaluate(prediction, truth)}


def several(test):
    return pytest.mark.parametrize("seed", range(3))(pytest.mark.parametrize("case", CASES)(test))


@several
def test_precision_recall_and_f1_equal_those_of_scikit_learn(case, seed):
    view, truth = example(case, seed)
    metrics, confusion = values(view, truth), Confusion.of(truth, view.labels)
    precision, recall, f1, _ = sk.precision_recall_fscore_support(truth, view.labels, zero_division=0)
    np.testing.assert_allclose(confusion.precision, precision, rtol=1e-13)
    np.testing.assert_allclose(confusion.recall, recall, rtol=1e-13)
    np.testing.assert_allclose(confusion.f1, f1, rtol=1e-13)
    assert metrics["f1_macro"] == pytest.approx(f1.mean(), rel=1e-13)
    assert confusion.labels.tolist() == sorted({*truth.tolist(), *view.labels.tolist()})
    if len(confusion.labels) > 1:
        matrix = sk.confusion_matrix(truth, view.labels, labels=confusion.labels)
        assert np.array_equal(confusion.counts, matrix)


@several
@pytest.mark.parametrize("positive", [False, True])
def test_log_loss_and_brier_score_equal_those_of_scikit_learn(case, seed, positive):
    view, truth = example(case, seed)
    p = view.scores
    if positive:  # no zeros, which scikit-learn clips
        p = (p + 0.1) / (p + 0.1).sum(axis=1, keepdims=True)
    metrics = values(Prediction(view.classes, p, "probability"), truth)
    seen = np.isin(truth, view.classes)
    of_truth = np.array([p[i, list(view.classes).index(y)] if seen[i] else 0.0 for i, y in enumerate(truth)])
    assert math.isinf(metrics["log_loss"]) == bool((of_truth == 0).any())  # not clipped
    if (of_truth > 0).all():
        assert metrics["log_loss"] == pytest.approx(sk.log_loss(truth, p, labels=view.classes), rel=1e-12)
    one_hot = truth[:, None] == view.classes
    literal = np.mean([sum((p[i] - one_hot[i]) ** 2) + (not seen[i]) for i in range(len(p))])
    assert metrics["brier"] == pytest.approx(literal, rel=1e-12)
    if len(view.classes) == 2 and seen.all():
        halved = sk.brier_score_loss(truth, p[:, 1], pos_label=view.classes[1])
        assert metrics["brier"] == pytest.approx(2 * halved, rel=1e-12)


def test_equal_probabilities_share_a_bin_and_others_have_equal_mass():
    bins = Bins.of(np.repeat([0.2, 0.5, 0.9], [10, 100, 10]), np.zeros(120, dtype=bool))
    assert bins.counts.tolist() == [10, 100, 10] and bins.values == pytest.approx([0.2, 0.5, 0.9])
    assert Bins.of(np.arange(1500) / 1500, np.zeros(1500, dtype=bool)).counts.tolist() == [100] * 15


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_rand_index_and_isotonic_regression_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth, labels = rng.integers(0, 1 + seed, 40), rng.integers(0, 5, 40)
    assert adjusted_rand_index(truth, labels) == sk.adjusted_rand_score(truth, labels)
    names = np.array(["x", "y", "z", "u", "v"])[labels]
    assert adjusted_rand_index(names, truth) == sk.adjusted_rand_score(names, truth)
    means, weights = np.round(rng.random(20), 1), rng.integers(1, 9, 20)
    expected = isotonic_regression(means, sample_weight=weights.astype(float))
    assert np.array_equal(isotonic(means, weights), expected)
