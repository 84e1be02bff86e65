"""`Measure`: the metrics of one file and the function that computes them for the cases of a block."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from confml.measures.block import Block
from confml.measures.case import Case
from confml.measures.metric import Metric


class Row(NamedTuple):
    """One value of a metric at one level; NaN if undefined.

    level: significance level of a region metric, threshold of an acceptance metric, None for other metrics.
    """

    metric: str
    level: float | None
    value: float


class Column(NamedTuple):
    """One metric of every case (s,) of a block. present: (s,) cases that have the metric; None for all."""

    metric: str
    level: float | None
    values: np.ndarray
    present: np.ndarray | None = None


@dataclass(frozen=True)
class Measure:
    """The metrics of one file: ``metrics`` declares them, ``compute`` returns their columns for a block.

    A case alone is a block of one. A function of one case becomes ``compute`` by `each_case`, which calls it
    for each case of a block.
    """

    metrics: Mapping[str, Metric]
    compute: Callable[[Block], Iterable[Column]]

    def __post_init__(self):
        named = {key: metric.named(key) for key, metric in self.metrics.items()}
        object.__setattr__(self, "metrics", named)


def each_case(rows: Callable[[Case], Iterable[Row]]) -> Callable[[Block], Iterator[Column]]:
    """Return the function of a block that calls ``rows`` for each of its cases, with their levels."""

    def compute(block: Block) -> Iterator[Column]:
        found: dict[tuple[str, float | None], tuple[np.ndarray, np.ndarray]] = {}
        for number, one in enumerate(block.cases):
            case = replace(one, levels=block.levels, thresholds=block.thresholds)
            for metric, level, value in rows(case):
                if (metric, level) not in found:
                    found[metric, level] = np.full(len(block), np.nan), np.zeros(len(block), dtype=bool)
                values, present = found[metric, level]
                values[number], present[number] = value, True
        for (metric, level), (values, present) in found.items():
            yield Column(metric, level, values, None if present.all() else present)

    return compute


def undefined(block: Block, metrics: Iterable[str]) -> Iterator[Column]:
    """Yield the metrics as NaN for every case of a block."""
    for metric in metrics:
        yield Column(metric, None, np.full(len(block), np.nan))
