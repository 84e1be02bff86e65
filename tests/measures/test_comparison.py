"""Comparing two methods on the same splits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from confml.measures.comparison import corrected_t, curve_difference
from confml.measures.rejection import rejection_curve


def test_without_overlap_it_is_the_paired_t_test():
    """With test rows vanishing beside training rows, Nadeau and Bengio's correction is gone."""
    rng = np.random.default_rng(0)
    a, b = rng.random(12), rng.random(12)
    found = corrected_t(a - b, 1e15, 1)
    expected = ttest_rel(a, b)
    interval = expected.confidence_interval(0.95)
    assert found.t == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_a_value_by_hand():
    """d = 1, 2, 3, parts 2 : 1: t = 2 / sqrt((1/3 + 1/2) 1), p of Student's t with 2 degrees of freedom."""
    found = corrected_t([1.0, 2.0, 3.0], 200, 100)
    t = 2 / np.sqrt(5 / 6)
    assert found.t == pytest.approx(t) and found.degrees == 2 and found.difference == 2.0
    assert found.p_value == pytest.approx(1 - t / np.sqrt(2 + t**2))  # closed form for 2 degrees of freedom


def test_type_one_error_of_repeated_holdouts():
    """Two methods that are as good as each other, 20 overlapping holdouts, tested at 5 %.

    The plain t test takes them for different in most trials, the corrected one in few.
    """
    rng = np.random.default_rng(2)
    corrected, naive, trials = 0, 0, 300
    for _ in range(trials):
        right = rng.random((2, 90)) < 0.8  # both methods' answers, the same whatever they are trained on
        differences = []
        for _ in range(20):
            test = rng.permutation(90)[:30]
            differences.append(right[0, test].mean() - right[1, test].mean())
        corrected += corrected_t(differences, 60, 30).p_value < 0.05
        naive += ttest_rel(differences, np.zeros(20)).pvalue < 0.05
    assert corrected / trials < 0.1 and naive / trials > 0.4


def test_equal_differences_and_one_split():
    assert corrected_t([0.0, 0.0, 0.0], 10, 5).p_value == 1.0
    same = corrected_t([0.1 + 0.2, 0.3, 0.3], 10, 5)
    assert same.p_value == 0.0 and same.t == np.inf and same.sd == 0.0
    assert corrected_t([-0.3, -0.3], 10, 5).t == -np.inf
    one = corrected_t([0.2], 10, 5)
    assert one.difference == 0.2 and np.isnan(one.p_value) and np.isnan(one.low)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([], 10, 5), "nonempty list"),
        (([[0.1]], 10, 5), "nonempty list"),
        (([0.1], 0, 5), "must be above 0"),
        (([0.1], 10, 5, 1.0), "above 0 and below 1"),
    ],
)
def test_mistakes(arguments, match):
    with pytest.raises(ValueError, match=match):
        corrected_t(*arguments)


def test_curves_paired_by_split():
    rng = np.random.default_rng(3)
    good, poor = [], []
    for _ in range(10):
        correct = rng.random(200) < 0.8
        good.append(rejection_curve(correct + 0.5 * rng.standard_normal(200), correct))
        poor.append(rejection_curve(rng.integers(0, 3, 200), correct))
    grid = np.linspace(0, 0.8, 9)
    found = curve_difference(good, poor, grid, 400, 200)
    expected = [a.sure_incorrect_at(0.3) - b.sure_incorrect_at(0.3) for a, b in zip(good, poor, strict=True)]
    at = corrected_t(expected, 400, 200)
    np.testing.assert_allclose(curve_difference(good, poor, [0.3], 400, 200).difference, np.mean(expected))
    np.testing.assert_allclose(curve_difference(good, poor, [0.3], 400, 200).low, at.low)
    assert found.difference[0] == pytest.approx(0.0, abs=1e-15)  # nothing rejected: the same errors
    assert np.all(found.high[1:] < 0) and found.augrc.p_value < 0.001 and found.augrc.difference < 0
    swapped = curve_difference(poor, good, grid, 400, 200)
    np.testing.assert_allclose(swapped.difference, -found.difference, atol=1e-15)
    with pytest.raises(ValueError, match="pairs"):
        curve_difference(good, poor[:-1], grid, 400, 200)
