"""Jackknife values of areas and points of rejection curves equal those of curves without each row."""

import numpy as np
import pytest

from confml.measures.jackknife import CurveRows
from confml.measures.rejection import rejection_curve

RATES = np.array([0.0, 0.1, 0.35, 0.5, 0.9])


def literal(confidence, correct, metric):
    """Values n f - (n - 1) f(without i), moved so that their mean is f."""
    n, whole = len(confidence), metric(rejection_curve(confidence, correct))
    without = [metric(rejection_curve(np.delete(confidence, i), np.delete(correct, i))) for i in range(n)]
    without = np.where(np.isnan(without), whole, without)
    values = n * whole - (n - 1) * without
    return values - values.mean() + whole


@pytest.mark.parametrize("seed", range(30))
def test_values_are_those_of_literal_curves(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    confidence = rng.integers(0, rng.integers(1, 9), n) / 7.0  # with ties
    correct = rng.random(n) < 0.6
    rows = CurveRows.of(rejection_curve(confidence, correct), confidence, correct)
    for name in ("augrc", "aurc", "auroc"):
        wanted = literal(confidence, correct, lambda curve, name=name: getattr(curve, name)())
        np.testing.assert_allclose(getattr(rows, name)(), wanted, atol=1e-12)
    for rate, found in zip(RATES, rows.sure_incorrect(RATES), strict=True):
        wanted = literal(confidence, correct, lambda curve, rate=rate: curve.sure_incorrect_at(rate))
        np.testing.assert_allclose(found, wanted, atol=1e-12)
