"""Intervals and bounds of the Bayes error of all classes, where it is known: two Gaussians."""

from __future__ import annotations

import numpy as np
from _entries import MEASURED, Claim, Entry

from confml.bayes_error import soft_label_error
from confml.bayes_error.extrapolation import limit_of, subsamples
from confml.bayes_error.label_noise import BOUNDS, INTERVALS
from confml.bayes_error.neighbour_errors import NEIGHBOURS, errors_of_lists, lower_bound
from confml.bayes_error.neighbour_lists import neighbour_lists
from confml.bayes_error.rates import bayes_errors
from confml.data.generators import GENERATORS

ANNOTATORS = 3
GAUSSIANS = GENERATORS["two-gaussians"]


def overall(rng, rows, distance, features):
    """Bayes error outside each 95 % interval, and outside the bounds."""
    given = {"d": features, "distance": distance}
    X, y = GAUSSIANS.make(rows, rng, **given)
    codes = np.unique(y, return_inverse=True)[1]
    truth = float(GAUSSIANS.bayes_error(**given))
    lists = neighbour_lists(X, NEIGHBOURS)
    near = errors_of_lists(lists, codes, 2)
    limit = limit_of(subsamples(X, 10, rng, lists), codes, 2, rng, 0.95)
    shares = GAUSSIANS.bayes_probability(X, **given)
    soft = soft_label_error(shares)
    votes = soft_label_error(rng.multinomial(ANNOTATORS, shares))
    tree = bayes_errors(X, codes, trees=1).global_tree
    first = float(near.error[0])
    intervals = {
        "k-nn": near.interval(0.95),
        "k-nn-limit": (limit.low, limit.high),
        "soft-labels": (soft.low, soft.high),
        "annotators": (votes.low, votes.high),
    }
    bounds = {
        "global-tree": (tree.lower, tree.upper),
        "1-nn": (lower_bound(first, 1, 2), first),
        "k-nn": near.bounds[1:],
    }
    found = [*(intervals[name] for name in INTERVALS), *(bounds[name] for name in BOUNDS)]
    return [not low <= truth <= high for low, high in found] + [near.bounds[2] < truth]


def overall_claims(setting):
    """Bounds have no sampling error, so nothing is promised of a single data set."""
    return [
        *(Claim(f"Bayes error outside the interval of {name}", 0.05) for name in INTERVALS),
        *(Claim(f"Bayes error outside the bounds of {name}", 0.0, MEASURED) for name in BOUNDS),
        Claim("Bayes error above the upper bound of k-nn", 0.0, MEASURED),
    ]


ENTRIES = (
    Entry("overall-bayes-error", "95 % intervals and bounds, bayes-error",
          "the interval contains the Bayes error of two Gaussians; bounds have no sampling error",
          [{"rows": 1000, "distance": distance, "features": features}
           for distance in (2.0, 4.0) for features in (2, 10)],
          overall_claims, overall, fraction=0.05),
)  # fmt: skip
