"""`RunResults`: the input of a report, and `Variant`, the splits of one method on one data set."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from confml.config import Config
from confml.config.warnings import Warned
from confml.measures import Case, Context, rows_of
from confml.measures.costs import Costs, constant_costs, costs_of
from confml.methods import BASELINE
from confml.report.numbers.summaries import CellMetrics, MetricName, SummaryRow, summarise
from confml.report.run.cells import Failure, cell_order, with_values
from confml.runner.external_files import shown_params
from confml.runner.manifest import DatasetInfo
from confml.runner.origins import RowOrigins
from confml.runner.plan import Cell
from confml.runner.results import CellResult

Value = TypeVar("Value")
ViewKey = tuple[str, str, str, str]
"""Data set, method, packed parameters and view."""


class Split(NamedTuple):
    """One view of a finished cell: its result, and the view with the true labels."""

    result: CellResult
    case: Case


def first_tests(splits: Sequence[Split]) -> list[np.ndarray]:
    """Return the positions of the test rows of each split that no earlier split tests."""
    tested, new = np.empty(0, dtype=np.int64), []
    for result, _ in splits:
        new.append(np.flatnonzero(~np.isin(result.rows, tested)))
        tested = np.union1d(tested, result.rows)
    return new


@dataclass(eq=False)
class Variant:
    """The finished splits of one method variant on one data set, in order."""

    run: "RunResults"
    splits: Sequence[CellResult]

    @property
    def key(self) -> tuple[str, str, str]:
        """Data set, method and packed parameters."""
        cell = self.splits[0].cell
        return cell.dataset, cell.method, cell.variant

    @property
    def dataset(self) -> str:
        return self.splits[0].cell.dataset

    @property
    def label(self) -> str:
        """Name of the method variant in tables."""
        return self.run.label(self.splits[0].cell)

    @cached_property
    def cells(self) -> list[tuple[CellResult, dict[str, Case]]]:
        """Each split, with the cases of its views by name."""
        levels, thresholds = tuple(self.run.config.levels), tuple(self.run.config.thresholds)
        cells = []
        for result in self.splits:
            params = result.cell.params
            context = Context(result.train_rows, result.train_class_counts, params, self.run.costs)
            cases = {
                view: Case(prediction, result.truth, levels, thresholds, context)
                for view, prediction in result.views.items()
            }
            cells.append((result, cases))
        return cells

    @cached_property
    def views(self) -> dict[str, list[Split]]:
        """The splits of each view."""
        views: dict[str, list[Split]] = {}
        for result, cases in self.cells:
            for view, case in cases.items():
                views.setdefault(view, []).append(Split(result, case))
        return views

    def costs_of_constants(self, cases: Mapping[str, Case]) -> dict[tuple[str, str], np.ndarray]:
        """Return the `constant_costs` of one split, as rows of the baseline; none for other methods."""
        case, costs = cases.get("probability"), self.run.costs
        if self.splits[0].cell.method != BASELINE or case is None or costs is None:
            return {}
        return constant_costs(case.truth, case.prediction.classes, costs)


def cell_metrics(variant: Variant) -> list[CellMetrics]:
    """Return every metric of each split: those of `confml.measures`, then those of the method."""
    cells = []
    for result, cases in variant.cells:
        values: dict[MetricName, float] = {}
        for view, case in cases.items():
            values |= {(view, metric, level): value for metric, level, value in rows_of(case)}
        for (name, metric), costs in variant.costs_of_constants(cases).items():
            values[name, metric, None] = float(costs.mean())
        of_method = sorted(result.views.fit_metrics.items())
        values |= {("", metric, None): float(value) for metric, value in of_method}
        cells.append(CellMetrics(result.cell, values))
    return cells


@dataclass(eq=False)
class RunResults:
    """The planned cells of a run in the order of the config, and the results of the finished ones.

    results: results by cell key, read when they are used, one variant at a time. datasets: by name. origins:
    lines and identifiers of the rows of those data sets that have some. warnings: those of the start of the
    run. status: called with a phrase on what a report does at the moment.
    """

    config: Config
    cells: Sequence[Cell]
    results: Mapping[str, CellResult]
    failures: Sequence[Failure] = ()
    datasets: Mapping[str, DatasetInfo] = field(default_factory=dict)
    origins: Mapping[str, RowOrigins] = field(default_factory=dict)
    warnings: Sequence[Warned] = ()
    status: Callable[[str], None] = field(default_factory=lambda: lambda text: None, init=False, repr=False)
    _collected: dict[Callable, list] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def costs(self) -> Costs | None:
        """Costs of decisions, from the config."""
        return None if self.config.costs is None else costs_of(self.config.costs)

    @cached_property
    def ordered_cells(self) -> list[Cell]:
        """The planned cells in the order of the CSV files."""
        return sorted(self.cells, key=cell_order)

    @property
    def done(self) -> int:
        """Number of finished cells."""
        return sum(cell.key in self.results for cell in self.cells)

    @property
    def pending(self) -> list[Cell]:
        """The planned cells that are neither finished nor failed."""
        failed = {failure.cell.key for failure in self.failures}
        return [cell for cell in self.cells if cell.key not in self.results and cell.key not in failed]

    @cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        """Short names of method variants; the full name if two variants would have the same one."""
        short = {
            (cell.method, cell.variant): self.short_label(cell.method, cell.params) for cell in self.cells
        }
        uses = Counter(short.values())
        return {
            (method, variant): label if uses[label] == 1 else f"{method} {variant}".strip()
            for (method, variant), label in short.items()
        }

    def has_groups(self, dataset: str) -> bool:
        """Return whether the rows of a data set are in groups, and therefore not independent."""
        return any(spec.name == dataset and spec.groups for spec in self.config.datasets)

    def label(self, cell: Cell) -> str:
        """Return the name of a cell's method variant in tables and figures, unique in the run."""
        return self._labels[cell.method, cell.variant]

    @cached_property
    def method_places(self) -> dict[str, int]:
        """Number of each method variant by label, in the order of the CSV files: its colour everywhere."""
        labels = dict.fromkeys(map(self.label, self.ordered_cells))
        return {label: number for number, label in enumerate(labels)}

    def short_label(self, method: str, params: Mapping[str, Any]) -> str:
        """Return the config's label for a method variant, or its name and parameters."""
        if (label := self.config_label(method, params)) is not None:
            return label
        name = method.rpartition(".")[2] if method.startswith("sklearn.") else method
        return with_values(name, params)

    def config_label(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Return the config's label for a method variant with its swept parameters, None without a label."""
        for entry in self.config.methods:
            if entry.label and entry.name == method:
                for swept in entry.variants():
                    if shown_params(entry, {**entry.given, **swept}) == dict(params):
                        return with_values(entry.label, swept)
        return None

    def finished(self) -> Iterator[CellResult]:
        """Yield finished cells in the order of the CSV files, which does not depend on the config."""
        return (self.results[cell.key] for cell in self.ordered_cells if cell.key in self.results)

    def variants(self) -> Iterator[Variant]:
        """Yield the finished splits of each method variant and data set, in the order of the CSV files."""
        read = 0
        variant = attrgetter("cell.dataset", "cell.method", "cell.variant")
        for _, results in groupby(self.finished(), key=variant):
            splits = list(results)
            read += len(splits)
            self.status(f"reading fit {read} of {len(self.results)}")
            yield Variant(self, splits)

    def collect(self, *functions: Callable[[Variant], Any]) -> Iterator[Variant]:
        """Yield the variants, and keep what each function returns for them, for `collected`."""
        new = [func for func in dict.fromkeys((cell_metrics, *functions)) if func not in self._collected]
        values: dict[Callable, list] = {function: [] for function in new}
        for variant in self.variants():
            for function in new:
                values[function].append(function(variant))
            yield variant
        self._collected.update(values)

    def collected(self, function: Callable[[Variant], Value]) -> list[Value]:
        """Return what a function returns for each variant; the cells are read if no pass has called it."""
        if function not in self._collected:
            for _ in self.collect(function):
                pass
        return cast(list[Value], self._collected[function])

    def by_view(self, function: Callable[[Variant], Mapping[ViewKey, Value]]) -> dict[ViewKey, Value]:
        """Return what a function returns for the views of each variant, by key."""
        return {key: value for values in self.collected(function) for key, value in values.items()}

    @cached_property
    def metrics(self) -> list[CellMetrics]:
        """The metrics of every finished cell, in the order of ``metrics.csv``."""
        return [cell for cells in self.collected(cell_metrics) for cell in cells]

    @cached_property
    def summary(self) -> list[SummaryRow]:
        """`metrics` over the splits."""
        return summarise(self.metrics)
