"""Martingales and alarms of a change on the p-values of online TCM-NN, without a change."""

from __future__ import annotations

import numpy as np
from _entries import Claim, Entry, sample

from confml.measures import Case
from confml.measures.monitoring import BETTORS, cusum_alarms, log_martingale, shiryaev_roberts_alarms
from confml.methods.tcm_nn.online import OnlineTCMNN

STEPS = 100


def monitoring(rng, classes, ties):
    """Maximum of each martingale, and an alarm of either statistic within a tenth of its mean run."""
    X, y = sample(rng, STEPS, classes, ties)
    online = OnlineTCMNN(np.arange(classes), smoothed=True, random_state=int(rng.integers(2**31)))
    p = Case(online.predict_then_learn(X, y), y).smoothed
    found = [log_martingale(p, bettor).max() >= np.log(20) for bettor in BETTORS.values()]
    found += [bool(alarms(p, 10 * STEPS)) for alarms in (cusum_alarms, shiryaev_roberts_alarms)]
    return found


def _claims(setting):
    names = ("cusum", "shiryaev-roberts")
    return [Claim(f"{name} martingale reaches 20", 0.05) for name in BETTORS] + [
        Claim(f"{name} alarm at threshold {10 * STEPS} within {STEPS} rows", 0.1) for name in names
    ]


ENTRIES = (
    Entry("monitoring", "monitoring.csv",
          "a martingale reaches C with probability at most 1/C, an alarm at threshold c comes within n rows"
          " with probability at most n/c",
          [{"classes": classes, "ties": ties} for classes in (2, 10, 30) for ties in (False, True)],
          _claims, monitoring, fraction=0.1),
)  # fmt: skip
