"""Tests of hypotheses and intervals: Bayes errors, differences of methods, coverage, Friedman, Wilcoxon."""

from __future__ import annotations

import functools

import numpy as np
from _entries import ABOUT, AT_LEAST, Claim, Entry, grid, p_value_claims, rejected

from confml.bayes_error.rates import pairwise_bayes_error
from confml.bayes_error.uncertainty import leave_block_out_intervals
from confml.measures import Case, Prediction
from confml.measures.coverage_band import calibration_parts
from confml.measures.ranks import compare_ranks
from confml.report.answers.coverage import SplitErrors, p_value
from confml.report.answers.differences import LossTable, SplitLosses, compare_lines, mean_interval

TRAIN, TEST = 100, 50


def gaussian_classes(n, m, separation, rng):
    """Return n and m rows of two spherical Gaussians in the plane, and their classes."""
    X = rng.normal(size=(n + m, 2))
    X[n:, 0] += separation
    return X, np.repeat([0, 1], [n, m])


def bayes_error_interval(rng, rows, separation):
    """95 % interval of a Bayes error without the mean of the estimator."""
    X, y = gaussian_classes(rows // 2, rows - rows // 2, separation, rng)
    interval = leave_block_out_intervals(X, y, rng, blocks=10).pairwise
    return [not interval.low[0, 1] <= _mean_estimate(rows, separation) <= interval.high[0, 1]]


@functools.cache
def _mean_estimate(rows: int, separation: float) -> float:
    rng = np.random.default_rng(0)
    drawn = (gaussian_classes(rows // 2, rows - rows // 2, separation, rng) for _ in range(1000))
    return float(np.mean([pairwise_bayes_error(X, y).estimate[0, 1] for X, y in drawn]))


def mean_cost(rng, protocol, rows, rare):
    """95 % interval of the mean cost of 1-NN without the expected cost on new rows."""
    X, y = _two_classes(rng, rows)
    order = rng.permutation(rows)
    parts = [order[fold::5] for fold in range(5)] if protocol == "k-fold" else [order[: rows // 5]]
    if protocol == "holdout":
        parts = [rng.permutation(rows)[: rows // 5] for _ in range(10)]
    splits = []
    for part in map(np.sort, parts):
        train = np.setdiff1d(order, part)
        splits.append(SplitLosses(part, _costs_of_nearest(X, y, train, part, rare), len(train)))
    low, high = mean_interval(splits, bound=20.0 if rare else 5.0)
    return [not low <= _expected_cost(rows - rows // 5, rare) <= high]


def rare_cost(rng, rows, rate, cost):
    """95 % interval of a mean cost without it: a cost of 1 in 10 % of the rows, and a large one in few."""
    drawn = rng.random(rows)
    costs = np.where(drawn < rate, cost, np.where(drawn < rate + 0.1, 1.0, 0.0))
    low, high = mean_interval([SplitLosses(np.arange(rows), costs, rows)], bound=float(cost))
    return [not low <= 0.1 + rate * cost <= high]


def _two_classes(rng, rows):
    y = (rng.random(rows) < 0.3).astype(int)
    return rng.normal(size=(rows, 2)) + 1.2 * y[:, None], y


def nearest_label(X, y, train, test):
    """Return the label of the nearest training row of each test row."""
    return y[train][((X[test][:, None] - X[train]) ** 2).sum(axis=2).argmin(axis=1)]


def _costs_of_nearest(X, y, train, test, rare):
    costs = np.where(y[test] == 1, 20.0 if rare else 5.0, 1.0)
    return np.where(nearest_label(X, y, train, test) == y[test], 0.0, costs)


@functools.cache
def _expected_cost(train: int, rare: bool) -> float:
    rng = np.random.default_rng(0)
    costs = []
    for _ in range(400):
        X, y = _two_classes(rng, train + 500)
        test = np.arange(train, train + 500)
        costs.append(_costs_of_nearest(X, y, np.arange(train), test, rare).mean())
    return float(np.mean(costs))


def tie_band(rng, rows):
    """Estimate outside its tie band, on whole numbers."""
    X, y = rng.integers(0, 3, size=(rows, 2)).astype(float), rng.integers(0, 2, rows)
    y[:2] = 0, 1
    error = pairwise_bayes_error(X, y)
    return [not error.estimate_tie_low[0, 1] <= error.estimate[0, 1] <= error.estimate_tie_high[0, 1]]


def learners(rng, splits, classes):
    """p-value of two 1-NN classifiers on different features that are equally informative."""
    n = TRAIN + TEST
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(2, n, 2)) + np.column_stack([y % 4, y // 4])
    losses = [[], []]
    for _ in range(splits):
        train, test = np.split(rng.permutation(n), [TRAIN])
        for features, of_method in zip(X, losses, strict=True):
            of_method.append(SplitLosses(test, nearest_label(features, y, train, test) != y[test], TRAIN))
    return rejected(LossTable(losses, bound=1.0).pair(0, 1).p_value)


def test_parts(rng, rows, splits):
    """Return the test rows of a holdout: all rows of one split, or a third of them in each of several."""
    test = rows if splits == 1 else rows // 3
    return [rng.permutation(rows)[:test] for _ in range(splits)]


def fixed_methods(rng, splits, methods, gap=0.0):
    """Return the best of methods with an error of 10 %, the last one with ``gap`` more, on 200 rows."""
    wrong = rng.random((methods, 200)) < np.append(np.full(methods - 1, 0.1), 0.1 + gap)[:, None]
    parts = test_parts(rng, 200, splits)
    losses = [[SplitLosses(part, row[part], 2 * len(part)) for part in parts] for row in wrong]
    return compare_lines(LossTable(losses, bound=1.0))


def stars(rng, splits, methods):
    """Any star among methods with equal error rates."""
    comparison = fixed_methods(rng, splits, methods)
    return [any(map(comparison.worse, range(methods)))]


@functools.cache
def _stated_difference(splits: int, methods: int, equal: bool) -> float:
    """Return the difference that runs of equal methods, or with this difference, state as detectable."""
    gap = 0.0 if equal else 0.05
    for _ in range(1 if equal else 6):
        rng = np.random.default_rng(0)
        gap = float(np.median([fixed_methods(rng, splits, methods, gap=gap).detectable for _ in range(60)]))
    return gap


def detected(rng, splits, methods, equal):
    """Whether a method that is worse by the difference that runs state as detectable has a star."""
    comparison = fixed_methods(rng, splits, methods, gap=_stated_difference(splits, methods, equal))
    return [float(comparison.worse(methods - 1))]


def is_shown_too_low(errors, parts, level=0.1):
    """Return whether coverage with these numbers of errors of splits is shown to be too low.

    parts: test rows with their calibration rows plus 1, of regions with a promise.
    """
    losses = [SplitLosses(np.arange(number), np.ones(number), 1) for number in errors]
    return [p_value([SplitErrors(of_split, parts, False) for of_split in losses], level) <= 0.01]


def coverage_verdict(rng, splits, rows, calibration):
    """Coverage of valid split conformal regions shown to be too low."""
    ranks = int(0.1 * (calibration + 1))
    # The second row of rates is drawn for the same numbers as in the stored table.
    rates = rng.beta(ranks, calibration + 1 - ranks, (2, splits))
    return is_shown_too_low(rng.binomial(rows, rates[0]), ((rows, calibration + 1),))


def grouped_coverage_verdict(rng, small):
    """Coverage of valid p-values with groups of ``by`` of very different sizes shown to be too low."""
    sizes, rows = (80, 80, small), (100, 100, max(small, 5))
    above = np.concatenate(
        [m - np.searchsorted(np.sort(rng.random(m)), rng.random(n)) for m, n in zip(sizes, rows, strict=True)]
    )
    counted = np.repeat(np.array(sizes) + 1, rows)
    p = np.column_stack([(above + 1) / counted, 1 / counted])
    extra = {
        "group": np.repeat(np.arange(3), rows)[:, None],
        "n_greater": np.column_stack([above, 0 * above]),
        "n_equal": np.ones(p.shape, dtype=np.int64),
    }
    case = Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), np.zeros(len(p), dtype=int))
    return is_shown_too_low([np.sum(~case.covered(0.1))], calibration_parts(case))


def unpromised_coverage(rng, splits, rows):
    """Coverage of 90 % without a promise shown to be too low; the same rows are in several splits."""
    missed = (rng.random(rows) < 0.1).astype(float)
    parts = test_parts(rng, rows, splits)
    losses = [SplitLosses(part, missed[part], 2 * len(part)) for part in parts]
    return [p_value([SplitErrors(of_split, None, False) for of_split in losses], 0.1) <= 0.01]


def ranks(rng, datasets, methods):
    """p-values and critical difference of methods whose scores have one distribution on every data set."""
    result = compare_ranks(rng.normal(size=(datasets, methods)) + rng.normal(size=(datasets, 1)))
    apart = np.ptp(result.mean_ranks) >= result.critical_difference
    p_values = np.array([result.p_value, result.f_p_value, result.nemenyi.min(), result.wilcoxon.min()])
    return [*(p_values[:3] <= 0.05), apart, p_values[3] <= 0.05]


def rank_claims(setting):
    """False alarms over all pairs; Friedman's and Nemenyi's distributions are those of many data sets."""
    tests = ("Friedman", "Iman-Davenport", "any Nemenyi")
    p_values = [Claim(f"{test} p <= 0.05", 0.05, ABOUT) for test in tests]
    apart = Claim("any two ranks the critical difference apart", 0.05, ABOUT)
    return [*p_values, apart, Claim("any Wilcoxon-Holm p <= 0.05", 0.05)]


def false_alarm(setting):
    return [Claim("false alarm", 0.01)]


ENTRIES = (
    Entry("bayes-error-interval", "95 % interval, bayes-error --intervals",
          "approximate, for the mean of the estimator",
          grid(rows=(60, 200), separation=(0.5, 1.5)),
          lambda setting: [Claim("mean of the estimator outside the interval", 0.05, ABOUT)],
          bayes_error_interval, fraction=0.1),
    Entry("tie-band", "tie band, bayes-error",
          "lowest and highest estimate under other orders of equal distances; the estimate lies in it",
          grid(rows=(60, 200)), lambda setting: [Claim("estimate outside", 0.0)], tie_band, fraction=0.1),
    Entry("difference", "p-value, confml run and compare", "t test of the test rows",
          grid(splits=(1, 2, 5), classes=(3, 10)), p_value_claims(), learners, fraction=0.1),
    Entry("mean-cost", "95 % interval of a mean cost, confml run",
          "of the mean over training sets and new rows; approximate",
          grid(protocol=("k-fold", "holdout", "one split"), rows=(100, 300), rare=(False, True)),
          lambda setting: [Claim("expected cost outside the interval", 0.05, ABOUT)],
          mean_cost, fraction=0.1),
    Entry("mean-cost-rare", "95 % interval of a mean cost, confml run",
          "a large cost may be too rare to be seen",
          [{"rows": rows, "rate": rate, "cost": cost} for rows in (50, 200, 1000)
           for rate, cost in ((0.001, 100), (0.005, 100), (0.02, 20))],
          lambda setting: [Claim("mean outside the interval", 0.05, ABOUT)], rare_cost, fraction=0.2),
    Entry("stars", "stars, confml run", "shown to be worse than the lowest (5 %, Holm over all pairs)",
          grid(splits=(1, 5), methods=(5, 20)),
          lambda setting: [Claim("any star among equal methods", 0.05)], stars, fraction=0.1),
    Entry("detectable", "detectable difference, confml run",
          "could show differences of about X (power at least 80 %)",
          grid([*grid(splits=1, methods=(2, 5, 10)), *grid(splits=5, methods=(2, 5))], equal=(False, True)),
          lambda setting: [Claim("power at the stated difference", 0.75, AT_LEAST, True)],
          detected, fraction=0.05),
    Entry("coverage-verdict", "coverage shown to be too low", "p <= .01",
          grid(splits=(1, 10), rows=(50, 200), calibration=99), false_alarm, coverage_verdict, fraction=0.2),
    Entry("coverage-verdict-groups", "coverage shown to be too low, groups of by", "p <= .01",
          grid(small=(2, 4, 8, 20)), false_alarm, grouped_coverage_verdict, fraction=0.2),
    Entry("coverage-verdict-unpromised", "coverage shown to be too low, without a promise", "p <= .01",
          grid(splits=(1, 10), rows=(50, 200)), false_alarm, unpromised_coverage, fraction=0.2),
    Entry("ranks", "p-values and critical difference, ranks", "differ at level",
          [{"datasets": datasets, "methods": methods} for datasets, methods in ((10, 4), (20, 4), (20, 10))],
          rank_claims, ranks, fraction=0.2),
)  # fmt: skip
