"""Rows selected from a batch, with a bound on the expected share of wrong ones among them.

Certain rows: Gazin, Heller, Marandon, Roquain, Selecting informative conformal prediction sets with false
coverage rate control, 2024. Accepted rows: Jin and Candes, Selection by prediction with conformal p-values,
2023. Both choose by Benjamini and Hochberg's procedure, so a row may be selected in one batch and not in
another.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from confml.plugins.by import BY_KEYS

CERTAIN, ACCEPTED = "certain", "accepted"
_OTHERS = (
    *BY_KEYS,
    "conformal__classes",
    "conformal__smoothed",
    "conformal__shift",
    "conformal__best_of",
)


def shares_one_calibration(params: Mapping[str, Any]) -> bool:
    """Return whether all rows of a method with these parameters share one calibration part and one form of
    p-value, so that the procedure needs no correction for their dependence."""
    return params.get("conformal") == "split" and not any(params.get(name) for name in _OTHERS)


def certain_rows(p: np.ndarray, rate: float, shared: bool) -> tuple[np.ndarray, float]:
    """Return whether each row (m,) is certain at a false coverage rate, and the level of their regions.

    p: (m, c) p-values. With q_i the second largest p-value of row i, r is the largest number such that at
    least r of the q_i are at most ``rate r / m``. Rows with q_i <= rate r / m have a region of one label at
    this level, or none; those with one label are certain. shared: see `shares_one_calibration`; else the rate
    is divided by 1 + 1/2 + ... + 1/m (Benjamini and Yekutieli), which any dependence allows.
    """
    m = len(p)
    if not m:
        return np.zeros(0, dtype=bool), 0.0
    if not shared:
        rate = rate / float(np.sum(1 / np.arange(1, m + 1)))
    second = np.partition(p, -2, axis=1)[:, -2] if p.shape[1] > 1 else np.zeros(m)
    level = _threshold(second, rate)
    return (second <= level) & (p.max(axis=1) > level) & (level > 0), level


def _threshold(values: np.ndarray, rate: float) -> float:
    """Return ``rate r / m`` for the largest r such that at least r of m values are at most it, or 0."""
    placed, m = np.sort(values), len(values)
    bounds = rate * np.arange(1, m + 1) / m * (1 + 1e-12)  # equal up to rounding errors is not larger
    passed = np.flatnonzero(placed <= bounds)
    return float(bounds[passed[-1]]) if len(passed) else 0.0


def accepted_threshold(confidence: np.ndarray, known: np.ndarray, wrong: np.ndarray, rate: float) -> float:
    """Return the smallest confidence at which rows of a batch are accepted; +inf if none is.

    confidence: (m,) of the batch. known, wrong: (n,) confidences of labelled rows that the classifier was not
    fitted to, and whether their predictions are wrong. The p-value of a row is ``(1 + #{wrong rows at least
    as confident}) / (n + 1)``, and the expected share of wrong rows among the accepted is at most ``rate`` if
    labelled and new rows are exchangeable.
    """
    errors = np.sort(known[wrong])
    p = (1 + len(errors) - np.searchsorted(errors, confidence, side="left")) / (len(known) + 1)
    level = _threshold(p, rate) if len(p) else 0.0
    return float(confidence[p <= level].min()) if level > 0 and (p <= level).any() else np.inf
