"""Venn predictors: the bound that belongs to the true label is calibrated, for every class.

A number p is calibrated for an event if P(event) = E[p]. A fair coin turns this into a probability of 1/2:
the event is looked at if it shows heads, and otherwise whether a uniform number is at least p.
"""

from __future__ import annotations

import numpy as np
from _entries import EXACTLY, Claim, Entry, sample

from confml.methods.registry import build

SIZES = ({"classes": 2, "rows": 30}, {"classes": 3, "rows": 60}, {"classes": 20, "rows": 100})
CLASS = 0


def bounds(rng, classes, rows, method, ties, **params):
    """Whether a test example has class 0, and the lower and upper probability of that."""
    X, y = sample(rng, rows + 1, classes, ties)
    built = build(method, params)
    if "random_state" in built.get_params():
        built.set_params(random_state=int(rng.integers(2**31)))
    built.fit(X[:rows], y[:rows])
    view = built.confident_predict(X[rows:])["venn"]
    place = np.flatnonzero(view.classes == CLASS)
    if not len(place):
        return y[rows] == CLASS, 0.0, 0.0
    return y[rows] == CLASS, *(float(view.extra[name][0, place[0]]) for name in ("lower", "upper"))


def coin(rng, happened: bool, p: float) -> bool:
    """Return an event of probability (1 + P(happened) - E[p]) / 2."""
    return bool(happened) if rng.random() < 0.5 else bool(rng.random() >= p)


def around(rng, **setting):
    """Too high a lower bound, and too low an upper bound."""
    happened, lower, upper = bounds(rng, **setting)
    return [not coin(rng, happened, lower), coin(rng, happened, upper)]


def own(rng, **setting):
    """The bound that belongs to the true label, and both bounds."""
    happened, lower, upper = bounds(rng, **setting)
    own_bound = upper if happened else lower
    ends = [not coin(rng, happened, lower), coin(rng, happened, upper)]
    return [coin(rng, happened, own_bound), *ends]


def claims_around(setting):
    """Return the claims of the bounds."""
    return [
        Claim("class less frequent than lower (by a coin)", 0.5),
        Claim("class more frequent than upper (by a coin)", 0.5),
    ]


def claims_own(setting):
    """Return the claims of inductive Venn-Abers prediction."""
    return [Claim("class, or not its bound (by a coin)", 0.5, EXACTLY), *claims_around(setting)]


ENTRIES = (
    Entry("venn-abers", "lower and upper, venn: inductive",
          "the bound of the true label is calibrated for every class",
          [{**size, "method": "naive-bayes", "ties": ties, "venn": "inductive"} for size in SIZES
           for ties in (False, True)], claims_own, own, fraction=0.5),
    Entry("venn-knn", "lower and upper, venn-knn",
          "mean lower at most the frequency of the class, and mean upper at least",
          [{**size, "method": "venn-knn", "ties": True, "k": 3, "taxonomy": taxonomy} for size in SIZES
           for taxonomy in ("votes", "majority", "counts")], claims_around, around, fraction=0.5),
)  # fmt: skip
