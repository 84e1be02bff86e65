"""Accuracy-rejection curves of every view, mean and band over the splits: ``rejection-curves.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.measures.rejection import RejectionCurve, band
from confml.report.calibration_parts import case_of
from confml.report.items import Item, Table
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

RATES = np.arange(51) / 50  # rejection rates of the CSV file: 0, 0.02, ... 1
Key = tuple[str, str, str, str]  # data set, method, params, view


class RejectionCurves(Section):
    """``rejection-curves.csv``: one row per view and rejection rate.

    sure_incorrect: errors among the accepted as a share of all, mean over the splits, with sd, smallest and
    largest; risk: as a share of the accepted. Rates that a split cannot attain have no row. Splits without
    test examples, or with a NaN confidence, have no curve.
    """

    name = "rejection-curves"
    place = 70
    files = {"rejection-curves.csv": "errors against rejection rate"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._curves: dict[Key, list[RejectionCurve]] = {}  # of the views of one variant
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            curve = case_of(result, prediction).curve
            if len(prediction) and curve is not None:
                self._curves.setdefault((cell.dataset, cell.method, cell.variant, view), []).append(curve)
        yield from ()

    def finish_variant(self) -> None:
        for key, curves in self._curves.items():
            wrong, risk = band(curves, RATES), band(curves, RATES, what="risk")
            columns = [column.tolist() for column in (*wrong[1:], risk.mean, risk.sd)]
            for place in np.flatnonzero(~np.isnan(wrong.mean)).tolist():
                numbers = (round(column[place], 12) for column in columns)  # 0.02, not 0.0200000000018
                self._rows.append((*key, RATES[place], len(curves), *numbers))
        self._curves = {}

    def items(self) -> Iterator[Item]:
        header: tuple[str, ...] = ("dataset", "method", "params", "view", "rejection_rate", "splits")
        header += ("sure_incorrect", "sure_incorrect_sd", "sure_incorrect_low", "sure_incorrect_high")
        header += ("risk", "risk_sd")
        if self._rows:
            yield Table("rejection-curves.csv", header, self._rows)
