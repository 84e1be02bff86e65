"""Measures of predictions: each file of this package defines one `Measure`, registered in `MEASURES`.

To add a measure, write ``measures/mine.py`` with a ``MEASURE`` and add it to `MEASURES`. Its metrics then
appear in ``metrics.csv`` and the summaries of every run, old ones included, because measures are computed
from stored scores. Each metric is declared with its better direction (`Metric`). ``rows`` yields its values
for one `Case`.
"""

from collections.abc import Sequence

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
from confml.measures.case import Case
from confml.measures.context import Context
from confml.measures.measure import Measure, Row
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction

_MODULES = (point, regions, selective, validity, efficiency, martingales, novelty, confusion, calibration)
MEASURES: tuple[Measure, ...] = tuple(module.MEASURE for module in (*_MODULES, entropies, costs))


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
    return [row for measure in MEASURES for row in measure.rows(case)]
