"""Operating points and paths that are computed together, against those of each calibration part alone."""

from __future__ import annotations

import numpy as np
import pytest

from confml.measures.certified import certify, certify_all, threshold_grid
from confml.measures.risk_p_values import binomial_p_value
from confml.report.numbers.certificates import (
    ALL,
    DELTA,
    RISKS,
    TRUE,
    Candidate,
    joint_paths,
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
            for scope in (ALL, TRUE):
                assert len(paths[scope, risk]) == len(candidates)
                for one, path in zip(candidates, paths[scope, risk], strict=True):
                    rows = len(half) if scope == ALL else int(len(half) * one.smallest_share)
                    grid = threshold_grid(one.certainty[rest], rows, risk, delta)
                    of_half = one.certainty[half], one.correct[half]
                    classes = [one.true[half] == code for code in range(len(one.classes))]
                    expected = literal_path(*of_half, grid, risk, classes if scope == TRUE else [True])
                    assert path.thresholds.tolist() == grid.tolist()
                    assert [path.p_values.tolist(), path.accepted.tolist(), path.loss.tolist()] == expected


def literal_path(confidence, correct, grid, risk, classes):
    """Return p-values, accepted rows and errors at each threshold; the classes are masks of the rows."""
    rows = []
    for threshold in grid:
        taken = [(confidence >= threshold) & mine for mine in classes]
        counts = [(int(one.sum()), int((one & ~correct).sum())) for one in taken]
        p = max(float(binomial_p_value(errors, accepted, risk)) for accepted, errors in counts)
        rows.append((p, sum(one for one, _ in counts), sum(one for _, one in counts)))
    return [list(column) for column in zip(*rows, strict=True)]
