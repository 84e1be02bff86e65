"""Thresholds certified together over methods: any false certificate counts."""

from __future__ import annotations

from _entries import Claim, Entry

from confml.measures.certified import threshold_grid
from confml.measures.certified_paths import Path, certify_paths

DELTA = 0.05


def over_methods(rng, rows, methods, risk, hard):
    """A certified threshold of any method whose risk, known exactly, is above the limit.

    The risk of the rows with confidence >= t is 0.1 (1 - t)^1.5; hard: just above the limit at every t.
    """
    paths = []
    for _ in range(methods):
        confidence = rng.random(rows)
        chance = risk * 1.0001 if hard else 0.25 * (1 - confidence) ** 1.5
        grid = threshold_grid(rng.random(rows), rows, risk, DELTA / methods)
        paths.append(Path.of_errors(confidence, rng.random(rows) >= chance, grid, risk))
    return [_any_false(paths, lambda t: hard or 0.1 * (1 - t) ** 1.5 > risk)]


def _any_false(paths, is_false) -> bool:
    counts = certify_paths(paths, DELTA)
    return any(is_false(t) for path, n in zip(paths, counts, strict=True) for t in path.thresholds[:n])


def _claims(setting):
    return [Claim("any certified threshold above the limit", DELTA)]


GUARANTEE = "with probability at least 1 - delta no certified threshold is above its limit"
ENTRIES = (
    Entry("jointly-methods", "certified-jointly.csv, all", GUARANTEE,
          [{"rows": rows, "methods": methods, "risk": 0.05, "hard": hard}
           for rows, methods in ((500, 4), (500, 10), (2000, 10)) for hard in (False, True)],
          _claims, over_methods),
)  # fmt: skip
