"""Guarantees in groups, and after a choice of method."""

from __future__ import annotations

import numpy as np
from _entries import Entry, grid, p_value_claims, rejected
from _examples import sample, true_p_value
from sklearn.naive_bayes import GaussianNB

from confml import KNN, TCMNN, Conformal

COLUMNS = [("site", None), ("age", None)]


def grouped(rng, rows, classes):
    """Features, and the columns site (0 to 3) and age (0 to 2) at the end; labels of site 3 are noisier."""
    y = rng.integers(0, classes, rows)
    site, age = rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]), rng.integers(0, 3, rows)
    X = np.column_stack([np.cos(y), np.sin(y)]) * 1.5 + rng.normal(size=(rows, 2))
    noisy = (site == 3) & (rng.random(rows) < 0.4)
    return np.column_stack([X, site, age]), np.where(noisy, rng.integers(0, classes, rows), y)


def p_value(rng, rows, classes, method, by):
    """p-value of the true label of a new row of the noisy site; 1 if training does not have the label."""
    X, y = grouped(rng, rows, classes)
    T, truth = grouped(rng, 400, classes)
    row = int(np.flatnonzero(T[:, 2] == 3)[0])
    if method == "tcm-nn":
        model = TCMNN(by=by, by_columns=COLUMNS)
    else:
        seed = int(rng.integers(2**31))
        model = Conformal(GaussianNB(), method, calibration=0.5, by=by, random_state=seed)
        model.in_run(by_columns=COLUMNS)
    return rejected(true_p_value(model, np.vstack([X, T[row]]), np.append(y, truth[row]), rows))


def best_of(rng, rows, classes, candidates):
    """p-value of the true label; candidates differ in k only, so that luck decides which one looks best."""
    X, y = sample(rng, rows + 1, classes)
    first, *rest = [KNN(k=k) for k in range(1, 2 * candidates, 2)]
    seed = int(rng.integers(2**31))
    model = Conformal(first, calibration=0.5, best_of=rest, best_of_level=0.2, random_state=seed)
    return rejected(true_p_value(model, X, y, rows))


SIZES = ({"rows": 60, "classes": 3}, {"rows": 200, "classes": 10})
TWO = [["site"], ["age"]]
EACH = "in each group the p-value of the true label is at most e with probability at most e"
ENTRIES = (
    Entry("groups-split", "p-value, conformal: split, by", EACH,
          grid(SIZES, method="split", by=("site", ["site", "predicted"], ["site", "label"])),
          p_value_claims(), p_value, fraction=0.4),
    Entry("groups-tcm-nn", "p-value, tcm-nn, by", EACH, grid(SIZES, method="tcm-nn", by=("site", TWO)),
          p_value_claims(), p_value, fraction=0.4),
    Entry("groups-largest", "p-value, conformal: split, several divisions", EACH,
          grid(SIZES, method="split", by=TWO), p_value_claims(), p_value, fraction=0.4),
    Entry("best-of", "p-value, conformal: split, best-of", "the true label's p-value is at most e with"
          " probability at most e, though one of the methods is chosen for its small regions",
          grid(({"rows": 40, "classes": 3}, {"rows": 200, "classes": 10}), candidates=10),
          p_value_claims(), best_of, fraction=0.2),
)  # fmt: skip
