"""Thresholds certified together over methods, classes and costs: any false certificate counts."""

from __future__ import annotations

import numpy as np
from _entries import Claim, Entry

from confml.measures.certified import threshold_grid
from confml.measures.certified_paths import Path, certify_paths

DELTA = 0.05


def over_methods(rng, rows, methods, risk, hard):
    """A certified threshold of any method whose risk, known exactly, is above the limit.

    The risk of the rows with confidence >= t is 0.1 (1 - t)^1.5; hard: just above the limit at every t.
    """
    paths = []
    for name in range(methods):
        confidence = rng.random(rows)
        chance = risk * 1.0001 if hard else 0.25 * (1 - confidence) ** 1.5
        grid = threshold_grid(rng.random(rows), rows, risk, DELTA / methods)
        paths.append(Path.of_errors(name, confidence, rng.random(rows) >= chance, grid, risk))
    return [_any_false(paths, lambda t: hard or 0.1 * (1 - t) ** 1.5 > risk)]


def over_predicted_classes(rng, rows, classes, risk, hard):
    """The same with a threshold for each predicted class; class j has 1 + j / classes times the risk."""
    confidence, predicted = rng.random(rows), rng.integers(0, classes, rows)
    factor = 1 + predicted / classes
    chance = risk * 1.0001 if hard else 0.25 * factor * (1 - confidence) ** 1.5
    correct = rng.random(rows) >= chance
    paths = []
    for code in range(classes):
        mine = predicted == code
        grid = threshold_grid(rng.random(rows), rows // classes, risk, DELTA / classes)
        paths.append(Path.of_errors(code, confidence[mine], correct[mine], grid, risk))
    return [
        _any_false(paths, lambda t, code: hard or 0.1 * (1 + code / classes) * (1 - t) ** 1.5 > risk, True)
    ]


def over_true_classes(rng, rows, classes, risk):
    """One threshold for every true class, of which only the last one is too risky, by a little."""
    codes = rng.integers(0, classes, rows)
    confidence = rng.random(rows)
    correct = rng.random(rows) >= np.where(codes == classes - 1, risk * 1.0001, risk / 5)
    grid = threshold_grid(rng.random(rows), rows // classes, risk, DELTA)
    path = Path.of_every_class("one", confidence, correct, grid, risk, codes, classes)
    return [certify_paths([path], DELTA) != [0]]


def over_costs(rng, rows, methods, hard):
    """Expected cost, known exactly, above the bound of 0.15; abstaining costs 0.2 and errors 0.3 or 1.

    The cost of an accepted row of confidence u has mean 0.4 (1 - u), so the expected cost at t is
    0.2 t + 0.2 (1 - t)^2; hard: it is 0.1501 at every threshold.
    """
    paths = []
    for name in range(methods):
        confidence = rng.random(rows)
        if hard:
            confidence[:] = 1.0
        wrong = rng.random(rows) < (0.1501 / 0.65 if hard else 0.4 * (1 - confidence) / 0.65)
        cost = np.where(wrong, np.where(rng.random(rows) < 0.5, 0.3, 1.0), 0.0)
        grid = rng.permutation(np.linspace(0, 0.95, 20))
        if not hard:
            grid = grid[np.argsort(np.abs(grid - 0.5), kind="stable")]
        paths.append(Path.of_costs(name, confidence, cost, grid, 0.2, 0.15, DELTA / methods))
    return [_any_false(paths, lambda t: hard or 0.2 * t + 0.2 * (1 - t) ** 2 > 0.15)]


def _any_false(paths, is_false, by_name=False) -> bool:
    for path, count in zip(paths, certify_paths(paths, DELTA), strict=True):
        for threshold in path.thresholds[:count]:
            if is_false(threshold, path.name) if by_name else is_false(threshold):
                return True
    return False


def _claims(setting):
    return [Claim("any certified threshold above the limit", DELTA)]


GUARANTEE = "with probability at least 1 - delta no certified threshold is above its limit"
ENTRIES = (
    Entry("jointly-methods", "certified-jointly.csv, all", GUARANTEE,
          [{"rows": rows, "methods": methods, "risk": 0.05, "hard": hard}
           for rows, methods in ((500, 4), (500, 10), (2000, 10)) for hard in (False, True)],
          _claims, over_methods),
    Entry("jointly-predicted", "certified-jointly.csv, predicted class", GUARANTEE,
          [{"rows": rows, "classes": classes, "risk": 0.1, "hard": hard}
           for rows, classes in ((400, 3), (400, 20), (2000, 20)) for hard in (False, True)],
          _claims, over_predicted_classes),
    Entry("jointly-true", "certified-jointly.csv, true class", GUARANTEE,
          [{"rows": rows, "classes": classes, "risk": 0.1} for rows, classes in ((200, 3), (600, 10))],
          _claims, over_true_classes),
    Entry("jointly-costs", "certified-jointly.csv, cost", GUARANTEE,
          [{"rows": rows, "methods": methods, "hard": hard}
           for rows, methods in ((100, 4), (500, 10)) for hard in (False, True)],
          _claims, over_costs),
)  # fmt: skip
