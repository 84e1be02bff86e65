"""Features, rows and class weights selected by the Bayes error."""

from __future__ import annotations

import numpy as np
import pytest

from confml.bayes_error.selection import class_weights, sample_by_class


def test_a_sample_has_every_class_with_its_share():
    y = np.repeat(["a", "b", "c", "d"], [700, 290, 9, 1])
    rows = sample_by_class(y, 100, np.random.default_rng(0))
    assert len(set(rows.tolist())) == len(rows)
    labels, counts = np.unique(y[rows], return_counts=True)
    assert counts.tolist() == [69, 28, 2, 1] and labels.size == 4
    thirds = np.repeat([0, 1, 2], 50)
    for most in range(6, 150):  # never more, and never far from the shares
        counts = np.bincount(thirds[sample_by_class(thirds, most, np.random.default_rng(most))])
        assert counts.sum() == most and np.ptp(counts) <= 1
    assert len(sample_by_class(thirds, 2, np.random.default_rng(0))) == 6
    assert sorted(sample_by_class(y, None, np.random.default_rng(0)).tolist()) == list(range(1000))


def test_class_weights_grow_with_the_estimate():
    assert class_weights(np.array([0.0, 1.0, 0.5])).tolist() == pytest.approx([2 / 3, 4 / 3, 1.0])
