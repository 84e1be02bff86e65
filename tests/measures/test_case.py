"""Arrays that a case keeps, and measures that use them, against literal versions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import adjusted_rand_score

from confml.measures import Case, Prediction, evaluate, rows_of
from confml.measures.certified import certify, threshold_grid
from confml.measures.confusion_matrix import Confusion
from confml.measures.isotonic import isotonic
from confml.measures.point import adjusted_rand_index
from confml.measures.prediction import KINDS


def random_case(seed, kind="p-value", absent=False, rows=30):
    rng = np.random.default_rng(seed)
    classes = np.array(["a", "b", "c"]) if seed % 2 else np.array([1, 4, 9])
    scores = np.round(rng.random((rows, 3)), 1) + 0.05
    if kind != "p-value" and kind != "margin":
        scores /= scores.sum(axis=1, keepdims=True)
    extra = {"sd": rng.random((rows, 3))} if kind == "posterior" else {}
    truth = classes[rng.integers(0, 2, rows)]
    if absent:
        truth = truth.copy()
        truth[:3] = "z" if seed % 2 else 5
    return Case(Prediction(classes, scores, kind, extra=extra), truth, (0.05, 0.2), (0.5, 0.8))


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_kept_arrays(seed, kind, absent):
    case = random_case(seed, kind, absent)
    view = case.prediction
    assert np.array_equal(case.certainty, view.certainty) and np.array_equal(case.confidence, view.confidence)
    for threshold in case.thresholds:
        assert np.array_equal(case.accepted(threshold), view.accepted(threshold))
    labels, codes = np.unique(case.truth, return_inverse=True)
    assert case.labels[0].tolist() == labels.tolist() and np.array_equal(case.labels[1], codes)
    found, expected = case.confusion, Confusion.of(case.truth, view.labels)
    assert found.labels.tolist() == expected.labels.tolist()
    assert np.array_equal(found.counts, expected.counts)
    if view.has_regions:
        for level in case.levels:
            region = view.region(level)
            known = [label in view.classes for label in case.truth]
            held = [
                bool(ok and row[list(view.classes).index(label)])
                for ok, row, label in zip(known, region, case.truth, strict=True)
            ]
            assert np.array_equal(case.region(level), region) and case.covered(level).tolist() == held
            assert np.array_equal(case.sizes(level), region.sum(axis=1))


def test_a_case_of_other_levels_shares_the_arrays():
    case = random_case(0)
    other = replace(case, levels=(0.3,))
    assert other.region(0.3) is case.region(0.3) and other.true_columns is case.true_columns
    rows = [row for row in rows_of(other) if row.metric == "coverage"]
    assert [row.level for row in rows] == [0.3]


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_do_not_depend_on_what_was_kept(kind):
    case = random_case(1, kind, absent=True)
    before = evaluate(case.prediction, case.truth, case.levels, case.thresholds)
    rows_of(case)
    assert repr(rows_of(case)) == repr(before)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_rand_index_is_that_of_sklearn(seed):
    rng = np.random.default_rng(seed)
    truth, labels = rng.integers(0, 1 + seed, 40), rng.integers(0, 5, 40)
    assert adjusted_rand_index(truth, labels) == adjusted_rand_score(truth, labels)
    assert adjusted_rand_index(truth, truth) == 1.0
    names = np.array(["x", "y", "z", "u", "v"])[labels]
    assert adjusted_rand_index(names, truth) == adjusted_rand_score(names, truth)


@pytest.mark.parametrize("seed", range(5))
def test_isotonic_regression_is_that_of_sklearn(seed):
    rng = np.random.default_rng(seed)
    means, weights = np.round(rng.random(20), 1), rng.integers(1, 9, 20)
    expected = isotonic_regression(means, sample_weight=weights.astype(float))
    assert np.array_equal(isotonic(means, weights), expected)


@pytest.mark.parametrize("risk", [0.1, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_certified_threshold_is_that_of_the_literal_sequence(seed, risk):
    rng = np.random.default_rng(seed)
    confidence = np.round(rng.random(200), 2)
    correct = rng.random(200) < (0.6 + 0.4 * confidence if seed else 0.2)
    grid = threshold_grid(np.round(rng.random(90), 2), 200, risk, 0.05)
    found, passed = certify(confidence, correct, grid, risk), []
    for threshold in grid:
        taken = confidence >= threshold
        k, e = int(taken.sum()), int((taken & ~correct).sum())
        p = float(binom.cdf(e, k, risk))
        if p > 0.05:
            passed = passed or [(None, k, e, p)]
            break
        passed.append((float(threshold), k, e, p))
    assert (found.threshold, found.accepted, found.errors, found.p_value) == passed[-1]
