"""Venn predictors: the bound that belongs to the true label is calibrated, for every class.

A number p is calibrated for an event if P(event) = E[p]: the mean of event - p over independent draws is 0.
"""

from __future__ import annotations

import numpy as np
from _entries import EXACTLY, Claim, Entry, sample

from confml.methods.registry import build

SIZES = ({"classes": 2, "rows": 30}, {"classes": 3, "rows": 60}, {"classes": 20, "rows": 100})
CLASS = 0


def bounds(rng, classes, rows, method, ties, **params):
    """Class 0 of a test example (1 or 0) minus the bound that belongs to its label, and both differences."""
    X, y = sample(rng, rows + 1, classes, ties)
    built = build(method, params)
    if "random_state" in built.get_params():
        built.set_params(random_state=int(rng.integers(2**31)))
    built.fit(X[:rows], y[:rows])
    view = built.confident_predict(X[rows:])["venn"]
    place = np.flatnonzero(view.classes == CLASS)
    happened, lower, upper = y[rows] == CLASS, 0.0, 0.0
    if len(place):
        lower, upper = (float(view.extra[name][0, place[0]]) for name in ("lower", "upper"))
    return [happened - (upper if happened else lower), lower - happened, happened - upper]


def claims(setting):
    """Return the claims of inductive Venn-Abers prediction."""
    return [
        Claim("mean of class - its bound", 0.0, EXACTLY, True),
        Claim("mean of lower - class", 0.0, is_mean=True),
        Claim("mean of class - upper", 0.0, is_mean=True),
    ]


ENTRIES = (
    Entry("venn-abers", "lower and upper, venn: inductive",
          "the bound of the true label is calibrated for every class",
          [{**size, "method": "naive-bayes", "ties": ties, "venn": "inductive"} for size in SIZES
           for ties in (False, True)], claims, bounds, fraction=0.2),
)  # fmt: skip
