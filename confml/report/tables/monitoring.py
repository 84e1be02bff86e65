"""``monitoring.csv``: changes that an online pass shows."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from confml.measures.martingales import online_p_values
from confml.measures.monitoring import (
    BETTORS,
    CUSUM_RUNS,
    Alarm,
    cusum_alarms,
    log_martingale,
    shiryaev_roberts_alarms,
)
from confml.report.report import Report
from confml.report.run.results import Variant
from confml.report.tables.table import Row, Table

CUSUM_THRESHOLD, RARE = 20, 10_000  # of CUSUM and of Shiryaev-Roberts
EVIDENCE = 100  # of a martingale against exchangeability
NAMES = ("dataset", "method", "params", "split", "view")


class MonitoringRow(NamedTuple):
    """A martingale at its maximum, or an alarm.

    statistic: simple-jumper, composite-jumper or histogram (martingales), cusum or shiryaev-roberts.
    threshold: of alarms; mean_run: number of rows to an alarm without a change, at least (shiryaev-roberts)
    or simulated (cusum). step: number of rows learnt up to the maximum or the alarm, and row the number of
    the last one. change_after: step after which the change is estimated to be. log10_value: of the statistic.
    """

    statistic: str
    threshold: float | None
    mean_run: int | None
    step: int | None
    row: Any
    change_after: int | None
    log10_value: float | None
    meaning: str


def rows(variant: Variant) -> Iterator[Row]:
    """Look for changes in an online pass.

    The statistics bet against the smoothed p-values of the true labels, in the order of the rows. Three
    martingales answer whether the whole pass is exchangeable: exchangeable rows reach C with probability at
    most 1/C. CUSUM and Shiryaev-Roberts (of the simple jumper) raise alarms, start again after each one, and
    estimate where the change is. The table has one row per alarm, or one row that states that there is none.
    ``meaning`` explains each line.
    """
    for result, cases in variant.cells:
        for view, case in cases.items():
            p = online_p_values(case)
            if p is not None and len(p):
                key = *variant.key, result.cell.split, view
                yield from ((*key, *row) for row in monitoring_rows(p, np.asarray(result.rows)))


def monitoring_rows(p: np.ndarray, numbers: np.ndarray) -> Iterator[MonitoringRow]:
    """Yield the rows of ``monitoring.csv`` for the p-values (n,) of a pass. numbers: (n,) row numbers."""
    rows = numbers.tolist()
    for name, bettor in BETTORS.items():
        logs = log_martingale(p, bettor)
        step = int(np.argmax(logs)) + 1
        log = float(logs[step - 1])
        position = step, rows[step - 1]
        words = martingale_words(log, step)
        yield MonitoringRow(name, None, None, *position, None, log / math.log(10), words)
    for name, threshold, run, alarms in (
        ("cusum", CUSUM_THRESHOLD, CUSUM_RUNS[CUSUM_THRESHOLD], cusum_alarms(p, CUSUM_THRESHOLD)),
        ("shiryaev-roberts", RARE, RARE, shiryaev_roberts_alarms(p, RARE)),
    ):
        for alarm in alarms:
            position = alarm.row, rows[alarm.row - 1]
            words = alarm_words(alarm, run, simulated=name == "cusum")
            log10 = alarm.log_value / math.log(10)
            yield MonitoringRow(name, threshold, run, *position, alarm.change_after, log10, words)
        if not alarms:
            words = f"no alarm in {len(rows):,} rows: nothing to do"
            yield MonitoringRow(name, threshold, run, None, None, None, None, words)


def martingale_words(log_value: float, step: int) -> str:
    """Return the meaning of the maximum of a martingale."""
    if log_value < math.log(EVIDENCE):
        value = f"{math.floor(10 * math.exp(log_value)) / 10:g}"
        return f"{value} at most, below {EVIDENCE:g}: not enough evidence against exchangeability"
    # Rounded down, because 1 / size is a bound.
    if log_value < math.log(1e9):
        size = f"{math.floor(math.exp(log_value) * (1 + 1e-12)):,}"
    else:
        size = f"1e{math.floor(log_value / math.log(10) + 1e-12)}"
    return (
        f"{size} after row {step:,}, which exchangeable rows reach with probability at most 1/{size}: do not"
        " rely on the guarantees; see the alarms for the rows where the data change"
    )


def alarm_words(alarm: Alarm, run: int, simulated: bool = False) -> str:
    """Return the meaning of an alarm.

    run: number of rows to an alarm without a change, a lower bound of the mean unless it is ``simulated``.
    """
    often = "about" if simulated else "at most"
    return (
        f"alarm after row {alarm.row:,}, of which there is {often} one in {run:,} rows on average"
        f" without a change; the estimated change is after row {alarm.change_after:,}: check how later"
        " rows were collected, and fit again with them"
    )


def notes(report: Report) -> Iterator[str]:
    """Yield the first alarm of each pass, and a caveat for rows in groups."""
    labels = {(cell.method, cell.variant): report.run.label(cell) for cell in report.run.cells}
    rows, seen = report.rows[TABLE.path], set()
    for row in rows:
        key, alarm = tuple(row[: len(NAMES)]), MonitoringRow(*row[len(NAMES) :])
        if alarm.statistic == "shiryaev-roberts" and alarm.step and key not in seen:
            seen.add(key)
            yield f"{key[0]}, {labels[key[1], key[2]]}: {alarm.meaning}"
    for name in dict.fromkeys(row[0] for row in rows if report.run.has_groups(row[0])):
        yield f"{name}: alarms and martingales have no guarantee, because its rows are in groups"


TABLE = Table(
    "monitoring.csv",
    "martingales and alarms of a change in an online pass",
    (*NAMES, *MonitoringRow._fields),
    rows,
    needs="protocol: {kind: online}",
    notes=notes,
)
