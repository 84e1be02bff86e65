"""Thresholds by conformal risk control: ``risk-control.csv``."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.measures import Case
from confml.measures.risk_control import risk_controlled_threshold, risk_controlled_thresholds
from confml.report.calibration_parts import case_of
from confml.report.sections.base import Item, Section, Table
from confml.report.sections.certified import RISKS, equal_sizes, halves
from confml.report.summaries import mean_and_sd

if TYPE_CHECKING:
    from confml.report.blocks import ViewBlock
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

HEADER = (
    *("dataset", "method", "params", "view", "expected", "splits", "found", "threshold", "accepted"),
    *("accepted_and_wrong", "error_of_accepted", "calibration_rows", "guarantee"),
)
GUARANTEE = (
    "On average over calibration halves, a new row is accepted and wrong with probability at most {limit:g}; "
    "this is not a bound on the error rate of accepted rows."
)


class _Splits:
    """Numbers of the splits of one view at one limit; threshold: only of splits that have one."""

    def __init__(self) -> None:
        self.threshold, self.accepted, self.wrong, self.error = (array("d") for _ in range(4))
        self.rows = math.inf

    def add(self, result: CellResult, case: Case, threshold: float | None) -> None:
        half, rest = halves(result)
        accepted = errors = 0
        if threshold is not None:
            self.threshold.append(threshold)
            taken = case.certainty[rest] >= threshold
            accepted, errors = int(taken.sum()), int((taken & ~case.correct[rest]).sum())
        self.accepted.append(accepted / len(rest))
        self.wrong.append(errors / len(rest))
        self.error.append(errors / accepted if accepted else math.nan)
        self.rows = min(self.rows, len(half))

    def row(self) -> tuple:
        """Return the numbers from ``splits`` to ``calibration_rows``."""
        means = (mean_and_sd(own)[0] for own in (self.accepted, self.wrong, self.error))
        threshold = float(np.mean(self.threshold)) if self.threshold else math.nan
        return len(self.accepted), len(self.threshold), threshold, *means, int(self.rows)


class RiskControl(Section):
    """``risk-control.csv``: thresholds by conformal risk control, one row per view and limit.

    The halves of each test part are those of ``certified.csv``. ``expected``: the largest probability that a
    new row is accepted and wrong, on average over calibration halves. The threshold is the smallest one for
    which the calibration half has ``(errors of accepted rows + 1) / (rows + 1) <= expected``; nothing is
    accepted without one. ``found``: number of splits with a threshold; ``threshold``: its mean. ``accepted``,
    ``accepted_and_wrong``: mean shares of the other half; ``error_of_accepted``: errors among its accepted
    rows, for which there is no guarantee. A threshold of ``certified.csv`` is stricter: its bound holds for
    the accepted rows, with a stated probability over calibration halves. Not for ``protocol: online``.
    """

    name = "risk-control"
    place = 97
    needs = "thresholds in the config"
    files = {"risk-control.csv": "thresholds whose expected number of accepted errors is bounded"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple, _Splits] = {}

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return bool(results.config.thresholds)

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for one in blocks:
            for own in equal_sizes(one):
                certainty = np.stack([case.certainty for _, case in own])
                wrong = ~np.stack([case.correct for _, case in own])
                half, rest = (np.stack(part) for part in zip(*(halves(cell) for cell, _ in own), strict=True))
                rows = np.arange(len(own))[:, None]
                given = certainty[rows, half], wrong[rows, half], certainty[rows, rest]
                thresholds = [risk_controlled_thresholds(*given, limit) for limit in RISKS]
                for (_, case), *found in zip(own, *thresholds, strict=True):
                    case.kept["controlled"] = found

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            case = case_of(result, prediction)
            if len(prediction) < 2 or np.isnan(case.certainty).any() or "learnt" in prediction.extra:
                continue
            thresholds = case.kept.pop("controlled", None) or _thresholds(result, case)
            for limit, threshold in zip(RISKS, thresholds, strict=True):
                key = cell.dataset, cell.method, cell.variant, view, limit
                self._found.setdefault(key, _Splits()).add(result, case, threshold)
        yield from ()

    def items(self) -> Iterator[Item]:
        rows = [(*key, *own.row(), GUARANTEE.format(limit=key[-1])) for key, own in self._found.items()]
        if rows:
            yield Table("risk-control.csv", HEADER, rows)


def _thresholds(result: CellResult, case: Case) -> list[float | None]:
    """Return the threshold of a cell for each of `RISKS`."""
    (half, rest), certainty, wrong = halves(result), case.certainty, ~case.correct
    return [
        risk_controlled_threshold(certainty[half], wrong[half], certainty[rest], limit) for limit in RISKS
    ]
