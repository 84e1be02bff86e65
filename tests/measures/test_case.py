"""Arrays that a case keeps, and measures that use them, against literal versions."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import adjusted_rand_score

from confml.measures.certified import certify, threshold_grid
from confml.measures.isotonic import isotonic
from confml.measures.point import adjusted_rand_index


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
