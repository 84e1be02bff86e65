"""``online/``: an online pass step by step."""

from collections.abc import Iterator, Sequence

import numpy as np

from confml.measures import Case
from confml.measures.martingales import power_martingale, simple_mixture
from confml.measures.p_values import is_online
from confml.report.files import column_lines, field, numbers
from confml.report.run.cells import view_ending
from confml.report.run.results import RunResults, Variant
from confml.report.tables.p_values import COUNT_COLUMNS, count_columns
from confml.report.tables.table import CellFiles


def is_online_run(run: RunResults) -> bool:
    return run.config.protocol.kind == "online"


def files(variant: Variant) -> Iterator[tuple[str, Iterator[str]]]:
    for view, splits in variant.views.items():
        for result, case in splits:
            if is_online(case.prediction):
                path = f"{variant.run.region_paths[result.cell.key]}{view_ending(view, result.views)}"
                yield path, column_lines([step_table(case, result.rows, variant.run.config.levels)])


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
    smoothed = case.smoothed
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


TABLE = CellFiles("online", "every step of an online pass", files, needs="protocol: {kind: online}")
