"""Verdicts on coverage against the literal distribution; their false alarms are simulated by validity."""

import math

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from confml.report.answers.coverage import SplitErrors, p_value
from confml.report.answers.differences import SplitLosses


def promised(errors, parts):
    return SplitErrors(SplitLosses(np.arange(errors), np.ones(errors), 100), parts, False)


def missed(values, rows=None, train=100):
    values = np.asarray(values, dtype=float)
    rows = np.arange(len(values)) if rows is None else rows
    return SplitErrors(SplitLosses(np.asarray(rows), values, train), None, False)


def test_one_split_is_beta_binomial():
    p_of_one_split = p_value([promised(9, ((50, 40),))], 0.1)
    assert p_of_one_split == pytest.approx(betabinom.sf(8, 50, 4, 36))
    assert p_value([promised(0, ((50, 40),))], 0.1) == pytest.approx(1.0)
    assert p_value([promised(9, ((50, None),))], 0.1) == pytest.approx(binom.sf(8, 50, 0.1))  # online


def test_splits_and_classes_are_convolved():
    splits = [promised(5, ((30, 40), (20, 20))), promised(8, ((30, 40), (20, 20)))]
    chances = np.ones(1)
    for rows, counted in ((30, 40), (20, 20)) * 2:
        k = np.arange(rows + 1)
        chances = np.convolve(chances, betabinom.pmf(k, rows, counted // 10, counted - counted // 10))
    assert p_value(splits, 0.1) == pytest.approx(chances[13:].sum())


def test_without_a_promise():
    values = np.arange(60) < 12
    assert p_value([missed(values)], 0.1) == pytest.approx(binom.sf(11, 60, 0.1))
    several = p_value([missed(values), missed(values, np.arange(30, 90))], 0.1)
    assert 0.001 < several < 0.05
    assert math.isnan(p_value([promised(3, ((20, 0),))], 0.1))  # no calibration rows
    assert math.isnan(p_value([promised(3, ())], 0.1))  # groups that overlap
