"""Measures of predictions: each file of this package defines one `Measure`, registered in `MEASURES`.

To add a measure, write ``measures/mine.py`` with a ``MEASURE`` and add it to `MEASURES`. Its metrics then
appear in ``metrics.csv`` and the summaries of every run, old ones included, because measures are computed
from stored scores. Each metric is declared with its better direction (`Metric`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confml.measures import (
    calibration,
    conditional,
    confusion,
    decomposition,
    efficiency,
    martingales,
    novelty,
    point,
    ranking,
    regions,
    selective,
    validity,
    venn,
)
from confml.measures._case import Case, Context, Measure, Row
from confml.measures.block import Block
from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction

MEASURES: tuple[Measure, ...] = (
    *(point.MEASURE, regions.MEASURE, selective.MEASURE),
    *(validity.MEASURE, efficiency.MEASURE, martingales.MEASURE, novelty.MEASURE),
    *(confusion.MEASURE, ranking.MEASURE, calibration.MEASURE),
    *(decomposition.MEASURE, venn.MEASURE, conditional.MEASURE),
)


def known_metrics() -> dict[str, Metric]:
    """Return the declaration of every metric of a prediction by name, in the order of ``metrics.csv``."""
    return {name: metric for measure in MEASURES for name, metric in measure.metrics.items()}


def evaluate(
    prediction: Prediction,
    truth: np.ndarray,
    levels: Sequence[float] = (),
    thresholds: Sequence[float] = (),
    context: Context | None = None,
) -> list[Row]:
    """Return every metric of one view on one test part with true labels (n,).

    levels: significance levels of regions. thresholds: acceptance thresholds of the reject option. The
    ``level`` of a row is one of these. An undefined value (an empty test part, no region with one label) is
    NaN. Raises ValueError if ``truth`` and the prediction differ in length.
    """
    return rows_of(Case(prediction, truth, tuple(levels), tuple(thresholds), context or Context()))


def rows_of(case: Case) -> list[Row]:
    """Return every metric of a case, as `evaluate` does."""
    return [row for measure in MEASURES for row in measure.compute(case)]


def metrics_of(block: Block) -> tuple[list[tuple[str, float | None]], np.ndarray] | None:
    """Return metric and level of each number, and the numbers (s, m), as `rows_of` does.

    None if a measure has no numbers of blocks, or other names for different cases.
    """
    names, columns = [], []
    for measure in MEASURES:
        if measure.compute_block is None:
            return None
        for column in measure.compute_block(block):
            names.append((column.metric, column.level))
            columns.append(column.values)
    return names, np.stack(columns, axis=1)


__all__ = [
    "MEASURES",
    "Case",
    "Context",
    "Measure",
    "Metric",
    "Prediction",
    "Row",
    "evaluate",
    "known_metrics",
    "metrics_of",
    "rows_of",
]
