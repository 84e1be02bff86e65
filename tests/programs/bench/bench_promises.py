"""p-values with a guarantee in groups, beside p-values without groups."""

from __future__ import annotations

import numpy as np
from _pairs import Row, paired
from sklearn.naive_bayes import GaussianNB

from confml import Conformal

FEATURES = 5
TWO, COLUMNS = [["a"], ["b"]], [("a", None), ("b", None)]


def _data(rng, rows, groups):
    y = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, FEATURES)) + 0.8 * y[:, None] * np.arange(FEATURES) / FEATURES
    return np.column_stack([X, rng.integers(0, groups, (rows, 2))]), y


def bench_many_rows_in_groups() -> Row:
    """p-values of 10^5 rows in 20 groups, beside p-values without groups; the goal of 0.1 ms a row is for
    ``ms_per_row``."""
    rng = np.random.default_rng(0)
    (X, y), (T, _) = _data(rng, 20_000, 10), _data(rng, 100_000, 10)
    grouped = Conformal(GaussianNB(), by=TWO, random_state=1).in_run(by_columns=COLUMNS).fit(X, y)
    plain = Conformal(GaussianNB(), random_state=1).fit(X[:, :FEATURES], y)
    plain.predict_p_values(T[:, :FEATURES])
    name = "p-values in 20 groups, 10^5 new rows, beside plain p-values"
    row = paired(
        name, lambda: grouped.predict_p_values(T), lambda: plain.predict_p_values(T[:, :FEATURES]), 3
    )
    row[4]["ms_per_row"] = round(1000 * row[1] / len(T), 4)
    return row


BENCHMARKS = [bench_many_rows_in_groups]
