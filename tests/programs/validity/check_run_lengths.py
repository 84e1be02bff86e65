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
            length = float(alarms[0].row if alarms else most)
            return [length] * len(
                run_claims({"statistic": statistic, "bettor": bettor, "threshold": threshold})
            )
        p = np.append(p, rng.random(int(min(most - len(p), 2 * len(p)))))


def run_claims(setting):
    """Return the bound, and for CUSUM of the simple jumper the simulated run that confml prints."""
    threshold = setting["threshold"]
    claims = [Claim("mean rows to an alarm", threshold, AT_LEAST, True)]
    if (setting["statistic"], setting["bettor"]) == ("cusum", "simple-jumper") and threshold in CUSUM_RUNS:
        claims.append(Claim("mean rows to an alarm, as printed", CUSUM_RUNS[threshold], ABOUT, True))
    return claims


ENTRIES = (
    Entry("run-length", "monitoring.csv, mean_run without a change",
          "without a change the mean number of rows to an alarm at threshold c is at least c",
          [{"statistic": statistic, "bettor": bettor, "threshold": threshold} for bettor in BETTORS
           for statistic, threshold in (("cusum", 5), ("shiryaev-roberts", 100))],
          run_claims, run_length, fraction=0.1),
    Entry("run-length-long", "monitoring.csv, mean_run without a change",
          "without a change the mean number of rows to an alarm at threshold c is at least c",
          [{"statistic": "cusum", "bettor": "simple-jumper", "threshold": 20},
           {"statistic": "shiryaev-roberts", "bettor": "simple-jumper", "threshold": 1000}],
          run_claims, run_length, fraction=0.05),
)  # fmt: skip
