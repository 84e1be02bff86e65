"""`RunResults`: the input of a report, and `Variant`, the splits of one method on one data set."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeVar, cast

from confml.measures import Case, Context, rows_of
from confml.report.numbers.summaries import CellMetrics, MetricName, SummaryRow, summarise
from confml.report.run.cells import RunCells
from confml.runner.results import CellResult

Value = TypeVar("Value")
ViewKey = tuple[str, str, str, str]
"""Data set, method, packed parameters and view."""


class Split(NamedTuple):
    """One view of a finished cell: its result, and the view with the true labels."""

    result: CellResult
    case: Case


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
    def views(self) -> dict[str, list[Split]]:
        """The splits of each view."""
        config = self.run.config
        levels, thresholds = tuple(config.levels), tuple(config.thresholds)
        views: dict[str, list[Split]] = {}
        for result in self.splits:
            params = result.cell.params
            context = Context(result.train_rows, result.train_class_counts, params, self.run.costs)
            for view, prediction in result.views.items():
                case = Case(prediction, result.truth, levels, thresholds, context)
                views.setdefault(view, []).append(Split(result, case))
        return views

    def of_split(self, result: CellResult) -> Iterator[tuple[str, Case]]:
        """Yield the views of one split."""
        for view, splits in self.views.items():
            yield from ((view, case) for own, case in splits if own is result)


def cell_metrics(variant: Variant) -> list[CellMetrics]:
    """Return every metric of each split: those of `confml.measures`, then those of the method."""
    values: dict[str, dict[MetricName, float]] = {result.cell.key: {} for result in variant.splits}
    for view, splits in variant.views.items():
        for result, case in splits:
            values[result.cell.key].update(
                ((view, metric, level), value) for metric, level, value in rows_of(case)
            )
    for result in variant.splits:
        values[result.cell.key].update(
            (("", metric, None), float(value)) for metric, value in sorted(result.views.fit_metrics.items())
        )
    return [CellMetrics(result.cell, values[result.cell.key]) for result in variant.splits]


@dataclass(eq=False)
class RunResults(RunCells):
    """The cells of a run, read one variant at a time.

    status: called with a phrase on what a report does at the moment.
    """

    status: Callable[[str], None] = field(default_factory=lambda: lambda text: None, init=False, repr=False)
    _collected: dict[Callable, list] = field(default_factory=dict, init=False, repr=False)

    def variants(self) -> Iterator[Variant]:
        """Yield the finished splits of each method variant and data set, in the order of the CSV files."""
        read = 0
        finished = (cell for cell in self.ordered_cells if cell.key in self.results)
        for _, cells in groupby(finished, key=lambda cell: (cell.dataset, cell.method, cell.variant)):
            splits = [self.results[cell.key] for cell in cells]
            read += len(splits)
            self.status(f"reading cell {read} of {len(self.results)}")
            yield Variant(self, splits)

    def collect(self, *functions: Callable[[Variant], Any]) -> Iterator[Variant]:
        """Yield the variants, and keep what each function returns for them, for `collected`."""
        new = [one for one in dict.fromkeys((cell_metrics, *functions)) if one not in self._collected]
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
        return [one for cells in self.collected(cell_metrics) for one in cells]

    @cached_property
    def summary(self) -> list[SummaryRow]:
        """`metrics` over the splits."""
        return summarise(self.metrics)
