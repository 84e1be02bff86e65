"""Rows to the first alarm of CUSUM and Shiryaev-Roberts statistics, without a change."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, AT_LEAST, Claim, Entry

from confml.measures.monitoring import BETTORS, CUSUM_RUNS, cusum_alarms, shiryaev_roberts_alarms

ALARMS = {"cusum": cusum_alarms, "shiryaev-roberts": shiryaev_roberts_alarms}
CUT = 50  # runs are cut at this many times the threshold, which can only lower the mean


def run_length(rng, statistic, bettor, threshold):
    """Number of independent uniform p-values, as exchangeable rows have them, to the first alarm."""
    most = CUT * threshold if (statistic, bettor) != ("cusum", "simple-jumper") else 10**7
    p = rng.random(int(min(most, 2 * threshold)))
    while True:
        alarms = ALARMS[statistic](p, threshold, BETTORS[bettor])
        if alarms or len(p) >= most:
            claims = run_claims({"statistic": statistic, "bettor": bettor, "threshold": threshold})
            return [float(alarms[0].row if alarms else most)] * len(claims)
        p = np.append(p, rng.random(int(min(most - len(p), 2 * len(p)))))


def run_claims(setting):
    """Return the bound, and for CUSUM of the simple jumper the simulated run that confml prints."""
    threshold = setting["threshold"]
    claims = [Claim("mean rows to an alarm", threshold, AT_LEAST, True)]
    if (setting["statistic"], setting["bettor"]) == ("cusum", "simple-jumper") and threshold in CUSUM_RUNS:
        claims.append(Claim("mean rows to an alarm, as printed", CUSUM_RUNS[threshold], ABOUT, True))
    return claims


def settings(bettors, cusum, shiryaev_roberts):
    """Return the settings of both statistics at their thresholds."""
    thresholds = {"cusum": cusum, "shiryaev-roberts": shiryaev_roberts}
    return [
        {"statistic": statistic, "bettor": bettor, "threshold": threshold}
        for bettor in bettors
        for statistic, threshold in thresholds.items()
    ]


ENTRIES = (
    Entry("run-length", "monitoring.csv, mean_run without a change",
          "without a change the mean number of rows to an alarm at threshold c is at least c",
          settings(BETTORS, 5, 100), run_claims, run_length, fraction=0.1),
    Entry("run-length-long", "monitoring.csv, mean_run without a change",
          "without a change the mean number of rows to an alarm at threshold c is at least c",
          settings(("simple-jumper",), 20, 1000), run_claims, run_length, fraction=0.05),
)  # fmt: skip
