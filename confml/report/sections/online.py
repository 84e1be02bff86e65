"""``online/<data set>/<method variant>/<split>.csv``: an online pass step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from confml.measures import Case
from confml.measures.martingales import is_online, power_martingale, simple_mixture
from confml.measures.validity import required_smoothed_p_values
from confml.report.files import field, numbers
from confml.report.sections.base import Columns, Item, Section
from confml.report.sections.regions import region_paths, view_ending
from confml.report.sections.true_p_values import COUNT_COLUMNS, count_columns

if TYPE_CHECKING:
    from confml.runner.results import CellResult


class Online(Section):
    """``online/<data set>/<method variant>/<split>.csv``: an online pass step by step."""

    name = "online"
    place = 110
    needs = "protocol: {kind: online}"
    files = {"online": "every step of an online pass"}

    def add(self, result: CellResult) -> Iterator[Item]:
        for view, prediction in result.views.items():
            case = Case(prediction, result.truth)
            if is_online(case):
                name = region_paths(self.results)[result.cell.key]
                path = f"online/{name}{view_ending(view, result.views)}"
                header, columns = step_table(case, result.rows, self.results.config.levels)
                yield Columns(path, header, columns)


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
