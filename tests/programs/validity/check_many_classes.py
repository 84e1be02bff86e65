"""p-values for many classes, and batches of labelled rows."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, MEASURED, Claim, Entry, p_value_claims, rejected
from sklearn.naive_bayes import GaussianNB

from confml.data.concepts import many_classes
from confml.measures.ranks import holm
from confml.measures.validity import distance_from_uniform
from confml.methods.conformal import Conformal
from confml.predictions.monitoring import ks_p_value


def p_value(rng, classes, rows, of):
    """p-value of the true label of a new row: of any class (clustered), or of the hardest one (rank-cut)."""
    X, y = many_classes(rows, rng, classes)
    T, truth = many_classes(60 * classes if of == "rank-cut" else 1, rng, classes)
    place = int(np.flatnonzero(truth == (3 if of == "rank-cut" else truth[0]))[0])
    method = Conformal(GaussianNB(), calibration=0.5, classes=of, random_state=int(rng.integers(2**31)))
    method.fit(X, y)
    p = method.predict_p_values(T[place : place + 1])[0]
    return rejected(p[method.classes_ == truth[place]][0] if truth[place] in method.classes_ else 1.0)


def small_classes(rng, classes, small, rows, few):
    """p-values of the true labels of a new row of the large classes, and of one of the ``small`` others.

    few: training rows of each small class.
    """
    X, y = many_classes(rows, rng, classes)
    order = np.argsort(y, kind="stable")
    own = np.arange(rows) - np.searchsorted(y[order], y[order])
    kept = order[(y[order] > small) | (own < few)]
    method = Conformal(
        GaussianNB(), calibration=0.5, classes="clustered", random_state=int(rng.integers(2**31))
    )
    method.fit(X[kept], y[kept])
    T, truth = many_classes(60 * classes, rng, classes)
    found = []
    for those in (truth > small, truth <= small):
        place = int(np.flatnonzero(those)[0])
        p = method.predict_p_values(T[place : place + 1])[0]
        found += rejected(p[method.classes_ == truth[place]][0])
    return found


def small_class_claims(setting):
    kinds = {"class of a cluster": ABOUT, "small class": MEASURED}
    return [
        claim._replace(event=f"{which}: {claim.event}")
        for which, kind in kinds.items()
        for claim in p_value_claims(kind)(setting)
    ]


def batches(rng, batches, rows, calibration, by_class):
    """Whether any of the batches has an adjusted p-value of at most 0.05; all share calibration scores."""
    scores = [np.sort(rng.random(calibration)) for _ in range(2)]
    found = []
    for _ in range(batches):
        classes = rng.integers(0, 2, rows) if by_class else np.zeros(rows, dtype=int)
        p = np.empty(rows)
        for label in np.unique(classes):
            mine = classes == label
            above = calibration - np.searchsorted(scores[label], rng.random(int(mine.sum())))
            p[mine] = (above + rng.random(int(mine.sum()))) / (calibration + 1)
        found.append(ks_p_value(distance_from_uniform(p), np.full(rows, calibration), classes))
    return [found[0] <= 0.05, bool(np.any(holm(found) <= 0.05))]


ENTRIES = (
    Entry("clustered", "p-value, conformal, classes: clustered",
          "the bounds hold for each cluster of classes, and about so over all classes",
          [{"classes": 60, "rows": 4800, "of": "clustered"}],
          p_value_claims(ABOUT), p_value, fraction=0.02),
    Entry("clustered-small", "p-value, conformal, classes: clustered",
          "the bounds hold for each cluster; classes that are too small for a cluster have none",
          [{"classes": 60, "small": 20, "rows": 4800, "few": few} for few in (8, 16)],
          small_class_claims, small_classes, fraction=0.2),
    Entry("rank-cut", "p-value of one class, conformal, classes: rank-cut", "the bounds hold for each class",
          [{"classes": 10, "rows": 400, "of": "rank-cut"}, {"classes": 10, "rows": 1000, "of": "rank-cut"}],
          p_value_claims(), p_value, fraction=0.05),
    Entry("batches", "confml predict --batch-rows",
          "asymptotic test with Holm's correction; batches share the calibration examples",
          [{"batches": 10, "rows": rows, "calibration": 500, "by_class": by_class}
           for rows in (50, 200) for by_class in (False, True)],
          lambda setting: [Claim("one batch: p <= 0.05", 0.05, ABOUT),
                           Claim("any of 10 batches: adjusted p <= 0.05", 0.05, ABOUT)], batches,
          fraction=0.4),
)  # fmt: skip
