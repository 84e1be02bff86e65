"""Tests of hypotheses and intervals: Bayes errors, differences of methods, coverage, Friedman, Wilcoxon."""

from __future__ import annotations

import functools

import numpy as np
from _entries import ABOUT, AT_LEAST, Claim, Entry, p_value_claims, rejected

from confml.bayes_error import pairwise_bayes_error
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
    found = leave_block_out_intervals(X, y, rng, blocks=10).pairwise
    return [not found.low[0, 1] <= _mean_estimate(rows, separation) <= found.high[0, 1]]


@functools.cache
def _mean_estimate(rows: int, separation: float) -> float:
    rng = np.random.default_rng(0)
    drawn = (gaussian_classes(rows // 2, rows - rows // 2, separation, rng) for _ in range(1000))
    return float(np.mean([pairwise_bayes_error(X, y).estimate[0, 1] for X, y in drawn]))


def mean_cost(rng, protocol, rows, rare):
    """95 % interval of the mean cost of 1-NN without the expected cost on new rows."""
    X, y = _two_classes(rng, rows)
    order = rng.permutation(rows)
    parts = [order[place::5] for place in range(5)] if protocol == "k-fold" else [order[: rows // 5]]
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


def _costs_of_nearest(X, y, train, test, rare):
    distance = ((X[test][:, None] - X[train]) ** 2).sum(axis=2)
    found = y[train][distance.argmin(axis=1)]
    return np.where(found == y[test], 0.0, np.where(y[test] == 1, 20.0 if rare else 5.0, 1.0))


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
    found = pairwise_bayes_error(X, y)
    return [not found.estimate_tie_low[0, 1] <= found.estimate[0, 1] <= found.estimate_tie_high[0, 1]]


def learners(rng, splits, classes):
    """p-value of two 1-NN classifiers on different features that are equally informative."""
    n = TRAIN + TEST
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(2, n, 2)) + np.column_stack([y % 4, y // 4])
    losses = [[], []]
    for _ in range(splits):
        order = rng.permutation(n)
        train, test = order[:TRAIN], order[TRAIN:]
        for features, own in zip(X, losses, strict=True):
            distance = ((features[test][:, None] - features[train]) ** 2).sum(axis=2)
            own.append(SplitLosses(test, y[train][distance.argmin(axis=1)] != y[test], TRAIN))
    return rejected(LossTable(losses, bound=1.0).pair(0, 1).p_value)


def fixed_methods(rng, splits, methods, rows=200, gap=0.0):
    """Return the best of methods with an error of 10 %, the last one with ``gap`` more."""
    wrong = rng.random((methods, rows)) < np.append(np.full(methods - 1, 0.1), 0.1 + gap)[:, None]
    test = rows if splits == 1 else rows // 3
    parts = [rng.permutation(rows)[:test] for _ in range(splits)]
    return compare_lines(
        LossTable([[SplitLosses(at, own[at], 2 * test) for at in parts] for own in wrong], bound=1.0)
    )


def stars(rng, splits, methods):
    """Any star among methods with equal error rates."""
    found = fixed_methods(rng, splits, methods)
    return [any(found.worse(place) for place in range(methods))]


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
    found = fixed_methods(rng, splits, methods, gap=_stated_difference(splits, methods, equal))
    return [float(found.worse(methods - 1))]


def coverage_verdict(rng, splits, rows, calibration):
    """Coverage of valid split conformal regions shown to be too low."""
    parts, level = ((rows, calibration + 1),), 0.1
    ranks = int(level * (calibration + 1))
    # The second row of rates is drawn for the same numbers as in the stored table.
    rates = rng.beta(ranks, calibration + 1 - ranks, (2, splits))
    errors = rng.binomial(rows, rates[0])
    return [p_value([_promised(int(n), parts) for n in errors], level) <= 0.01]


def _promised(errors, parts):
    return SplitErrors(SplitLosses(np.arange(errors), np.ones(errors), 1), parts, False)


def grouped_coverage_verdict(rng, small):
    """Coverage of valid p-values with groups of ``by`` of very different sizes shown to be too low."""
    sizes, rows, level = (80, 80, small), (100, 100, max(small, 5)), 0.1
    codes = np.repeat(np.arange(3), rows)
    above = np.concatenate(
        [m - np.searchsorted(np.sort(rng.random(m)), rng.random(n)) for m, n in zip(sizes, rows, strict=True)]
    )
    counted = np.repeat(np.array(sizes) + 1, rows)
    p = np.column_stack([(above + 1) / counted, 1 / counted])
    extra = {
        "group": codes[:, None],
        "n_greater": np.column_stack([above, 0 * above]),
        "n_equal": np.ones(p.shape, dtype=np.int64),
    }
    case = Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), np.zeros(len(p), dtype=int))
    errors = int(np.sum(~case.covered(level)))
    return [p_value([_promised(errors, calibration_parts(case))], level) <= 0.01]


def unpromised_coverage(rng, splits, rows):
    """Coverage of 90 % without a promise shown to be too low; the same rows are in several splits."""
    missed = rng.random(rows) < 0.1
    test = rows if splits == 1 else rows // 3
    parts = [rng.permutation(rows)[:test] for _ in range(splits)]
    own = [SplitErrors(SplitLosses(at, missed[at].astype(float), 2 * test), None, False) for at in parts]
    return [p_value(own, 0.1) <= 0.01]


def ranks(rng, datasets, methods):
    """p-values and critical difference of methods whose scores have one distribution on every data set."""
    found = compare_ranks(rng.normal(size=(datasets, methods)) + rng.normal(size=(datasets, 1)))
    least = min(found.nemenyi.min(), 1.0)
    apart = np.ptp(found.mean_ranks) >= found.critical_difference
    return [
        found.p_value <= 0.05,
        found.f_p_value <= 0.05,
        least <= 0.05,
        apart,
        found.wilcoxon.min() <= 0.05,
    ]


def rank_claims(setting):
    """False alarms over all pairs; Friedman's and Nemenyi's distributions are those of many data sets."""
    return [
        Claim("Friedman p <= 0.05", 0.05, ABOUT),
        Claim("Iman-Davenport p <= 0.05", 0.05, ABOUT),
        Claim("any Nemenyi p <= 0.05", 0.05, ABOUT),
        Claim("any two ranks the critical difference apart", 0.05, ABOUT),
        Claim("any Wilcoxon-Holm p <= 0.05", 0.05),
    ]


ENTRIES = (
    Entry("bayes-error-interval", "95 % interval, bayes-error --intervals",
          "approximate, for the mean of the estimator",
          [{"rows": rows, "separation": separation} for rows in (60, 200) for separation in (0.5, 1.5)],
          lambda setting: [Claim("mean of the estimator outside the interval", 0.05, ABOUT)],
          bayes_error_interval, fraction=0.1),
    Entry("tie-band", "tie band, bayes-error",
          "lowest and highest estimate under other orders of equal distances; the estimate lies in it",
          [{"rows": 60}, {"rows": 200}], lambda setting: [Claim("estimate outside", 0.0)], tie_band,
          fraction=0.1),
    Entry("difference", "p-value, confml run and compare", "t test of the test rows",
          [{"splits": splits, "classes": classes} for splits in (1, 2, 5) for classes in (3, 10)],
          p_value_claims(), learners, fraction=0.1),
    Entry("mean-cost", "95 % interval of a mean cost, confml run",
          "of the mean over training sets and new rows; approximate",
          [{"protocol": protocol, "rows": rows, "rare": rare}
           for protocol in ("k-fold", "holdout", "one split")
           for rows in (100, 300) for rare in (False, True)],
          lambda setting: [Claim("expected cost outside the interval", 0.05, ABOUT)],
          mean_cost, fraction=0.1),
    Entry("mean-cost-rare", "95 % interval of a mean cost, confml run",
          "a large cost may be too rare to be seen",
          [{"rows": rows, "rate": rate, "cost": cost} for rows in (50, 200, 1000)
           for rate, cost in ((0.001, 100), (0.005, 100), (0.02, 20))],
          lambda setting: [Claim("mean outside the interval", 0.05, ABOUT)], rare_cost, fraction=0.2),
    Entry("stars", "stars, confml run", "shown to be worse than the lowest (5 %, Holm over all pairs)",
          [{"splits": splits, "methods": methods} for splits in (1, 5) for methods in (5, 20)],
          lambda setting: [Claim("any star among equal methods", 0.05)], stars, fraction=0.1),
    Entry("detectable", "detectable difference, confml run",
          "could show differences of about X (power at least 80 %)",
          [{"splits": splits, "methods": methods, "equal": equal}
           for splits, methods in ((1, 2), (1, 5), (1, 10), (5, 2), (5, 5)) for equal in (False, True)],
          lambda setting: [Claim("power at the stated difference", 0.75, AT_LEAST, True)],
          detected, fraction=0.05),
    Entry("coverage-verdict", "coverage shown to be too low", "p <= .01",
          [{"splits": splits, "rows": rows, "calibration": 99} for splits in (1, 10) for rows in (50, 200)],
          lambda setting: [Claim("false alarm", 0.01)], coverage_verdict, fraction=0.2),
    Entry("coverage-verdict-groups", "coverage shown to be too low, groups of by", "p <= .01",
          [{"small": small} for small in (2, 4, 8, 20)],
          lambda setting: [Claim("false alarm", 0.01)], grouped_coverage_verdict, fraction=0.2),
    Entry("coverage-verdict-unpromised", "coverage shown to be too low, without a promise", "p <= .01",
          [{"splits": splits, "rows": rows} for splits in (1, 10) for rows in (50, 200)],
          lambda setting: [Claim("false alarm", 0.01)], unpromised_coverage, fraction=0.2),
    Entry("ranks", "p-values and critical difference, ranks", "differ at level",
          [{"datasets": datasets, "methods": methods} for datasets, methods in ((10, 4), (20, 4), (20, 10))],
          rank_claims, ranks, fraction=0.2),
)  # fmt: skip
