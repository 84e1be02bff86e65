"""Bounds of Venn predictors and frequencies of the classes: ``venn-bounds.csv``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confml.measures.prediction import per_class_extra
from confml.report.items import Item, Table
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.runner.results import CellResult

HEADER = ("dataset", "method", "params", "view", "class", "rows", "lower", "frequency", "upper")


class VennBounds(Section):
    """Mean lower and upper probability of each class, and its frequency, over all splits.

    ``rows``: number of predictions, of all classes. ``lower`` and ``upper``: means of the bounds over them.
    ``frequency``: share of them whose true label is the class. In expectation the frequency lies between
    ``lower`` and ``upper`` for ``venn-knn`` and ``venn: inductive``, if training and test rows are
    exchangeable; ``venn: cross`` has no such guarantee. On one test part the frequency varies by chance.
    """

    name = "venn-bounds"
    place = 58
    needs = "Venn predictors"
    files = {"venn-bounds.csv": "mean lower and upper probability of each class, and its frequency"}

    def __init__(self, results: RunResults, folder: Path):
        super().__init__(results, folder)
        self._sums: dict[tuple[str, str, str, str], dict[Any, np.ndarray]] = {}

    def add(self, result: CellResult) -> Iterator[Item]:
        cell = result.cell
        for view, prediction in result.views.items():
            if per_class_extra(prediction) == ["lower", "upper"] and len(prediction):
                sums = self._sums.setdefault((cell.dataset, cell.method, cell.variant, view), {})
                lower, upper = (prediction.extra[name].sum(axis=0) for name in ("lower", "upper"))
                for j, label in enumerate(prediction.classes.tolist()):
                    own = np.count_nonzero(result.truth == label)
                    added = np.array([len(prediction), lower[j], own, upper[j]])
                    sums[label] = sums.get(label, 0.0) + added
        yield from ()

    def items(self) -> Iterator[Item]:
        rows = [
            (*key, label, int(n), lower / n, own / n, upper / n)
            for key, sums in self._sums.items()
            for label, (n, lower, own, upper) in sorted(sums.items())
        ]
        if rows:
            yield Table("venn-bounds.csv", HEADER, rows)
