"""Rows to the first alarm of CUSUM and Shiryaev-Roberts statistics, without a change and after one."""

from __future__ import annotations

import numpy as np
from _entries import ABOUT, AT_LEAST, MEASURED, Claim, Entry

from confml.measures.monitoring import (
    BETTORS,
    CUSUM_RUNS,
    cusum_alarms,
    log_martingale,
    shiryaev_roberts_alarms,
)

ALARMS = {"cusum": cusum_alarms, "shiryaev-roberts": shiryaev_roberts_alarms}
AFTER = 1000  # rows after a change
CUT = 50  # runs are cut at this many times the threshold, which can only lower the mean


def run_length(rng, statistic, bettor, threshold):
    """Number of independent uniform p-values, as exchangeable rows have them, to the first alarm."""
    most = CUT * threshold if (statistic, bettor) != ("cusum", "simple-jumper") else 10**7
    p = rng.random(int(min(most, 2 * threshold)))
    while True:
        alarms = ALARMS[statistic](p, threshold, BETTORS[bettor])
        if alarms or len(p) >= most:
            length = float(alarms[0].row if alarms else most)
            simple = (statistic, bettor) == ("cusum", "simple-jumper")
            return [length, length] if simple and threshold in CUSUM_RUNS else [length]
        p = np.append(p, rng.random(int(min(most - len(p), 2 * len(p)))))


def run_claims(setting):
    """Return the bound, and for CUSUM of the simple jumper the simulated run that confml prints."""
    threshold = setting["threshold"]
    found = [Claim("mean rows to an alarm", threshold, AT_LEAST, True)]
    if (setting["statistic"], setting["bettor"]) == ("cusum", "simple-jumper") and threshold in CUSUM_RUNS:
        found.append(Claim("mean rows to an alarm, as printed", CUSUM_RUNS[threshold], ABOUT, True))
    return found


def delay(rng, bettor, change, power):
    """Rows from a change to uniform numbers to this power until an alarm, or until the martingale is 100."""
    p = np.append(rng.random(change), rng.random(AFTER) ** power)
    return [_rows_after(p, change, rows_of, bettor) for rows_of in (_cusum, _shiryaev_roberts, _reached)]


def _cusum(p, bettor):
    return [alarm.row for alarm in cusum_alarms(p, 20, BETTORS[bettor])]


def _shiryaev_roberts(p, bettor):
    return [alarm.row for alarm in shiryaev_roberts_alarms(p, 10_000, BETTORS[bettor])]


def _reached(p, bettor):
    return (np.flatnonzero(log_martingale(p, BETTORS[bettor]) >= np.log(100)) + 1).tolist()


def _rows_after(p, change, rows_of, bettor):
    """Rows from the change to the first of the rows after it; `AFTER` if there is none."""
    for rows in (100, AFTER):
        found = [row for row in rows_of(p[: change + rows], bettor) if row > change]
        if found:
            return found[0] - change
    return AFTER


def delay_claims(setting):
    """Return the numbers that nothing is promised of."""
    names = ("cusum 20: alarm", "shiryaev-roberts 10,000: alarm", "martingale 100")
    return [Claim(f"mean rows after the change, {name}", 0.0, MEASURED, True) for name in names]


def _settings():
    for bettor in BETTORS:
        for statistic, threshold in (("cusum", 5), ("shiryaev-roberts", 100)):
            yield {"statistic": statistic, "bettor": bettor, "threshold": threshold}


ENTRIES = (
    Entry("run-length", "monitoring.csv, mean_run without a change",
          "without a change the mean number of rows to an alarm at threshold c is at least c",
          list(_settings()), run_claims, run_length, fraction=0.1),
    Entry("run-length-long", "monitoring.csv, mean_run without a change",
          "without a change the mean number of rows to an alarm at threshold c is at least c",
          [{"statistic": "cusum", "bettor": "simple-jumper", "threshold": 20},
           {"statistic": "shiryaev-roberts", "bettor": "simple-jumper", "threshold": 1000}],
          run_claims, run_length, fraction=0.05),
    Entry("delay-of-alarm", "monitoring.csv, alarms after a change",
          "the statistics have no bound on the delay; it is measured",
          [{"bettor": bettor, "change": change, "power": 2} for bettor in BETTORS for change in (100, 1000)],
          delay_claims, delay, fraction=0.02),
)  # fmt: skip
