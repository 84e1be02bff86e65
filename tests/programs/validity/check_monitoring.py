"""Martingales and alarms of a change on the p-values of online TCM-NN, without a change."""

from __future__ import annotations

import numpy as np
from _entries import Claim, Entry, grid
from _examples import online_p_values

from confml.measures.monitoring import BETTORS, cusum_alarms, log_martingale, shiryaev_roberts_alarms

STEPS = 100


def monitoring(rng, classes, ties):
    """Maximum of each martingale, and an alarm of either statistic within a tenth of its mean run."""
    p = online_p_values(rng, STEPS, classes, ties)
    reached = [log_martingale(p, bettor).max() >= np.log(20) for bettor in BETTORS.values()]
    return [*reached, *(bool(alarms(p, 10 * STEPS)) for alarms in (cusum_alarms, shiryaev_roberts_alarms))]


def _claims(setting):
    reached = [Claim(f"{name} martingale reaches 20", 0.05) for name in BETTORS]
    alarm = f"alarm at threshold {10 * STEPS} within {STEPS} rows"
    return [*reached, Claim(f"cusum {alarm}", 0.1), Claim(f"shiryaev-roberts {alarm}", 0.1)]


ENTRIES = (
    Entry("monitoring", "monitoring.csv",
          "a martingale reaches C with probability at most 1/C, an alarm at threshold c comes within n rows"
          " with probability at most n/c",
          grid(classes=(2, 10, 30), ties=(False, True)), _claims, monitoring, fraction=0.1),
)  # fmt: skip
