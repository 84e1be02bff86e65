"""Probabilities of a calibrated predictor: the band of the reliability diagram."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, Claim, Entry

from confml.measures.recalibration import Event
from confml.report.figures.reliability import Diagram


def _calibrated(rng, rows, ties):
    """Probabilities, many of them equal if ``ties``, and outcomes with these probabilities."""
    p = rng.beta(1.0, 0.5, rows)
    p = np.round(p, 1) if ties else p
    return p, rng.random(rows) < p


def diagram(rng, rows, ties):
    """Isotonic fit at the median probability outside the band of calibrated probabilities."""
    p, happened = _calibrated(rng, rows, ties)
    found = Diagram.of(Event(p, happened), draws=200, seed=int(rng.integers(2**31)))
    place = np.searchsorted(found.fit.values, np.sort(p)[rows // 2])
    return [not found.low[place] <= found.fit.fitted[place] <= found.high[place]]


SETTINGS = [{"rows": rows, "ties": ties} for rows, ties in ((100, False), (1000, False), (1000, True))]
ENTRIES = (
    Entry("reliability-band", "90 % band, reliability figure",
          "5 % and 95 % quantiles at each probability by itself",
          SETTINGS, lambda setting: [Claim("fit at the median probability outside the band", 0.1, ABOUT)],
          diagram, fraction=0.1),
)  # fmt: skip
