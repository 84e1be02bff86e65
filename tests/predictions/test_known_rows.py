"""Rows with the features of a training row are recognised, also in a stored model."""

from __future__ import annotations

import numpy as np

from confml.predictions.known_rows import KnownRows


def test_known_rows_are_those_of_the_set():
    rng = np.random.default_rng(0)
    for columns in (1, 2, 5):
        train, new = (rng.integers(-2, 3, (rows, columns)) * 0.5 for rows in (200, 300))
        known = {tuple(row) for row in train.tolist()}  # 0 and -0 are equal there too
        new[::7] *= -1.0
        assert KnownRows.of(train).count(new) == sum(tuple(row) in known for row in new.tolist())


def test_order_of_columns_counts_and_missing_values_switch_it_off():
    known = KnownRows.of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert known.count(np.array([[2.0, 1.0], [4.0, 3.0], [1.0, 2.0]])) == 1
    assert known.count(np.empty((0, 2))) == 0
    assert KnownRows.of(np.array([[1.0, np.nan], [1.0, 2.0]])).count(np.array([[1.0, 2.0]])) == 0
