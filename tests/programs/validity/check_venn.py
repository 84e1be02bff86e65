"""Venn predictors: the bound that belongs to the true label is calibrated, for every class.

A number p is calibrated for an event if P(event) = E[p]: the mean of event - p over independent draws is 0.
"""

from __future__ import annotations

from _entries import EXACTLY, Claim, Entry, grid
from _examples import sample, seeded

SIZES = ({"classes": 2, "rows": 30}, {"classes": 3, "rows": 60}, {"classes": 20, "rows": 100})
CLASS = 0


def bounds(rng, classes, rows, method, ties, **params):
    """Class 0 of a test example (1 or 0) minus the bound that belongs to its label, and both differences."""
    X, y = sample(rng, rows + 1, classes, ties)
    view = seeded(rng, method, params).fit(X[:rows], y[:rows]).confident_predict(X[rows:])["venn"]
    column = view.classes == CLASS
    # 0 if no training row has the class
    lower, upper = (float(view.extra[name][0, column].sum()) for name in ("lower", "upper"))
    happened = y[rows] == CLASS
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
          grid(SIZES, method="naive-bayes", ties=(False, True), venn="inductive"),
          claims, bounds, fraction=0.2),
)  # fmt: skip
