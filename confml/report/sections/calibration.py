"""Calibration of probabilities, its value by chance, slope and intercept: ``calibration.csv``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

from confml.measures.prediction import SHARES
from confml.measures.recalibration import split_values
from confml.report.calibration_parts import case_of
from confml.report.items import Item, Table
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

MOST_SPLITS = 20
HEADER = (
    *("dataset", "method", "params", "view", "splits", "rows", "ece", "ece_null", "ece_null_95", "above"),
    *("slope_splits", "slope", "intercept", "intercept_large", "clipped"),
)


class Calibration(Section):
    """Calibration of each view with probabilities or vote shares, as means over its first 20 splits.

    ``rows``: test rows of these splits. ``ece``: expected calibration error of the largest probability.
    ``ece_null`` and ``ece_null_95``: its mean and 95 % quantile if the probabilities were calibrated, from
    200 draws of outcomes with these probabilities (random seed 0). An ``ece`` near ``ece_null`` is no sign of
    miscalibration; ``above`` counts the splits whose error exceeds the quantile (5 % of the splits do so by
    chance). With ``groups`` the three are empty, because the rows of a group are dependent.

    ``slope``, ``intercept``: logistic regression of the outcome on the logit of the probability, of the
    second of two classes, and with more classes of a correct prediction. A slope below 1 means
    overconfidence. ``intercept_large``: intercept with slope 1, above 0 if events are more frequent than
    predicted. They are medians over ``slope_splits`` splits: outcomes that are all equal, or separated by the
    probabilities, have no slope. ``clipped``: number of probabilities per split moved to 1/(2n) or 1 -
    1/(2n) for the logit.
    """

    name = "calibration"
    place = 57
    needs = "probabilities or vote shares"
    files = {"calibration.csv": "calibration error and its value by chance, calibration slope and intercept"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._found: dict[tuple[str, str, str, str], list[dict[str, float]]] = {}

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            if prediction.kind in SHARES and len(prediction):
                found = self._found.setdefault((cell.dataset, cell.method, cell.variant, view), [])
                if len(found) < MOST_SPLITS:
                    values = split_values(case_of(result, prediction))
                    if self.results.has_groups(cell.dataset):
                        values |= {"ece_null": math.nan, "ece_null_95": math.nan}
                    found.append({"rows": len(prediction), **values})
        yield from ()

    def items(self) -> Iterator[Item]:
        rows = [(*key, *_means(found)) for key, found in self._found.items()]
        if rows:
            yield Table("calibration.csv", HEADER, rows)


def _means(found: list[dict[str, float]]) -> Iterator[float]:
    """Yield the columns from ``splits`` on."""
    yield len(found)
    yield sum(int(one["rows"]) for one in found)
    for name in ("ece", "ece_null", "ece_null_95"):
        yield fmean(one[name] for one in found)
    known = any(not math.isnan(one["ece_null_95"]) for one in found)
    yield sum(one["ece"] > one["ece_null_95"] for one in found) if known else math.nan
    fits = [one for one in found if not math.isnan(one["slope"])]
    yield len(fits)
    for name in ("slope", "intercept"):
        yield _six_digits([one[name] for one in fits])
    yield _six_digits([one["intercept_large"] for one in found if not math.isnan(one["intercept_large"])])
    yield fmean(one["clipped"] for one in found)


def _six_digits(values: list[float]) -> float:
    """Return the median to six digits, all that iterative fits have on every machine; NaN without values."""
    return float(f"{median(values):.6g}") if values else math.nan
