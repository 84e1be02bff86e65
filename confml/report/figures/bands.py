"""Bands around the means of rates."""

from __future__ import annotations

import numpy as np


def rate_band(mean, sd, scale: float = 100.0) -> tuple[np.ndarray, np.ndarray]:
    """Return mean - sd and mean + sd of rates, clipped to [0, ``scale``]: a rate outside does not exist.

    mean, sd (n,): in units in which ``scale`` is the whole; 1 for fractions, 100 for per cent. NaN stays NaN.
    """
    mean, sd = np.asarray(mean, dtype=float), np.asarray(sd, dtype=float)
    return np.clip(mean - sd, 0.0, scale), np.clip(mean + sd, 0.0, scale)
