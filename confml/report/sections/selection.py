"""Rows selected from a batch with a bound on the expected share of errors: ``selection.csv``."""

import numpy as np

from confml.measures.metric import HIGHER, LEVEL, LOWER, SHARE, Metric
from confml.measures.selected import ACCEPTED, shares_one_calibration
from confml.report.items import TableKind
from confml.report.numbers.certificates import SplitSelection, is_certifiable, selections_of
from confml.report.sections.base import ViewSection

SELECTION = TableKind(
    "selection.csv",
    "dataset method params label view selection rate splits rows any_dependence selected errors "
    "errors_se certified",
)
SOURCE = "Gazin et al. (2024); Jin and Candes (2023)"


class Selection(ViewSection):
    """``selection.csv``: rows selected from a batch, at the rates of ``selection`` of the config.

    ``selection``: ``certain`` (views with p-values: rows whose region is one label, with a bound on the false
    coverage rate) or ``accepted`` (all views, with a bound on the false discovery rate). ``rate``: the bound
    on the expected share of errors among the selected. ``rows``: smallest batch of a split.
    ``any_dependence``: 1 if the rate is divided by 1 + 1/2 + ... + 1/rows, because the rows do not share one
    calibration part.
    ``selected``: mean share of the batch. ``errors``: mean over the splits of the share of errors among the
    selected (0 without any), with its standard error; the bound is on this mean. ``certified``: mean share
    above the certified threshold for the same risk, whose bound holds with probability 95 % for each new row.
    """

    name = "selection"
    place = 93
    needs = "selection in the config"
    setting = "selection"
    files = {"selection.csv": "rows selected from a batch: their share, and the share of errors among them"}
    metrics = {
        "selection.csv": {
            "selected": Metric(
                "mean share of a batch that is selected", HIGHER, "|S| / m", SOURCE, unit=SHARE, per=LEVEL
            ),
            "errors": Metric(
                "mean share of errors among the selected rows",
                LOWER,
                "#{i in S: wrong} / max(1, |S|)",
                SOURCE,
                unit=SHARE,
                per=LEVEL,
            ),
        }
    }

    tables = (SELECTION,)
    kept = dict

    def takes(self, case):
        return is_certifiable(case.prediction)

    def add_view(self, found, result, view, case):
        cell, label = result.cell, self.results.label(result.cell)
        for rate in map(float, self.results.config.selection):
            for kind, one in selections_of(result, case, rate):
                shared = kind == ACCEPTED or shares_one_calibration(cell.params)
                found.setdefault((label, view, kind, rate, int(not shared)), []).append(one)

    def rows_of(self, key, found):
        return ([_row((*key[:3], *names), own) for names, own in found.items()],)


def _row(key: tuple, own: list[SplitSelection]) -> tuple:
    errors = np.array([one.errors for one in own])
    error = float(errors.std(ddof=1) / np.sqrt(len(own))) if len(own) > 1 else float("nan")
    shares = [one.certified for one in own if one.certified is not None]
    certified = float(np.mean(shares)) if shares else None
    selected = float(np.mean([one.selected for one in own]))
    rows = min(one.rows for one in own)
    return (*key[:7], len(own), rows, key[7], selected, float(errors.mean()), error, certified)
