"""Thresholds by conformal risk control: ``risk-control.csv``."""

import math
from array import array
from collections.abc import Sequence

import numpy as np

from confml.measures.certified_paths import CostTable
from confml.measures.risk_control import risk_controlled_threshold, risk_controlled_thresholds
from confml.report.items import TableKind
from confml.report.numbers.certificates import RISKS, halves, has_halves
from confml.report.numbers.summaries import mean_and_sd
from confml.report.run.one_pass import ViewBlock
from confml.report.sections.base import ViewSection
from confml.report.sections.certified import (
    accepted_and_wrong,
    certifiable_halves,
    group_columns,
    no_guarantee,
)
from confml.report.sections.certified_jointly import COST_SHARES

CONTROLLED = TableKind(
    "risk-control.csv",
    "dataset method params view loss expected splits found threshold accepted observed "
    "accepted_and_wrong error_of_accepted mean_cost calibration_rows guarantee",
)
ERROR, COST = "error", "cost"
GUARANTEES = {
    ERROR: "On average over calibration halves, a new row is accepted and wrong with probability at most"
    " {limit:g}; this is not a bound on the error rate of accepted rows.",
    COST: "On average over calibration halves, accepted predictions cost at most {limit:g} per new row, where"
    " a row that is not accepted counts as 0; the price of abstaining comes on top (mean_cost has both).",
}


class _Splits:
    """Numbers of the splits of one view at one limit; threshold: only of splits that have one."""

    def __init__(self) -> None:
        self.threshold, self.accepted, self.observed, self.wrong, self.error, self.cost = (
            array("d") for _ in range(6)
        )
        self.rows = math.inf

    def add(
        self,
        threshold: float | None,
        accepted: int,
        errors: int,
        rows: tuple[int, int],
        costs: tuple[float, float] | None = None,
    ) -> None:
        """Add a split.

        rows: numbers of the calibration half and of the other half, which the counts are of. costs: mean loss
        of its rows and mean cost with the price of abstaining; by default the loss is the error.
        """
        half, rest = rows
        if threshold is not None:
            self.threshold.append(threshold)
        observed, cost = costs or (errors / rest, math.nan)
        self.accepted.append(accepted / rest)
        self.observed.append(observed)
        self.wrong.append(errors / rest)
        self.error.append(errors / accepted if accepted else math.nan)
        self.cost.append(cost)
        self.rows = min(self.rows, half)

    def row(self) -> tuple:
        """Return the numbers from ``splits`` to ``calibration_rows``."""
        columns = self.accepted, self.observed, self.wrong, self.error, self.cost
        means = (mean_and_sd(own)[0] for own in columns)
        with np.errstate(invalid="ignore"):  # thresholds of -inf and inf have no mean
            threshold = float(np.mean(self.threshold)) if self.threshold else math.nan
        return len(self.accepted), len(self.threshold), threshold, *means, int(self.rows)


class RiskControl(ViewSection):
    """``risk-control.csv``: thresholds by conformal risk control, one row per view, loss and limit.

    The halves of each test part are those of ``certified.csv``. loss ``error``: 1 for a row that is accepted
    and wrong, else 0. loss ``cost``, with ``costs`` in the config: the cost of an accepted prediction, else
    0; the limits are 75, 50 and 25 % of the price of abstaining. The price itself cannot be a part of this
    loss, which must not increase with the threshold; ``certified-jointly.csv`` bounds the sum of both.

    ``expected``: the largest expected loss of a new row, on average over calibration halves. The threshold is
    the smallest one for which the calibration half has ``(sum of losses + largest loss) / (rows + 1) <=
    expected``; nothing is accepted without one. ``found``: number of splits with a threshold; ``threshold``:
    its mean (for a posterior the multiple of its sd). Of the other half: ``accepted``, mean share;
    ``observed``, mean loss; ``accepted_and_wrong``, mean share. ``error_of_accepted`` is the share of errors
    among accepted rows, which has no guarantee. ``mean_cost`` is the mean cost per row with the cost of
    abstaining. A threshold of ``certified.csv`` is stricter: its bound holds for the accepted rows, with a
    stated probability over calibration halves. Not for ``protocol: online``.
    """

    name = "risk-control"
    place = 97
    needs = "thresholds in the config"
    setting = "thresholds"
    files = {"risk-control.csv": "thresholds whose expected loss (accepted errors, or their cost) is bounded"}

    tables = (CONTROLLED,)
    kept = dict

    def takes(self, case):
        return has_halves(case)

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for _, own, (half, correct, rest, correct_rest) in certifiable_halves(blocks):
            losses, wrong = (~correct).astype(np.float64), ~correct_rest
            thresholds = [risk_controlled_thresholds(half, losses, rest, limit) for limit in RISKS]
            counts = [accepted_and_wrong(rest, wrong, some) for some in thresholds]
            by_case = zip(own, zip(*thresholds, strict=True), zip(*counts, strict=True), strict=True)
            for (_, case), found, counted in by_case:
                case.kept["controlled"] = [(at, *pair) for at, pair in zip(found, counted, strict=True)]

    def add_view(self, found, result, view, case):
        half, rest = halves(result)
        rows = len(half), len(rest)
        certainty, wrong = case.certainty, ~case.correct
        for limit, counted in zip(RISKS, case.kept.pop("controlled"), strict=True):
            found.setdefault((ERROR, limit), _Splits()).add(*counted, rows)
        costs = self.results.config.costs
        table = CostTable.of_config(costs, case.prediction.classes) if costs else None
        if table is None:
            return
        for share in COST_SHARES:
            cost = table.of_rows(case.true_columns, case.predicted_columns)
            largest, limit = float(np.max(table.matrix)), share * table.abstain
            bounded = np.minimum(cost, largest)
            of_half = certainty[half], bounded[half], certainty[rest]
            threshold = risk_controlled_threshold(*of_half, limit, largest)
            taken = np.zeros(len(rest), dtype=bool) if threshold is None else certainty[rest] >= threshold
            means = (taken * bounded[rest]).mean(), np.where(taken, cost[rest], table.abstain).mean()
            counts = int(taken.sum()), int((taken & wrong[rest]).sum())
            found.setdefault((COST, limit), _Splits()).add(
                threshold, *counts, rows, (float(means[0]), float(means[1]))
            )

    def rows_of(self, key, found):
        groups, rows = group_columns(self.results), []
        for (kind, limit), own in found.items():
            guarantee = GUARANTEES[kind].format(limit=limit)
            if key[0] in groups:
                guarantee = no_guarantee(groups[key[0]])
            rows.append((*key, kind, limit, *own.row(), guarantee))
        return (rows,)
