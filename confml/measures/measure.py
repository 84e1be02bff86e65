"""`Measure`: the metrics of one file, and the function that computes them for one case."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from confml.measures.case import Case
from confml.measures.metric import Metric


class Row(NamedTuple):
    """One value of a metric at one level; NaN if undefined.

    level: significance level of a region metric, threshold of an acceptance metric, None for other metrics.
    """

    metric: str
    level: float | None
    value: float


@dataclass(frozen=True)
class Measure:
    """The metrics of one file: ``metrics`` declares them, ``rows`` returns their values for one case."""

    metrics: Mapping[str, Metric]
    rows: Callable[[Case], Iterable[Row]]

    def __post_init__(self):
        named = {key: metric.named(key) for key, metric in self.metrics.items()}
        object.__setattr__(self, "metrics", named)


def ratio(part: float, whole: float) -> float:
    """Return part / whole; NaN for a whole of 0."""
    return part / whole if whole else float("nan")
