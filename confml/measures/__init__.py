"""Measures of predictions: each file of this package defines one `Measure`, registered in `MEASURES`.

To add a measure, write ``measures/mine.py`` with a ``MEASURE`` and add it to `MEASURES`. Its metrics then
appear in ``metrics.csv`` and the summaries of every run, old ones included, because measures are computed
from stored scores. Each metric is declared with its better direction (`Metric`). The function of a measure
takes a `Block`. `each_case` makes it from a function of one `Case`, which is called for each case.
"""

from collections.abc import Sequence
from itertools import compress

import numpy as np

from confml.measures import (
    calibration,
    confusion,
    costs,
    efficiency,
    entropies,
    martingales,
    novelty,
    point,
    regions,
    selective,
    validity,
)
from confml.measures.block import Block
from confml.measures.case import Case, Context
from confml.measures.measure import Measure, Row, each_case
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction

MEASURES: tuple[Measure, ...] = (
    *(point.MEASURE, regions.MEASURE, selective.MEASURE),
    *(validity.MEASURE, efficiency.MEASURE, martingales.MEASURE, novelty.MEASURE),
    *(confusion.MEASURE, calibration.MEASURE),
    *(entropies.MEASURE, costs.MEASURE),
)


def known_metrics() -> dict[str, Metric]:
    """Return the declaration of every metric of a prediction by name, in the order of columns in tables."""
    return {name: metric for measure in MEASURES for name, metric in measure.metrics.items()}


def metrics_in(table: str, per: str = "") -> list[Metric]:
    """Return the metrics with a column in a table (`confml.measures.metric`), of one number per ``per``."""
    return [metric for metric in known_metrics().values() if table in metric.tables and metric.per == per]


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
    ((names, values),) = metrics_of(Block.of(case))
    return [Row(metric, level, value) for (metric, level), value in zip(names, values, strict=True)]


def metrics_of(block: Block) -> list[tuple[tuple[tuple[str, float | None], ...], list[float]]]:
    """Return for each case of a block the metric and level of each number, and the numbers.

    Cases with the same metrics share the names.
    """
    columns = [column for measure in MEASURES for column in measure.compute(block)]
    names = tuple((column.metric, column.level) for column in columns)
    values = np.stack([column.values for column in columns], axis=1).tolist()
    if all(column.present is None for column in columns):
        return [(names, row) for row in values]
    every = np.ones(len(block), dtype=bool)
    present = np.stack([every if one.present is None else one.present for one in columns], axis=1).tolist()
    return [
        (tuple(compress(names, here)), list(compress(row, here)))
        for row, here in zip(values, present, strict=True)
    ]


__all__ = [
    "MEASURES",
    "Case",
    "Context",
    "Measure",
    "Metric",
    "Prediction",
    "Row",
    "each_case",
    "evaluate",
    "known_metrics",
    "metrics_in",
    "metrics_of",
    "rows_of",
]
