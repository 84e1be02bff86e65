"""Geyer's initial monotone sequence against its definition."""

from __future__ import annotations

import numpy as np

from confml.measures.chains import initial_monotone_sequence


def test_initial_monotone_sequence():
    pairs = np.array([[3.0, 1.0, -1.0], [4.0, 0.5, 2.0], [1.0, 0.0, 2.0], [-1.0, 0.2, 2.0], [2.0, 0.1, 2.0]])
    expected = np.zeros_like(pairs)
    for column in range(pairs.shape[1]):
        least = np.inf
        for row in range(len(pairs)):
            if not pairs[row, column] > 0:
                break
            least = min(least, pairs[row, column])
            expected[row, column] = least
    np.testing.assert_array_equal(initial_monotone_sequence(pairs), expected)
