"""Rows selected from a batch, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from reference.promises import accepted_rows
from reference.promises import certain_rows as literal_certain

from confml.measures.selected import accepted_threshold, certain_rows, shares_one_calibration


@pytest.mark.parametrize("shared", [True, False])
def test_certain_rows_are_their_definition(shared):
    rng = np.random.default_rng(1)
    chosen = 0
    for _ in range(200):
        m, c = int(rng.integers(1, 30)), int(rng.integers(1, 5))
        p = rng.integers(1, 41, (m, c)) / 40 * np.where(rng.random((m, 1)) < 0.7, 0.1, 1)  # ties
        rate = float(rng.choice([0.05, 0.1, 0.3]))
        found, level = certain_rows(p, rate, shared)
        assert found.tolist() == literal_certain(p.tolist(), rate, shared)
        assert (p[found] > level).sum() == found.sum()
        chosen += found.any()
    assert 20 < chosen < 200
    assert certain_rows(np.empty((0, 3)), 0.1, shared)[0].shape == (0,)


def test_accepted_rows_are_their_definition():
    rng = np.random.default_rng(2)
    chosen = 0
    for _ in range(200):
        m, n = int(rng.integers(1, 30)), int(rng.integers(0, 40))
        confidence, known = rng.integers(0, 12, m) / 12, rng.integers(0, 12, n) / 12
        wrong = rng.random(n) < 0.5 * (1 - known)
        rate = float(rng.choice([0.05, 0.1, 0.3]))
        found = confidence >= accepted_threshold(confidence, known, wrong, rate)
        assert found.tolist() == accepted_rows(confidence.tolist(), known.tolist(), wrong.tolist(), rate)
        chosen += found.any()
    assert 20 < chosen < 200


def test_only_one_calibration_part_needs_no_correction():
    assert shares_one_calibration({"conformal": "split", "conformal__mondrian": True})
    for params in ({}, {"k": 1}, {"conformal": "cross"}, {"conformal": "split", "conformal__by": "a"}):
        assert not shares_one_calibration(params)
