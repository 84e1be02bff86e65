"""Views at equal proportions of sure predictions: ties in parts, and the best of each view."""

from __future__ import annotations

import numpy as np
import pytest

from confml.measures.matched import at_correct, at_incorrect
from confml.measures.rejection import rejection_curve


def example(seed, ties):
    rng = np.random.default_rng(seed)
    certainty = rng.integers(0, 6, 30) / 6 if ties else rng.random(30)
    return certainty, rng.random(30) < 0.4 + 0.5 * certainty


def accepted_first(certainty, correct, count):
    """Mean numbers of correct and wrong predictions among the first ``count`` over all orders of ties."""
    right = wrong = 0.0
    for value in sorted(set(certainty), reverse=True):
        group = [bool(one) for own, one in zip(certainty, correct, strict=True) if own == value]
        part = min(count / len(group), 1.0)
        right, wrong = right + part * sum(group), wrong + part * (len(group) - sum(group))
        count -= part * len(group)
        if count <= 1e-12:
            break
    return right, wrong


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_best_of_all_numbers_of_accepted_predictions(seed, ties):
    certainty, correct = example(seed, ties)
    curve = rejection_curve(certainty, correct)
    counts = [accepted_first(certainty, correct, count) for count in np.arange(0, 30.001, 0.01)]
    for errors in range(int(sum(~correct)) + 1):
        found = at_incorrect(curve, certainty, errors)
        assert found is not None
        best = max(right for right, wrong in counts if wrong <= errors + 1e-9)
        assert (found.weights * correct).sum() == pytest.approx(best, abs=0.011)
        assert (found.weights * ~correct).sum() == pytest.approx(errors)
    for right in range(int(sum(correct)) + 1):
        found = at_correct(curve, certainty, right)
        assert found is not None
        best = min(wrong for own, wrong in counts if own >= right - 0.011)
        assert (found.weights * ~correct).sum() == pytest.approx(best, abs=0.08)  # counts have steps
        assert (found.weights * correct).sum() == pytest.approx(right)
    assert at_correct(curve, certainty, sum(correct) + 1) is None
    if not ties:
        assert at_incorrect(curve, certainty, 2).tied == 0


def test_an_infinite_certainty_is_always_accepted():
    """That of a posterior with a standard deviation of 0."""
    certainty, correct = np.array([np.inf, np.inf, 0.5]), np.array([True, False, True])
    curve = rejection_curve(certainty, correct)
    assert at_incorrect(curve, certainty, 0) is None
    assert at_correct(curve, certainty, 0) is None
    np.testing.assert_array_equal(at_correct(curve, certainty, 1).weights, [1.0, 1.0, 0.0])


def test_an_envelope_of_1_is_always_accepted():
    certainty = np.array([1.0, 1.0, 1.0, 0.8, 0.7])
    correct = np.array([True, False, True, True, False])
    curve = rejection_curve(certainty, correct, always_accepted_from=1.0)
    assert at_incorrect(curve, certainty, 0) is None
    assert at_correct(curve, certainty, 1) is None
    found = at_incorrect(curve, certainty, 1)
    np.testing.assert_array_equal(found.weights, [1, 1, 1, 1, 0])
    assert found.threshold == 0.8
