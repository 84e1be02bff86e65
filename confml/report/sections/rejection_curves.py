"""Accuracy-rejection curves of every view, mean and band over the splits: ``rejection-curves.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confml.measures.rejection import RejectionCurve, band, curve_of
from confml.report.sections.base import Item, Section, Table

if TYPE_CHECKING:
    from confml.report.results import RunResults

RATES = np.arange(51) / 50  # rejection rates of the CSV file: 0, 0.02, ... 1
Key = tuple[str, str, str, str]  # data set, method, params, view


def curves_of(results: RunResults) -> Iterator[tuple[Key, list[RejectionCurve]]]:
    """Return the curves of each view of each variant over its splits, in the order of ``metrics.csv``.

    Splits without test examples, or with a NaN confidence, have no curve.
    """
    found: dict[Key, list[RejectionCurve]] = {}
    variant: tuple[str, str, str] | None = None
    for result in results.finished():
        cell = result.cell
        own = (cell.dataset, cell.method, cell.variant)
        if variant != own:
            yield from found.items()
            variant, found = own, {}
        for view, prediction in result.views.items():
            if len(prediction) and not np.isnan(prediction.certainty).any():
                found.setdefault((*own, view), []).append(curve_of(prediction, result.truth))
    yield from found.items()


class RejectionCurves(Section):
    """``rejection-curves.csv``: one row per view and rejection rate.

    sure_incorrect: errors among the accepted as a share of all, mean over the splits, with sd, smallest and
    largest; risk: as a share of the accepted. Rates that a split cannot attain have no row.
    """

    name = "rejection-curves"
    place = 70
    files = {"rejection-curves.csv": "errors against rejection rate"}

    def items(self) -> Iterator[Item]:
        header: tuple[str, ...] = ("dataset", "method", "params", "view", "rejection_rate", "splits")
        header += ("sure_incorrect", "sure_incorrect_sd", "sure_incorrect_low", "sure_incorrect_high")
        header += ("risk", "risk_sd")
        rows = []
        for key, curves in curves_of(self.results):
            wrong, risk = band(curves, RATES), band(curves, RATES, what="risk")
            for place in np.flatnonzero(~np.isnan(wrong.mean)):
                values = (*wrong[1:], risk.mean, risk.sd)
                numbers = (round(float(column[place]), 12) for column in values)  # 0.02, not 0.0200000000018
                rows.append((*key, RATES[place], len(curves), *numbers))
        if rows:
            yield Table("rejection-curves.csv", header, rows)
