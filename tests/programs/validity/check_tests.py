"""Tests of hypotheses and intervals of estimates: Bayes errors, resampled t, Friedman, Nemenyi, Wilcoxon."""

from __future__ import annotations

import functools

import numpy as np
from _entries import ABOUT, Claim, Entry, p_value_claims, rejected
from confml.measures.comparison import corrected_t

from confml.bayes_error import pairwise_bayes_error
from confml.bayes_error.gaussians import gaussian_classes
from confml.bayes_error.uncertainty import leave_block_out_intervals, no_separation_p_value
from confml.measures.ranks import compare_ranks

SPLITS, TRAIN, TEST = 10, 100, 50


def permutation(rng, rows, smaller, ties):
    """Permutation p-value of two classes of one distribution."""
    X = rng.integers(0, 3, size=(rows, 2)).astype(float) if ties else rng.normal(size=(rows, 2))
    y = (np.arange(rows) >= smaller).astype(int)
    return rejected(no_separation_p_value(X, y, rng, permutations=99))


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


def tie_band(rng, rows):
    """Estimate outside its tie band, on whole numbers."""
    X, y = rng.integers(0, 3, size=(rows, 2)).astype(float), rng.integers(0, 2, rows)
    y[:2] = 0, 1
    found = pairwise_bayes_error(X, y)
    return [not found.estimate_tie_low[0, 1] <= found.estimate[0, 1] <= found.estimate_tie_high[0, 1]]


def resampled_t(rng, classes):
    """p-value of two 1-NN classifiers on features of their own that are equally informative."""
    n = TRAIN + TEST
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(2, n, 2)) + np.column_stack([y % 4, y // 4])
    gaps = []
    for _ in range(SPLITS):
        order = rng.permutation(n)
        train, test = order[:TRAIN], order[TRAIN:]
        errors = []
        for features in X:
            distance = ((features[test][:, None] - features[train]) ** 2).sum(axis=2)
            errors.append(np.mean(y[train][distance.argmin(axis=1)] != y[test]))
        gaps.append(errors[0] - errors[1])
    return rejected(corrected_t(gaps, TRAIN, TEST).p_value)


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
    Entry("permutation", "p-value, bayes-error --permutations", "of one distribution for both classes",
          [{"rows": rows, "smaller": smaller, "ties": ties} for rows, smaller in ((60, 30), (100, 20))
           for ties in (False, True)], p_value_claims(), permutation, fraction=0.05),
    Entry("bayes-error-interval", "95 % interval, bayes-error --intervals",
          "approximate, for the mean of the estimator",
          [{"rows": rows, "separation": separation} for rows in (60, 200) for separation in (0.5, 1.5)],
          lambda setting: [Claim("mean of the estimator outside the interval", 0.05, ABOUT)],
          bayes_error_interval, fraction=0.1),
    Entry("tie-band", "tie band, bayes-error",
          "lowest and highest estimate under other orders of equal distances; the estimate lies in it",
          [{"rows": 60}, {"rows": 200}], lambda setting: [Claim("estimate outside", 0.0)], tie_band,
          fraction=0.1),
    Entry("resampled-t", "p-value, confml compare", "type I error of 6 % (corrected, 20 holdouts)",
          [{"classes": 3}, {"classes": 10}], p_value_claims(ABOUT), resampled_t, fraction=0.1),
    Entry("ranks", "p-values and critical difference, ranks", "differ at level",
          [{"datasets": datasets, "methods": methods} for datasets, methods in ((10, 4), (20, 4), (20, 10))],
          rank_claims, ranks, fraction=0.2),
)  # fmt: skip
