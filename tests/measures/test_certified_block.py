"""Operating points and paths that are computed together, against those of each calibration part alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from confml.measures.certified import certify, certify_all, threshold_grid, threshold_grids
from confml.measures.certified_paths import Path

DELTA = 0.05

INFINITE = [(15, 16, False), (80, 80, False), (40, 41, True)]


def random_parts(seed, n, m, infinite):
    rng = np.random.default_rng(seed)
    confidence = np.round(rng.random((12, n)), 1 + seed % 2)
    others = np.round(rng.random((12, m)), 1 + seed % 2)
    if infinite:
        confidence[:, 0], others[:, 1], others[:, 2] = np.inf, np.inf, -np.inf
    return confidence, rng.random((12, n)) < 0.95, others


@pytest.mark.parametrize("risk", [0.3, 0.05])
@pytest.mark.parametrize("n, m, infinite", INFINITE)
@pytest.mark.parametrize("seed", range(4))
def test_operating_points_of_many_parts(seed, n, m, infinite, risk):
    confidence, correct, others = random_parts(seed, n, m, infinite)
    expected = [
        certify(one, right, threshold_grid(other, n, risk, DELTA), risk, DELTA)
        for one, right, other in zip(confidence, correct, others, strict=True)
    ]
    assert certify_all(confidence, correct, others, risk, DELTA) == expected
    if risk == 0.3 and n > 15:
        assert any(point.threshold is not None for point in expected)


@pytest.mark.parametrize("n, m, infinite", INFINITE)
@pytest.mark.parametrize("seed", range(4))
def test_paths_of_many_parts(seed, n, m, infinite):
    confidence, correct, others = random_parts(seed, n, m, infinite)
    paths = Path.of_parts(confidence, correct, threshold_grids(others, n, 0.1, DELTA), 0.1)
    for path, one, right, other in zip(paths, confidence, correct, others, strict=True):
        grid = threshold_grid(other, n, 0.1, DELTA)
        assert path.thresholds.tolist() == grid.tolist()
        for threshold, p, accepted, errors in zip(*path, strict=True):
            counts = int((one >= threshold).sum()), int(((one >= threshold) & ~right).sum())
            assert (accepted, errors) == counts
            assert p == pytest.approx(binom.cdf(errors, accepted, 0.1), rel=1e-11)
