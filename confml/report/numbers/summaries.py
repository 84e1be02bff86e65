"""Metrics of finished cells, and their means over the splits."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from confml.measures import Metric
from confml.measures.metric import OWN
from confml.runner.plan import Cell

TIME_METRICS = {
    "training_seconds": Metric(
        "seconds of the inner selection and the final fit",
        "lower",
        "fit_seconds + tuning_seconds",
        OWN,
        unit="seconds",
    ),
    "seconds_per_configuration": Metric(
        "training seconds of one point of the grid, preparation included",
        "lower",
        "prepare_seconds + (training_seconds - prepare_seconds) / configurations",
        "van den Burg and Hero 2017, table 4",
        heading="training seconds per configuration",
        unit="seconds",
    ),
}
"""Declarations of what `training_times` returns."""
DATA_METRICS = {
    "rows": Metric("number of rows of the data set", None, "n", OWN),
    "attributes": Metric("number of features of the data set", None, "d", OWN),
    "classes": Metric("number of classes of the data set", None, "c", OWN),
    "smallest_class": Metric(
        "number of rows of the smallest class", None, "min over c of #{i: y_i = c}", OWN
    ),
    "largest_class": Metric("number of rows of the largest class", None, "max over c of #{i: y_i = c}", OWN),
}
"""Declarations of the numbers of data sets."""


MetricName = tuple[str, str, float | None]
"""View, metric and level. The view is empty for a method's own quantities."""


class CellMetrics(NamedTuple):
    """The metrics of one cell in the order of ``metrics.csv``."""

    cell: Cell
    values: Mapping[MetricName, float]

    @property
    def views(self) -> list[str]:
        """Names of the views."""
        return [view for view in dict.fromkeys(view for view, _, _ in self.values) if view]


class SummaryRow(NamedTuple):
    """One metric over the splits: mean and sd (denominator n - 1; NaN for n < 2) of its n defined values."""

    dataset: str
    method: str
    params: Mapping[str, Any]
    variant: str
    view: str
    metric: str
    level: float | None
    mean: float
    sd: float
    n: int


def summarise(cells: Sequence[CellMetrics]) -> list[SummaryRow]:
    """Return means over the splits, in the order in which metrics first appear in the cells."""
    variants: dict[tuple[str, str, str], list[CellMetrics]] = {}
    for metrics in cells:
        cell = metrics.cell
        variants.setdefault((cell.dataset, cell.method, cell.variant), []).append(metrics)
    summary = []
    for (dataset, method, variant), splits in variants.items():
        values: dict[MetricName, list[float]] = {}
        for split in splits:
            for name, value in split.values.items():
                values.setdefault(name, []).append(value)
        params = splits[0].cell.params
        summary += [
            SummaryRow(dataset, method, params, variant, view, metric, level, *mean_and_sd(sample))
            for (view, metric, level), sample in values.items()
        ]
    return summary


def mean_and_sd(values: Sequence[float]) -> tuple[float, float, int]:
    """Return (mean, sd with denominator n - 1, n) of the values that are not NaN; NaN if undefined.

    The mean is infinite if one of the values is, unless both signs occur.
    """
    if not math.isfinite(sum(values)):
        values = [value for value in values if not math.isnan(value)]
        infinite = {value for value in values if math.isinf(value)}
        if infinite:
            return (infinite.pop() if len(infinite) == 1 else math.nan), math.nan, len(values)
    n = len(values)
    if n == 0:
        return math.nan, math.nan, 0
    mean = math.fsum(values) / n
    sd = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / (n - 1)) if n > 1 else math.nan
    return mean, sd, n


def training_times(fit: float, tuning: float, configurations: int, prepare: float) -> dict[str, float]:
    """Return training times in seconds from the columns of ``timings.csv``.

    ``training_seconds``: the inner selection and the final fit. ``seconds_per_configuration``: time of one
    point of the grid on all inner folds, plus the whole preparation (van den Burg and Hero 2017, table 4).
    """
    total = fit + tuning
    return {
        "training_seconds": total,
        "seconds_per_configuration": prepare + (total - prepare) / max(configurations, 1),
    }
