"""Regions with a guarantee in groups, beside MAPIE."""

from __future__ import annotations

import numpy as np
from _pairs import Row, Skipped, paired
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from confml import Conformal

LEVEL, FEATURES = 0.1, 5
TWO, COLUMNS = [["a"], ["b"]], [("a", None), ("b", None)]


class OfFeatures(ClassifierMixin, BaseEstimator):
    """A fitted classifier of the first columns; the others are groups."""

    def __init__(self, classifier):
        self.classifier = classifier
        self.classes_ = classifier.classes_

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.classifier.predict_proba(np.asarray(X)[:, :FEATURES])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _data(rng, rows, groups):
    y = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, FEATURES)) + 0.8 * y[:, None] * np.arange(FEATURES) / FEATURES
    return np.column_stack([X, rng.integers(0, groups, (rows, 2))]), y


def bench_group_regions() -> Row:
    """Regions of the linear programme beside MAPIE's on the same scores; the same memberships."""
    try:
        from mapie.conditional_conformal_prediction import ConditionalSplitConformalClassifier
    except ImportError:
        raise Skipped("mapie 1.6 with cvxpy is not installed (pip install 'confml[bench]')") from None
    rng = np.random.default_rng(0)
    (X, y), (C, labels), (T, _) = _data(rng, 300, 3), _data(rng, 300, 3), _data(rng, 600, 3)
    classifier = GaussianNB().fit(X[:, :FEATURES], y)
    found = {}

    def ours():
        settings = {"by": TWO, "by_levels": [LEVEL], "by_columns": COLUMNS}
        model = Conformal(FrozenEstimator(classifier), **settings).fit(C, labels)
        found["ours"] = model.confident_predict(T)["p-value"].region(LEVEL)

    def members(rows):
        a, b = (np.eye(3)[np.asarray(rows)[:, FEATURES + place].astype(int)] for place in (0, 1))
        return np.hstack([a, b])

    def other():
        model = ConditionalSplitConformalClassifier(
            members, OfFeatures(classifier), confidence_level=1 - LEVEL, prefit=True
        )
        found["other"] = model.conformalize(C, labels).predict_set(T)[1][:, :, 0]

    ours()
    row = paired("regions in groups of two divisions, 300 + 600 rows, beside MAPIE", ours, other, 3, goal=1.0)
    row[4]["memberships"] = found["ours"].size
    row[4]["different"] = int((found["ours"] != found["other"]).sum())
    return row


def bench_many_rows_in_groups() -> Row:
    """Regions of the programme for 10^5 rows and 20 groups, beside p-values without groups; the goal of
    0.1 ms a row is for ``ms_per_row``."""
    rng = np.random.default_rng(0)
    (X, y), (T, _) = _data(rng, 20_000, 10), _data(rng, 100_000, 10)
    grouped = Conformal(GaussianNB(), by=TWO, by_levels=[LEVEL], by_columns=COLUMNS, random_state=1).fit(X, y)
    plain = Conformal(GaussianNB(), random_state=1).fit(X[:, :FEATURES], y)
    plain.predict_p_values(T[:, :FEATURES])
    name = "regions in 20 groups, 10^5 new rows, beside plain p-values"
    row = paired(
        name, lambda: grouped.predict_p_values(T), lambda: plain.predict_p_values(T[:, :FEATURES]), 3
    )
    row[4]["ms_per_row"] = round(1000 * row[1] / len(T), 4)
    return row


BENCHMARKS = [bench_group_regions, bench_many_rows_in_groups]
