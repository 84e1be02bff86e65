"""Tables with a row for each cell or part of one: metrics, times, inner selection, failures, dropped rows."""

from collections.abc import Iterator, Mapping
from itertools import groupby

import numpy as np

from confml.measures import Metric, known_metrics
from confml.plugins.parameters import parameters_text
from confml.report.files import batched, field, number_columns
from confml.report.items import Item, Lines, Table, TableKind
from confml.report.numbers.metric_rows import COLUMNS
from confml.report.numbers.parameter_columns import PREFIX, parameter_columns, values_of
from confml.report.numbers.summaries import TIME_METRICS
from confml.report.run.cells import cell_order
from confml.report.sections.base import Section
from confml.report.sections.regions import region_paths
from confml.runner.results import CellResult

MOST_TOGETHER = 50  # cells whose equal numbers are written once
_CELL = ("dataset", "method", "params", "split")
TIMINGS = TableKind(
    "timings.csv",
    "dataset method params split fit_seconds predict_seconds tuning_seconds configurations prepare_seconds",
    read=True,
)
TUNING = TableKind(
    "tuning.csv",
    "dataset method params split select_by candidate chosen mean sd folds fold_scores",
    read=True,
)
FAILURES = TableKind("failures.csv", "dataset method params split error calls", read=True)


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
        for names, cells in groupby(self.results.metrics.cells, key=lambda one: one.names):
            fields = [",".join(map(field, name)) for name in names]  # with view and level
            for some in batched(cells, MOST_TOGETHER):
                values = np.array([one.values for one in some]).reshape(len(some), len(names))
                texts = number_columns(values.T) if len(names) else [[]] * len(some)
                for one, own in zip(some, texts, strict=True):
                    cell = one.cell
                    key = ",".join(map(field, (cell.dataset, cell.method, cell.variant, cell.split)))
                    rest = "".join(f",{field(value)}" for value in values_of(cell, columns))
                    for name, value in zip(fields, own, strict=True):
                        yield f"{key},{name},{value}{rest}"


class Timings(Section):
    """``timings.csv``: seconds of fits, predictions and inner selection on one thread.

    configurations: number of grid points in the inner selection, each fitted on every inner fold.
    prepare_seconds: part of fit_seconds that is spent once per training part, for any grid.
    """

    name = "timings"
    place = 20
    files = {"timings.csv": "seconds of fit, prediction and inner selection"}
    metrics = {"timings.csv": TIME_METRICS}

    def start(self) -> None:
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> None:
        cell, tuning = result.cell, result.tuning
        self._rows.append(
            (
                *(cell.dataset, cell.method, cell.variant, cell.split),
                *(result.views.fit_seconds, result.views.predict_seconds),
                tuning.get("seconds") if tuning else None,
                len(tuning["scores"]) if tuning else None,
                result.views.prepare_seconds,
            )
        )

    def items(self) -> Iterator[Item]:
        yield TIMINGS.of(self._rows)


class Tuning(Section):
    """``tuning.csv``: one row per grid point, with its inner scores, and whether it was chosen.

    mean, sd: of the scores of the inner folds; ``fold_scores`` lists these, separated by ``;``. Empty if the
    point failed on a fold.
    """

    name = "tuning"
    place = 30
    needs = "a method with tune:"
    files = {"tuning.csv": "scores of inner cross-validation, and the chosen parameters"}

    def start(self) -> None:
        self._rows: list[tuple] = []

    def add(self, result: CellResult) -> None:
        if result.tuning:
            cell, chosen = result.cell, result.tuning["chosen"]
            for point in result.tuning["scores"]:
                self._rows.append(
                    (
                        *(cell.dataset, cell.method, cell.variant, cell.split, result.tuning["select_by"]),
                        parameters_text(point["params"]),
                        dict(point["params"]) == dict(chosen),
                        *(point["mean"], point["sd"], len(point["folds"])),
                        ";".join(map(field, point["folds"])),
                    )
                )

    def items(self) -> Iterator[Item]:
        yield TUNING.of(self._rows)


class Failures(Section):
    """``failures.csv``: failed cells with the reason, and the calls that led to an error of a method."""

    name = "failures"
    place = 50
    files = {"failures.csv": "cells that failed, with the reason"}

    def items(self) -> Iterator[Item]:
        rows = [
            (
                failure.cell.dataset,
                failure.cell.method,
                failure.cell.variant,
                failure.cell.split,
                failure.error,
                failure.calls,
            )
            for failure in sorted(self.results.failures, key=lambda failure: cell_order(failure.cell))
        ]
        yield FAILURES.of(rows)


class Dropped(Section):
    """One file for every finished cell whose steps removed rows or features; counts are in ``metrics.csv``.

    ``what,name``: ``row`` and its number, counted as in the region tables, or ``attribute`` and its name.
    """

    name = "dropped"
    place = 120
    needs = "steps that remove training rows or features"
    files = {"dropped": "training rows and features that steps removed"}

    def add(self, result: CellResult) -> Iterator[Item]:
        rows = [("row", str(row)) for row in result.dropped_rows.tolist()]
        rows += [("attribute", name) for name in result.dropped_attributes]
        if rows:
            yield Table(f"dropped/{region_paths(self.results)[result.cell.key]}.csv", ("what", "name"), rows)
