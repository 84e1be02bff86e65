"""Certified thresholds, alone and together, against the literal procedures."""

import numpy as np
import pytest
from reference import certified_paths as literal
from scipy.stats import binom

from confml.measures.certified import certify, minimum_accepted, threshold_grid
from confml.measures.certified_paths import Path, certify_paths, most_accepting


@pytest.mark.parametrize(("risk", "count"), [(0.10, 29), (0.05, 59), (0.01, 299)])
def test_minimum_accepted(risk, count):
    assert minimum_accepted(risk, 0.05) == count
    grid = [0.5]
    point = certify(np.ones(count), np.ones(count), grid, risk)
    assert point.threshold == 0.5 and point.minimum == count
    refused = certify(np.ones(count - 1), np.ones(count - 1), grid, risk)
    assert refused.threshold is None and refused.minimum == count


def test_threshold_grid_is_by_training_scores_alone():
    grid = threshold_grid(np.linspace(0, 1, 1001), 590, 0.05, 0.05, size=10)
    assert np.all(np.diff(grid) < 0)
    assert grid[0] == pytest.approx(1 - 2 * 59 / 590, abs=0.002) and grid[-1] == 0.0
    assert len(threshold_grid(np.full(50, 0.3), 100, 0.05, 0.05)) == 1
    np.testing.assert_allclose(threshold_grid([0.2, 0.9], 10, 0.05, 0.05), [0.2])


def literal_point(confidence, correct, grid, risk):
    """The last threshold of the sequence whose binomial test rejects, or the first that does not."""
    passed = []
    for threshold in grid:
        accepted = confidence >= threshold
        k, e = int(accepted.sum()), int((accepted & ~correct).sum())
        p = float(binom.cdf(e, k, risk))
        if p > 0.05:
            return passed[-1] if passed else (None, k, e, p)
        passed.append((float(threshold), k, e, p))
    return passed[-1]


@pytest.mark.parametrize("risk", [0.3, 0.05])
@pytest.mark.parametrize(("n", "m", "infinite"), [(15, 16, False), (80, 80, False), (40, 41, True)])
@pytest.mark.parametrize("seed", range(3))
def test_points_and_paths_are_the_literal_ones(seed, n, m, infinite, risk):
    rng = np.random.default_rng(seed)
    for _ in range(12):
        confidence, training = (np.round(rng.random(rows), 1 + seed % 2) for rows in (n, m))
        if infinite:
            confidence[0], training[1:3] = np.inf, (np.inf, -np.inf)
        correct = rng.random(n) < 0.95
        grid = threshold_grid(training, n, risk, 0.05)
        point = certify(confidence, correct, grid, risk, 0.05)
        threshold, *counts, p_value = literal_point(confidence, correct, grid, risk)
        assert (point.threshold, point.accepted, point.errors) == (threshold, *counts)
        assert point.p_value == pytest.approx(p_value, rel=1e-11)
        for threshold, p, *counts in zip(*Path.of_errors(confidence, correct, grid, risk), strict=True):
            accepted = confidence >= threshold
            assert counts == [accepted.sum(), (accepted & ~correct).sum()]
            assert p == pytest.approx(binom.cdf(counts[1], counts[0], risk), rel=1e-11)


# ---- certified together


def path_of(p_values):
    p = np.asarray(p_values, dtype=np.float64)
    return Path(np.linspace(1, 0, len(p)), p, np.arange(len(p)), np.zeros(len(p)))


@pytest.mark.parametrize("seed", range(30))
def test_paths_are_the_graphical_procedure_in_any_order(seed):
    rng = np.random.default_rng(seed)
    # The budgets are exact, and p-values tie with them.
    values = [rng.choice([0.0, 0.125, 0.25, 0.5], rng.integers(1, 6)).tolist() for _ in range(4)]
    counts = certify_paths([path_of(p) for p in values], 0.5)
    for order in (min, max, lambda able: able[rng.integers(len(able))]):
        assert counts == literal.paths(values, 0.5, order)


def test_one_threshold_per_path_is_holm_and_one_path_is_the_fixed_sequence():
    assert certify_paths([path_of([p]) for p in (0.01, 0.02, 0.04)], 0.05) == [1, 1, 1]
    assert certify_paths([path_of([p]) for p in (0.01, 0.026, 0.04)], 0.05) == [1, 0, 0]
    rng = np.random.default_rng(2)
    confidence = np.round(rng.random(900), 2)
    correct = rng.random(900) < 0.8 + 0.2 * confidence
    grid = threshold_grid(rng.random(300), 900, 0.08, 0.05)
    path = Path.of_errors(confidence, correct, grid, 0.08)
    (count,) = certify_paths([path], 0.05)
    alone = certify(confidence, correct, grid, 0.08, 0.05)
    assert count and path.thresholds[count - 1] == alone.threshold
    assert (path.accepted[count - 1], path.errors[count - 1]) == (alone.accepted, alone.errors)


def test_paths_without_thresholds_get_no_budget():
    empty = path_of([])
    assert certify_paths([empty, path_of([0.05])], 0.05) == [0, 1]
    assert certify_paths([], 0.05) == [] and certify_paths([empty], 0.05) == [0]


def test_choices_among_certified_thresholds():
    first, second = path_of([0, 0, 0]), path_of([0, 0, 0])
    assert most_accepting([first, second], [2, 3]) == (1, 2)
    assert most_accepting([first, second], [2, 2]) == (0, 1)
    assert most_accepting([first, second], [0, 0]) is None


def test_mistakes():
    with pytest.raises(ValueError, match="delta must be above 0"):
        certify_paths([], 0.0)
    with pytest.raises(ValueError, match="NaN"):
        Path.of_errors([np.nan], [True], [0.1], 0.1)
