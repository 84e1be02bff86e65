"""Rows selected from a batch with a bound on the expected share of errors: ``selection.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.measures.certified import certify, threshold_grid
from confml.measures.metric import HIGHER, LEVEL, LOWER, SHARE, Metric
from confml.measures.selected import (
    ACCEPTED,
    CERTAIN,
    accepted_threshold,
    certain_rows,
    shares_one_calibration,
)
from confml.report.items import Item, Table
from confml.report.numbers.calibration_parts import case_of
from confml.report.sections.base import Section
from confml.report.sections.certified import DELTA, halves, is_certifiable

if TYPE_CHECKING:
    from confml.report.run.results import RunResults
    from confml.runner.results import CellResult

HEADER = (
    *(
        "dataset",
        "method",
        "params",
        "label",
        "view",
        "selection",
        "rate",
        "splits",
        "rows",
        "any_dependence",
    ),
    *("selected", "errors", "errors_se", "certified"),
)

SOURCE = "Gazin et al. (2024); Jin and Candes (2023)"


class SplitSelection(NamedTuple):
    """One selection on one split: fraction of the batch selected, and of errors among these (0 without any).

    certified: fraction above the certified threshold of the same risk, None for certain rows.
    """

    rows: int
    selected: float
    errors: float
    certified: float | None


def selections_of(result: CellResult, view: str, rate: float) -> Iterator[tuple[str, SplitSelection]]:
    """Yield the certain and the accepted rows of a view of a cell at a rate.

    The batch of certain rows is the test part. Accepted rows are those of one half of it, and the other half
    has the labelled rows; the halves are those of ``certified.csv``.
    """
    prediction = result.views[view]
    case = case_of(result, prediction)
    wrong = ~case.correct
    if prediction.kind == "p-value" and "own_share" not in prediction.extra:
        certain, _ = certain_rows(prediction.scores, rate, shares_one_calibration(result.cell.params))
        yield CERTAIN, SplitSelection(len(certain), *_shares(certain, wrong), None)
    if np.isnan(case.certainty).any():
        return
    half, rest = halves(result)
    threshold = accepted_threshold(case.certainty[rest], case.certainty[half], wrong[half], rate)
    grid = threshold_grid(case.certainty[rest], len(half), rate, DELTA)
    point = certify(case.certainty[half], case.correct[half], grid, rate, DELTA)
    certified = 0.0 if point.threshold is None else float((case.certainty[rest] >= point.threshold).mean())
    accepted = case.certainty[rest] >= threshold
    yield ACCEPTED, SplitSelection(len(rest), *_shares(accepted, wrong[rest]), certified)


def _shares(selected: np.ndarray, wrong: np.ndarray) -> tuple[float, float]:
    return float(selected.mean()), float(wrong[selected].mean()) if selected.any() else 0.0


class Selection(Section):
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

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple, list[SplitSelection]] = {}

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return bool(getattr(results.config, "selection", ()))

    def add(self, result: CellResult) -> Iterator[Item]:
        cell, label = result.cell, self.results.label(result.cell)
        for view, prediction in result.views.items():
            if not is_certifiable(prediction):
                continue
            for rate in map(float, getattr(self.results.config, "selection", ())):
                for kind, one in selections_of(result, view, rate):
                    shared = kind == ACCEPTED or shares_one_calibration(cell.params)
                    key = cell.dataset, cell.method, cell.variant, label, view, kind, rate, int(not shared)
                    self._found.setdefault(key, []).append(one)
        yield from ()

    def items(self) -> Iterator[Item]:
        if self._found:
            yield Table("selection.csv", HEADER, [_row(key, own) for key, own in self._found.items()])


def _row(key: tuple, own: list[SplitSelection]) -> tuple:
    errors = np.array([one.errors for one in own])
    error = float(errors.std(ddof=1) / np.sqrt(len(own))) if len(own) > 1 else float("nan")
    shares = [one.certified for one in own if one.certified is not None]
    certified = float(np.mean(shares)) if shares else None
    selected = float(np.mean([one.selected for one in own]))
    rows = min(one.rows for one in own)
    return (*key[:7], len(own), rows, key[7], selected, float(errors.mean()), error, certified)
