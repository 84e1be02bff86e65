"""Prediction regions at many significance levels at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from confml.measures.prediction import Prediction

GRID = (
    *(0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15),
    *(0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
)
DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=np.uint8)
MOST = len(DIGITS) - 1


def page_levels(config_levels: Iterable[float]) -> np.ndarray:
    """Return the significance levels of the page in ascending order: those of the config and of `GRID`."""
    own = list(dict.fromkeys(map(float, config_levels)))[:MOST]
    others = [level for level in GRID if level not in own][: MOST - len(own)]
    return np.array(sorted([*own, *others]))


def level_counts(prediction: Prediction, levels: np.ndarray) -> np.ndarray:
    """Return (n, c) the number of ``levels`` (m,), in ascending order, at which a region contains the class.

    Regions shrink with the level, so a region at ``levels[j]`` contains the classes with a count above j, as
    `Prediction.region` computes it.
    """
    scores = prediction.scores
    if prediction.kind == "p-value":
        return np.where(np.isnan(scores), 0, np.searchsorted(levels, scores, side="left"))
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    before = np.cumsum(ranked, axis=1) - ranked
    limits = (1 - levels - 1e-12)[::-1]
    counts = len(levels) - np.searchsorted(limits, before, side="right")
    counts[:, 0] = len(levels)
    found = np.empty_like(counts)
    np.put_along_axis(found, order, counts, axis=1)
    return found


def packed(counts: np.ndarray) -> str:
    """Return (n, c) counts as one text, with one character of `DIGITS` for each count, row by row."""
    return DIGITS[np.ascontiguousarray(counts)].tobytes().decode("ascii")
