"""Thresholds by conformal risk control: ``risk-control.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.measures.certified_paths import CostTable
from confml.measures.risk_control import risk_controlled_threshold
from confml.report.calibration_parts import case_of
from confml.report.sections.base import Item, Section, Table
from confml.report.sections.certified import RISKS, group_columns, halves, no_guarantee
from confml.report.sections.certified_jointly import COST_SHARES
from confml.report.summaries import mean_and_sd

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

HEADER = (
    *("dataset", "method", "params", "view", "loss", "expected", "splits", "found", "threshold", "accepted"),
    *("observed", "accepted_and_wrong", "error_of_accepted", "mean_cost", "calibration_rows", "guarantee"),
)
ERROR, COST = "error", "cost"
GUARANTEES = {
    ERROR: "On average over calibration halves, a new row is accepted and wrong with probability at most"
    " {limit:g}; this is not a bound on the error rate of accepted rows.",
    COST: "On average over calibration halves, accepted predictions cost at most {limit:g} per new row, where"
    " a row that is not accepted counts as 0; the price of abstaining comes on top (mean_cost has both).",
}


class _Split(NamedTuple):
    threshold: float | None
    rows: int
    accepted: float
    observed: float
    wrong: float
    error: float
    cost: float


class RiskControl(Section):
    """``risk-control.csv``: thresholds by conformal risk control, one row per view, loss and limit.

    The halves of each test part are those of ``certified.csv``. loss ``error``: 1 for a row that is accepted
    and wrong, else 0. loss ``cost``, with ``costs`` in the config: the cost of an accepted prediction, else
    0; the limits are 75, 50 and 25 % of the price of abstaining. The price itself cannot be a part of this
    loss, which must not increase with the threshold; ``certified-jointly.csv`` bounds the sum of both.

    ``expected``: the largest expected loss of a new row, on average over calibration halves. The threshold is
    the smallest one for which the calibration half has ``(sum of losses + largest loss) / (rows + 1) <=
    expected``; nothing is accepted without one. ``found``: number of splits with a threshold; ``threshold``:
    its mean. Of the other half: ``accepted``, mean share; ``observed``, mean loss; ``accepted_and_wrong``,
    mean share; ``error_of_accepted``, errors among accepted rows, for which there is no guarantee;
    ``mean_cost``, mean cost per row with the price of abstaining. A threshold of ``certified.csv`` is
    stricter: its bound holds for the accepted rows, with a stated probability over calibration halves. Not
    for ``protocol: online``.
    """

    name = "risk-control"
    place = 97
    needs = "thresholds in the config"
    files = {"risk-control.csv": "thresholds whose expected loss (accepted errors, or their cost) is bounded"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple, list[_Split]] = {}

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return bool(results.config.thresholds)

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            certainty = prediction.certainty
            if len(prediction) < 2 or np.isnan(certainty).any() or "learnt" in prediction.extra:
                continue
            case = case_of(result, prediction)
            costs = getattr(self.results.config, "costs", None)
            table = CostTable.of_config(costs, prediction.classes) if costs else None
            cost = None if table is None else table.of_rows(case.true_columns, case.predicted_columns)
            wrong = np.asarray(prediction.labels != result.truth)
            losses = [(ERROR, wrong.astype(np.float64), 1.0, limit) for limit in RISKS]
            if table is not None and cost is not None:
                largest = float(np.max(table.matrix))
                of_accepted = np.minimum(cost, largest)
                losses += [(COST, of_accepted, largest, share * table.abstain) for share in COST_SHARES]
            half, rest = halves(result)
            for kind, loss, bound, limit in losses:
                threshold = risk_controlled_threshold(
                    certainty[half], loss[half], certainty[rest], limit, bound
                )
                taken = np.zeros(len(rest), dtype=bool)
                if threshold is not None:
                    taken = certainty[rest] >= threshold
                accepted, errors = int(taken.sum()), int((taken & wrong[rest]).sum())
                mean_cost = float("nan")
                if kind == COST and table is not None and cost is not None:
                    mean_cost = float(np.where(taken, cost[rest], table.abstain).mean())
                one = _Split(
                    *(threshold, len(half), accepted / len(rest)),
                    *(float((taken * loss[rest]).mean()), errors / len(rest)),
                    *(errors / accepted if accepted else float("nan"), mean_cost),
                )
                key = cell.dataset, cell.method, cell.variant, view, kind, limit
                self._found.setdefault(key, []).append(one)
        yield from ()

    def items(self) -> Iterator[Item]:
        rows = []
        groups = group_columns(self.results)
        for key, own in self._found.items():
            kept = [one.threshold for one in own if one.threshold is not None]
            names = ("accepted", "observed", "wrong", "error", "cost")
            means = (mean_and_sd([getattr(one, name) for one in own])[0] for name in names)
            threshold = float(np.mean(kept)) if kept else float("nan")
            size = min(one.rows for one in own)
            guarantee = GUARANTEES[key[-2]].format(limit=key[-1])
            if key[0] in groups:
                guarantee = no_guarantee(groups[key[0]])
            rows.append((*key, len(own), len(kept), threshold, *means, size, guarantee))
        if rows:
            yield Table("risk-control.csv", HEADER, rows)
