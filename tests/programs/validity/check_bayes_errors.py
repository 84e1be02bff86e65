"""Bounds of the Bayes error of all classes, where it is known: two Gaussians."""

from __future__ import annotations

import numpy as np
from _entries import MEASURED, Claim, Entry

from confml.bayes_error import bayes_errors
from confml.data.generators import GENERATORS

GAUSSIANS = GENERATORS["two-gaussians"]
NAMES = ("global-tree", "1-nn")


def overall(rng, rows, distance, features):
    """Bayes error outside the bounds."""
    given = {"d": features, "distance": distance}
    X, y = GAUSSIANS.make(rows, rng, **given)
    codes = np.unique(y, return_inverse=True)[1]
    truth = float(GAUSSIANS.bayes_error(**given))
    errors = bayes_errors(X, codes, trees=1)
    return [
        not found.lower <= truth <= found.upper for found in (errors.global_tree, errors.nearest_neighbour)
    ]


def overall_claims(setting):
    """Bounds have no sampling error, so nothing is promised of a single data set."""
    return [Claim(f"Bayes error outside the bounds of {name}", 0.0, MEASURED) for name in NAMES]


ENTRIES = (
    Entry("overall-bayes-error", "bounds, bayes-error",
          "bounds of the Bayes error of two Gaussians have no sampling error",
          [{"rows": 1000, "distance": distance, "features": features}
           for distance in (2.0, 4.0) for features in (2, 10)],
          overall_claims, overall, fraction=0.05),
)  # fmt: skip
