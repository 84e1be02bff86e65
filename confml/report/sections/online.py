"""An online pass step by step, and the alarms of a change in it."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from confml.measures import Case
from confml.measures.martingales import online_p_values, power_martingale, simple_mixture
from confml.measures.monitoring import (
    BETTORS,
    CUSUM_RUNS,
    Alarm,
    cusum_alarms,
    log_martingale,
    shiryaev_roberts_alarms,
)
from confml.measures.p_values import is_online, required_smoothed_p_values
from confml.report.files import column_lines, field, numbers
from confml.report.items import Item, Lines, Note, Table
from confml.report.sections.base import Section
from confml.report.sections.regions import COUNT_COLUMNS, count_columns, region_paths, view_ending
from confml.runner.results import CellResult


class Online(Section):
    """``online/<data set>/<method variant>/<split>.csv``: an online pass step by step."""

    name = "online"
    place = 110
    needs = "protocol: {kind: online}"
    files = {"online": "every step of an online pass"}

    def add(self, result: CellResult) -> Iterator[Item]:
        for view, case in result.cases.items():
            if is_online(case):
                name = region_paths(self.results)[result.cell.key]
                path = f"online/{name}{view_ending(view, result.views)}"
                table = step_table(case, result.rows, self.results.config.levels)
                yield Lines(path, column_lines([table]))


def step_table(
    case: Case, rows: np.ndarray, levels: Sequence[float]
) -> tuple[list[str], list[Sequence[str]]]:
    """Return header and columns (of finished CSV fields) of one online pass; n steps in order.

    ``learnt`` (examples learnt before), ``row,label,prediction,confidence,credibility``, the true label's
    ``p_value`` and its smoothed one; for each level ``size@`` (labels in the region), ``error@`` (1 if it
    does not contain the true label) and ``errors@`` (number so far); the decimal logarithms of the simple
    mixture and the power martingale; and the counts of the p-value (`count_columns`).
    """
    prediction, at = case.prediction, (np.arange(len(case.truth)), case.true_columns)
    credibility = prediction.credibility
    assert credibility is not None  # an online pass has p-values
    smoothed = required_smoothed_p_values(case)
    header = ["learnt", "row", "label", "prediction", "confidence", "credibility", "p_value", "p_smoothed"]
    columns: list[Sequence[str]] = [
        _whole(prediction.extra["learnt"]),
        _whole(rows),
        [field(label) for label in case.truth.tolist()],
        [field(label) for label in prediction.labels.tolist()],
        numbers(prediction.confidence),
        numbers(credibility),
        numbers(prediction.scores[at]),
        numbers(smoothed),
    ]
    for level in map(float, levels):
        region = prediction.region(level)
        missed = ~region[at]
        header += [f"size@{level!r}", f"error@{level!r}", f"errors@{level!r}"]
        columns += [_whole(region.sum(axis=1)), _whole(missed.astype(int)), _whole(np.cumsum(missed))]
    header += ["log10_mixture_martingale", "log10_power_martingale"]
    columns += [numbers(simple_mixture(smoothed)), numbers(power_martingale(smoothed))]
    return [*header, *COUNT_COLUMNS], [*columns, *count_columns(case)]


def _whole(values: np.ndarray) -> list[str]:
    return [str(value) for value in np.asarray(values).tolist()]


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


class Monitoring(Section):
    """``monitoring.csv``: changes that an online pass shows.

    The statistics bet against the smoothed p-values of the true labels, in the order of the rows.
    Three martingales answer whether the whole pass is exchangeable: exchangeable rows reach C with
    probability at most 1/C. CUSUM and Shiryaev-Roberts (of the simple jumper) raise alarms, start again after
    each one, and estimate where the change is; one line per alarm, or one line that there is none.
    ``meaning`` explains each line.
    """

    name = "monitoring"
    place = 112
    needs = "protocol: {kind: online}"
    files = {"monitoring.csv": "martingales and alarms of a change in an online pass"}

    def start(self) -> None:
        self._rows: list[tuple] = []
        self._alarms: list[str] = []

    def add(self, result: CellResult) -> None:
        cell = result.cell
        for view, case in result.cases.items():
            p = online_p_values(case)
            if p is None or not len(p):
                continue
            key = cell.dataset, cell.method, cell.variant, cell.split, view
            found = list(monitoring_rows(p, np.asarray(result.rows)))
            self._rows += [(*key, *row) for row in found]
            alarm = next((row for row in found if row.statistic == "shiryaev-roberts" and row.step), None)
            if alarm is not None:
                self._alarms.append(f"{cell.dataset}, {self.results.label(cell)}: {alarm.meaning}")

    def items(self) -> Iterator[Item]:
        if self._rows:
            yield Table("monitoring.csv", (*NAMES, *MonitoringRow._fields), self._rows)
        yield from map(Note, self._alarms)
        for name in dict.fromkeys(row[0] for row in self._rows if self.results.has_groups(row[0])):
            yield Note(f"{name}: alarms and martingales have no guarantee, because its rows are in groups")


def monitoring_rows(p: np.ndarray, numbers: np.ndarray) -> Iterator[MonitoringRow]:
    """Yield the rows of ``monitoring.csv`` for the p-values (n,) of a pass. numbers: (n,) row numbers."""
    rows = numbers.tolist()
    for name, bettor in BETTORS.items():
        logs = log_martingale(p, bettor)
        step = int(np.argmax(logs)) + 1
        log = float(logs[step - 1])
        place = step, rows[step - 1]
        words = martingale_words(log, step)
        yield MonitoringRow(name, None, None, *place, None, log / math.log(10), words)
    for name, threshold, run, alarms in (
        ("cusum", CUSUM_THRESHOLD, CUSUM_RUNS[CUSUM_THRESHOLD], cusum_alarms(p, CUSUM_THRESHOLD)),
        ("shiryaev-roberts", RARE, RARE, shiryaev_roberts_alarms(p, RARE)),
    ):
        for alarm in alarms:
            place = alarm.row, rows[alarm.row - 1]
            words = alarm_words(alarm, run, simulated=name == "cusum")
            log10 = alarm.log_value / math.log(10)
            yield MonitoringRow(name, threshold, run, *place, alarm.change_after, log10, words)
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
