"""Metrics of finished cells, and their means over the splits."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from confml._json import from_json
from confml.measures import Metric
from confml.measures.metric import OWN
from confml.plugins.parameters import parameters_text
from confml.report.files import read_csv
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
CONFIGURATIONS = "configurations"
DATA_METRICS = {
    "rows": Metric("number of rows of the data set", None, "n", OWN),
    "attributes": Metric("number of features of the data set", None, "d", OWN),
    "classes": Metric("number of classes of the data set", None, "c", OWN),
    "smallest_class": Metric(
        "number of rows of the smallest class", None, "min over c of #{i: y_i = c}", OWN
    ),
    "largest_class": Metric("number of rows of the largest class", None, "max over c of #{i: y_i = c}", OWN),
}
"""Declarations of the numbers of `dataset_rows`."""


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


def timing_rows(path: Path, summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return `training_times` from a ``timings.csv``, as means over the splits, for the cells of a summary.

    The number of points of the grid is there too, as the metric `CONFIGURATIONS`.
    They are not in ``summary.csv``, because its bytes must repeat.
    """
    values: dict[tuple, list[float]] = {}
    for key, line in lines_of_variants(path, summary):
        names = ("fit_seconds", "tuning_seconds", "configurations", "prepare_seconds")
        fit, tuning, configurations, prepare = (float(line.get(name) or 0) for name in names)
        times = training_times(fit, tuning, int(configurations), prepare)
        for metric, value in {**times, CONFIGURATIONS: configurations}.items():
            values.setdefault((*key, "", metric, None), []).append(value)
    return _with_params({key: mean_and_sd(sample) for key, sample in values.items()}, summary)


def table_rows(path: Path, summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return the rows of a table with metrics for the variants of a summary; none without a file.

    It has mean, sd and n, or the value of each split.
    """
    values: dict[tuple, list[float]] = {}
    moments: dict[tuple, tuple[float, float, int]] = {}
    for key, line in lines_of_variants(path, summary):
        name = (*key, line["view"], line["metric"], float(line["level"]) if line["level"] else None)
        if "value" in line:
            values.setdefault(name, []).append(float(line["value"] or "nan"))
        else:
            moments[name] = float(line["mean"] or "nan"), float(line["sd"] or "nan"), int(line["n"])
    return _with_params(moments | {name: mean_and_sd(sample) for name, sample in values.items()}, summary)


def lines_of_variants(
    path: Path, summary: Sequence[SummaryRow]
) -> Iterator[tuple[tuple[str, str, str], dict[str, str]]]:
    """Yield data set, method and packed parameters, and the line, of variants of a summary in a CSV file."""
    variants = {(row.dataset, row.method, row.variant) for row in summary}
    for line in read_csv(path):
        key = line["dataset"], line["method"], line["params"]
        if key in variants:
            yield key, line


def _with_params(
    moments: Mapping[tuple, tuple[float, float, int]], summary: Sequence[SummaryRow]
) -> list[SummaryRow]:
    """Return rows with the parameters of a summary.

    moments: mean, sd and n by data set, method, packed parameters, view, metric and level.
    """
    params = {(row.dataset, row.method, row.variant): row.params for row in summary}
    return [SummaryRow._make((*key[:2], params[key[:3]], *key[2:], *stats)) for key, stats in moments.items()]


def dataset_rows(datasets: Iterable[Mapping[str, Any]]) -> list[SummaryRow]:
    """Return the numbers of data sets as rows of the method ``data``: rows, attributes, classes,
    smallest_class, largest_class."""
    return [
        SummaryRow(info["name"], "data", {}, "", "", metric, None, float(info[metric]), math.nan, 1)
        for info in datasets
        for metric in DATA_METRICS
        if info.get(metric) is not None  # older runs did not store these
    ]


def read_datasets(path: Path) -> list[dict[str, Any]]:
    """Return the data sets of a ``summary.json``."""
    return from_json(path.read_bytes())["datasets"]


def read_summary(path: Path) -> list[SummaryRow]:
    """Return the rows of a ``summary.json``, for tables of several runs."""
    rows = from_json(path.read_bytes())["summary"]
    for row in rows:
        row["variant"] = parameters_text(row["params"])
        row |= {key: math.nan for key in ("mean", "sd") if row[key] is None}
    return [SummaryRow(**row) for row in rows]
