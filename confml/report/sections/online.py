"""``online/<data set>/<method variant>/<split>.csv``: an online pass step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from confml.measures import Case
from confml.measures.martingales import learnt_examples, power_martingale, simple_mixture
from confml.measures.p_values import has_delay, is_online, required_smoothed_p_values
from confml.report.files import field, numbers
from confml.report.items import Columns, Item
from confml.report.sections.base import Section
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
    mixture and the power martingale; and the counts of the p-value (`count_columns`). With labels that arrive
    later, also ``learnt_place``, the row's place in the order of learning from 1; ``learnt_after``, the
    number of rows predicted by then; and ``p_learnt``, its smoothed p-value against the rows learnt before.
    The martingales are those of ``p_learnt`` up to this place. These five are empty for rows that are not
    learnt before the end.
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
    learnt = learnt_examples(case)
    assert learnt is not None  # an online pass with counts
    if has_delay(case):
        header += ["learnt_place", "learnt_after", "p_learnt"]
        places = [str(place) for place in range(1, len(learnt.p) + 1)]
        for fields in (places, _whole(learnt.predicted), numbers(learnt.p)):
            columns.append(_at(learnt.positions, fields, len(case.truth)))
    header += ["log10_mixture_martingale", "log10_power_martingale"]
    for values in (simple_mixture(learnt.p), power_martingale(learnt.p)):
        columns.append(_at(learnt.positions, numbers(values), len(case.truth)))
    return [*header, *COUNT_COLUMNS], [*columns, *count_columns(case)]


def _at(positions: np.ndarray, fields: Sequence[str], rows: int) -> list[str]:
    """Return a column of ``rows`` fields with the given ones at ``positions``; the others are empty."""
    column = [""] * rows
    for position, text in zip(positions.tolist(), fields, strict=True):
        column[position] = text
    return column


def _whole(values: np.ndarray) -> list[str]:
    return [str(value) for value in np.asarray(values).tolist()]
