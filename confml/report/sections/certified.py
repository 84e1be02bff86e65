"""Operating points whose risk is certified for new examples, and whether they keep it: ``certified.csv``.

Each test part is cut in halves at random: one calibrates, the other stands for new examples. The thresholds
that are tried come from the confidences of the latter, never from its labels, so that the calibrating half
has no part in the grid (`confml.measures.certified`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml._seeds import stable_generator
from confml.measures.certified import certify, threshold_grid
from confml.report.sections.base import Item, Section, Table
from confml.report.summaries import mean_and_sd

if TYPE_CHECKING:
    from confml.measures.prediction import Prediction
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

RISKS, DELTA = (0.1, 0.05, 0.01), 0.05
HEADER = (
    *("dataset", "method", "params", "view", "risk", "delta", "splits", "certified", "threshold"),
    *("coverage", "observed_risk", "broken", "needed", "calibration_rows"),
)


class Certified(Section):
    """``certified.csv``: one row per view and risk, over the splits.

    certified: splits on which a threshold holds; threshold: its mean over these (accept confidences at least
    as large; of a posterior the multiple of its sd); coverage: accepted share of the other half, 0 where none
    holds; observed_risk: errors of these; broken: of the certified splits, those whose observed risk is
    higher than promised (a half of the test part is a small sample: not the promise itself); needed:
    accepted calibration examples without an error that any certificate needs.
    """

    name = "certified"
    place = 90
    needs = "thresholds in the config"
    files = {"certified.csv": "thresholds whose risk is certified for new examples"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple, list[tuple]] = {}

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        return bool(results.config.thresholds)

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            if len(prediction) >= 2 and not np.isnan(prediction.certainty).any():
                for risk, *outcome in _outcomes(result, prediction):
                    key = (cell.dataset, cell.method, cell.variant, view, risk)
                    self._found.setdefault(key, []).append(tuple(outcome))
        yield from ()

    def items(self) -> Iterator[Item]:
        rows = [_over_splits(key, outcomes) for key, outcomes in self._found.items()]
        if rows:
            yield Table("certified.csv", HEADER, rows)


def _over_splits(key: tuple, outcomes: list[tuple]) -> tuple:
    """One row of the table: a view and risk."""
    thresholds, coverage, observed, needed, size = zip(*outcomes, strict=True)
    kept = [threshold for threshold in thresholds if threshold is not None]
    broken = sum(o > key[-1] for o in observed if o == o)
    threshold = float(np.mean(kept)) if kept else float("nan")  # it may be infinite: an sd of 0
    means = (threshold, *(mean_and_sd(values)[0] for values in (coverage, observed)))
    return (*key, DELTA, len(outcomes), len(kept), *means, broken, needed[0], min(size))


def _outcomes(result: CellResult, prediction: Prediction) -> Iterator[tuple]:
    """(risk, threshold or None, coverage, observed risk, needed, calibration rows) of a view of a cell."""
    correct = np.asarray(prediction.labels == result.truth)
    rng = stable_generator("certified", result.cell.dataset, result.cell.split)
    order = rng.permutation(len(correct))
    half, rest = np.array_split(order, 2)
    certainty = prediction.certainty
    for risk in RISKS:
        grid = threshold_grid(certainty[rest], len(half), risk, DELTA)
        point = certify(certainty[half], correct[half], grid, risk, DELTA)
        if point.threshold is None:
            yield risk, None, 0.0, float("nan"), point.minimum, len(half)
            continue
        accepted = certainty[rest] >= point.threshold
        wrong = np.mean(~correct[rest][accepted]) if accepted.any() else np.nan
        yield risk, point.threshold, float(np.mean(accepted)), float(wrong), point.minimum, len(half)
