"""`Material`: the numbers of one run that its page shows, collected while the sections write their files."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from confml.report.answers.standings import Line, Standings
from confml.report.items import Grid, Item, Note, Picture, Table, TableKind
from confml.report.numbers.variant_numbers import ViewKey
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults
from confml.runner.plan import Cell

KEY_COLUMNS = ("dataset", "method", "params", "view")


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
    """The numbers of a run for its page.

    results: the run. tables: those that the page reads, by path. grids: by title. paths: of all items and
    their folders. notes: as the sections yield them. pictures: the figures that were drawn. views: by data
    set, method, params and view, in the order of the CSV files.
    """

    def __init__(self, results: RunResults, run: str = ""):
        self.results, self.run = results, run
        self.tables: dict[str, Table] = {}
        self.grids: dict[str, Grid] = {}
        self.paths: set[str] = set()
        self.notes: list[str] = []
        self.pictures: list[Picture] = []
        self.cells = results.ordered_cells
        self._indexed: dict[str, dict[Any, list[Sequence[Any]]]] = {}  # rows by data set

    @functools.cached_property
    def views(self) -> dict[ViewKey, ViewData]:
        """The views of the run with test examples, once its cells are read."""
        found: dict[ViewKey, ViewData] = {}
        for metrics in self.results.metrics.cells:
            cell = metrics.cell
            for view in metrics.views:
                error = metrics.value(view, "error", None)
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

    def see(self, item: Item) -> None:
        """Keep a table, a note or a picture that a section has yielded."""
        path = getattr(item, "path", "")
        self.paths |= {path, path.partition("/")[0]}
        if isinstance(item, Table):
            if item.read:
                self.tables[item.path] = replace(item, rows=list(item.rows))
        elif isinstance(item, Grid):
            self.grids[item.title] = item
        elif isinstance(item, Note):
            self.notes.append(item.text)
        elif isinstance(item, Picture):
            self.pictures.append(item)

    def rows_of(self, kind: TableKind, of: str | ViewData | None = None) -> list[Mapping[str, Any]]:
        """Return the rows of a section's table as mappings; none without it. of: a data set, or a view."""
        path = kind.path
        if path not in self.tables:
            return []
        table = self.tables[path]
        if path not in self._indexed:
            own: dict[Any, list[Sequence[Any]]] = {}
            place = list(table.header).index("dataset") if "dataset" in table.header else None
            for row in table.rows:
                own.setdefault(None if place is None else row[place], []).append(row)
            self._indexed[path] = own
        by_dataset = self._indexed[path]
        dataset = of.dataset if isinstance(of, ViewData) else of
        parts = by_dataset.values() if dataset is None else [by_dataset.get(dataset, [])]
        found: list[Mapping[str, Any]] = [
            dict(zip(table.header, row, strict=True)) for rows in parts for row in rows
        ]
        if isinstance(of, ViewData):
            found = [row for row in found if tuple(row[name] for name in KEY_COLUMNS) == of.key]
        return found

    def by_method(self, kind: TableKind, dataset: str) -> dict[str, list[Mapping[str, Any]]]:
        """Return the rows of a section's table on a data set by the label of their method."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in self.rows_of(kind, dataset):
            found.setdefault(self._labels[row["method"], row["params"]], []).append(row)
        return found

    @functools.cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        return {(cell.method, cell.variant): self.label(cell) for cell in self.cells}

    def label(self, cell: Cell, view: str = "") -> str:
        """Return the label of the method of a cell, with the view and the run."""
        return with_details(self.results.label(cell), view, self.run)
