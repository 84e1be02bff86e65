"""Operating points and paths that are computed together, against those of each calibration part alone."""

from __future__ import annotations

import numpy as np
import pytest

from confml.measures.certified import certify, certify_all, threshold_grid
from confml.measures.risk_control import risk_controlled_threshold, risk_controlled_thresholds
from confml.report.numbers.joint_paths import (
    ALL,
    DELTA,
    RISKS,
    TRUE,
    Candidate,
    joint_paths,
    path_of_all,
    path_of_true_classes,
)

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


@pytest.mark.parametrize("limit", [0.2, 0.05])
@pytest.mark.parametrize("n, m, infinite", INFINITE)
@pytest.mark.parametrize("seed", range(4))
def test_controlled_thresholds_of_many_parts(seed, n, m, infinite, limit):
    confidence, correct, others = random_parts(seed, n, m, infinite)
    expected = [
        risk_controlled_threshold(one, ~right, other, limit)
        for one, right, other in zip(confidence, correct, others, strict=True)
    ]
    assert risk_controlled_thresholds(confidence, ~correct, others, limit) == expected


@pytest.mark.parametrize("rows", [[30, 31, 31], [260, 250]])
@pytest.mark.parametrize("seed", range(3))
def test_joint_paths_of_many_splits(seed, rows):
    rng = np.random.default_rng(seed)
    parts = []
    for number, n in enumerate(rows * 3):
        half, rest = np.array_split(rng.permutation(n), 2)
        candidates = []
        for name in "abc"[: 2 + number % 2]:
            true, classes = rng.integers(0, 3, n), 2 + (seed + number) % 2
            predicted = np.where(rng.random(n) < 0.95, true, 0) % classes
            share = rng.choice([0.2, 0.3])
            certainty = np.round(rng.random(n), 1 + seed)
            candidates.append(
                Candidate(name, "", "view", certainty, predicted, true, np.arange(classes), share)
            )
        parts.append((("d", f"r{number}"), candidates, half, rest))
    found = list(joint_paths(parts))
    assert len(found) == len(parts)
    for (_, candidates, half, rest), paths in zip(parts, found, strict=True):
        delta = DELTA / len(candidates)
        for risk in RISKS:
            for scope, of in ((ALL, path_of_all), (TRUE, path_of_true_classes)):
                assert len(paths[scope, risk]) == len(candidates)
                for one, path in zip(candidates, paths[scope, risk], strict=True):
                    expected = of(one, half, rest, risk, delta)
                    for name in ("thresholds", "p_values", "accepted", "loss"):
                        assert getattr(path, name).tolist() == getattr(expected, name).tolist(), name
