"""Batches of labelled rows share calibration examples."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, Claim, Entry

from confml.measures.ranks import holm
from confml.measures.validity import distance_from_uniform
from confml.predictions.monitoring import ks_p_value


def batches(rng, batches, rows, calibration, by_class):
    """Whether any of the batches has an adjusted p-value of at most 0.05; all share calibration scores."""
    scores = [np.sort(rng.random(calibration)) for _ in range(2)]
    found = []
    for _ in range(batches):
        classes = rng.integers(0, 2, rows) if by_class else np.zeros(rows, dtype=int)
        p = np.empty(rows)
        for label in np.unique(classes):
            mine = classes == label
            above = calibration - np.searchsorted(scores[label], rng.random(int(mine.sum())))
            p[mine] = (above + rng.random(int(mine.sum()))) / (calibration + 1)
        found.append(ks_p_value(distance_from_uniform(p), np.full(rows, calibration), classes))
    return [found[0] <= 0.05, bool(np.any(holm(found) <= 0.05))]


ENTRIES = (
    Entry("batches", "confml predict --batch-rows",
          "asymptotic test with Holm's correction; batches share the calibration examples",
          [{"batches": 10, "rows": rows, "calibration": 500, "by_class": by_class}
           for rows in (50, 200) for by_class in (False, True)],
          lambda setting: [Claim("one batch: p <= 0.05", 0.05, ABOUT),
                           Claim("any of 10 batches: adjusted p <= 0.05", 0.05, ABOUT)], batches,
          fraction=0.4),
)  # fmt: skip
