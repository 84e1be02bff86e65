"""`Material`: the numbers of one run that its page shows."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from confml.report.answers.standings import Line, Standings
from confml.report.report import Report
from confml.report.run.cells import with_details
from confml.report.run.results import ViewKey
from confml.runner.plan import Cell


@dataclass
class ViewData:
    """One view of one method variant on one data set. label: with the view, if the method has several, and
    the run. errors: error rate by split."""

    key: ViewKey
    label: str
    run: str
    errors: dict[str, float] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        return self.key[0]


class Material:
    """The numbers of a run for its page, from its report.

    run: name of the run on a page of several. views: by data set, method, params and view, in the order of
    the CSV files.
    """

    def __init__(self, report: Report, run: str = ""):
        self.report, self.results, self.run = report, report.run, run
        self.cells = report.run.ordered_cells

    @functools.cached_property
    def views(self) -> dict[ViewKey, ViewData]:
        """The views of the run with test examples, once its cells are read."""
        found: dict[ViewKey, ViewData] = {}
        for metrics in self.results.metrics:
            cell = metrics.cell
            for view in metrics.views:
                error = metrics.values.get((view, "error", None))
                if error is None or math.isnan(error):
                    continue
                key = (cell.dataset, cell.method, cell.variant, view)
                if key not in found:
                    label = self.label(cell, view if len(metrics.views) > 1 else "")
                    found[key] = ViewData(key, label, self.run)
                found[key].errors[cell.split] = error
        return found

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    def number_of_splits(self, dataset: str) -> int:
        """Return the number of splits of a data set with results."""
        return len({split for view in self.of_dataset(dataset) for split in view.errors})

    def of_dataset(self, dataset: str) -> list[ViewData]:
        """Return the views of a data set."""
        return [one for one in self.views.values() if one.dataset == dataset]

    def missing(self, dataset: str) -> list[str]:
        """Return the labels of the methods of the config without results on a data set."""
        known = {key[:3] for key in self.views}
        cells = [one for one in self.cells if one.dataset == dataset]
        labels = [self.label(one) for one in cells if (one.dataset, one.method, one.variant) not in known]
        return list(dict.fromkeys(labels))

    def line(self, view: ViewData) -> Line:
        """Return the line of a view in the `Standings` of the runs of the page."""
        return Standings.line(self.run, self.results, self._first_cells[view.key[:3]], view.key[3])

    @functools.cached_property
    def _first_cells(self) -> dict[tuple[str, str, str], Cell]:
        return {(one.dataset, one.method, one.variant): one for one in reversed(self.cells)}

    def by_method(self, path: str, dataset: str) -> dict[str, list[Mapping[str, Any]]]:
        """Return the rows of a table on a data set by the label of their method."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in self.report.dicts(path, dataset=dataset):
            found.setdefault(self._labels[row["method"], row["params"]], []).append(row)
        return found

    @functools.cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        return {(cell.method, cell.variant): self.label(cell) for cell in self.cells}

    def label(self, cell: Cell, view: str = "") -> str:
        """Return the label of the method of a cell, with the view and the run."""
        return with_details(self.results.label(cell), view, self.run)
