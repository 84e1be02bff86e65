"""Every metric of every cell: ``metrics.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from confml.measures import Metric, known_metrics
from confml.report.files import field, numbers
from confml.report.items import Item, Lines
from confml.report.metric_rows import COLUMNS
from confml.report.parameter_columns import PREFIX, parameter_columns, values_of
from confml.report.sections.base import Section


class Metrics(Section):
    """``metrics.csv``: every metric of every cell, one number per row."""

    name = "metrics"
    place = 10
    files = {"metrics.csv": "every metric, one number per row"}

    @classmethod
    def declared_metrics(cls) -> Mapping[str, Mapping[str, Metric]]:
        return {"metrics.csv": known_metrics()}

    def items(self) -> Iterator[Item]:
        yield Lines("metrics.csv", self._lines())

    def _lines(self) -> Iterator[str]:
        columns = parameter_columns(self.results)
        yield ",".join(map(field, (*COLUMNS, *(f"{PREFIX}{name}" for name in columns))))
        names: dict[int, list[str]] = {}  # of the metrics, with view and level; cells share them
        for one in self.results.metrics.cells:
            cell = one.cell
            key = ",".join(map(field, (cell.dataset, cell.method, cell.variant, cell.split)))
            rest = "".join(f",{field(value)}" for value in values_of(cell, columns))
            if id(one.names) not in names:
                names[id(one.names)] = [",".join(map(field, name)) for name in one.names]
            for name, value in zip(names[id(one.names)], numbers(np.asarray(one.values)), strict=True):
                yield f"{key},{name},{value}{rest}"
