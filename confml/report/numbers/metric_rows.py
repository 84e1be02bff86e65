"""`MetricRows`: every metric of every finished cell of a run, in little memory."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, overload

from confml.measures import metrics_of
from confml.report.run.one_pass import Collector, ViewBlock
from confml.runner.plan import Cell
from confml.runner.results import CellResult

COLUMNS = ("dataset", "method", "params", "split", "view", "metric", "level", "value")
"""Columns of ``metrics.csv``, before those of parameters."""
Name = tuple[str, str, float | None]  # view, metric, level


class MetricRow(NamedTuple):
    """One metric of one view of one cell. ``view`` is empty for a method's own quantities.

    level: the significance level of a region metric, the threshold of an acceptance metric, else None.
    """

    cell: Cell
    view: str
    metric: str
    level: float | None
    value: float


class CellMetrics(NamedTuple):
    """The metrics of one cell: names and values in the order of ``metrics.csv``.

    places: the place of each name, the last one of several. Cells with the same names share them.
    """

    cell: Cell
    names: tuple[Name, ...]
    places: Mapping[Name, int]
    values: "array[float]"

    def value(self, view: str, metric: str, level: float | None) -> float | None:
        """Return one value; None if the cell does not have the metric."""
        place = self.places.get((view, metric, level))
        return None if place is None else self.values[place]

    @property
    def views(self) -> list[str]:
        """Names of the views."""
        return [view for view in dict.fromkeys(name[0] for name in self.names) if view]


class MetricRows(Sequence[MetricRow]):
    """The rows of ``metrics.csv``. `cells` has those of each cell together."""

    def __init__(self) -> None:
        self.cells: list[CellMetrics] = []
        self._ends: list[int] = []  # number of rows up to each cell
        self._names: dict[tuple[Name, ...], tuple[tuple[Name, ...], dict[Name, int]]] = {}

    def append(self, cell: Cell, names: Sequence[Name], values: Sequence[float]) -> None:
        """Add the rows of a cell."""
        given = tuple(names)
        if given not in self._names:
            self._names[given] = given, {name: place for place, name in enumerate(given)}
        self.cells.append(CellMetrics(cell, *self._names[given], array("d", values)))
        self._ends.append(len(self) + len(given))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[MetricRow]:
        for one in self.cells:
            for name, value in zip(one.names, one.values, strict=True):
                yield MetricRow(one.cell, *name, value)

    @overload
    def __getitem__(self, place: int) -> MetricRow: ...
    @overload
    def __getitem__(self, place: slice) -> list[MetricRow]: ...
    def __getitem__(self, place: int | slice) -> MetricRow | list[MetricRow]:
        if isinstance(place, slice):
            return list(self)[place]
        number = range(len(self))[place]
        at = bisect_right(self._ends, number)
        one, own = self.cells[at], number - (self._ends[at - 1] if at else 0)
        return MetricRow(one.cell, *one.names[own], one.values[own])

    def __repr__(self) -> str:
        return repr(list(self))


class Metrics(Collector):
    """Every metric of every finished cell: those of `confml.measures`, then those of the method."""

    def __init__(self, results):
        super().__init__(results)
        self.rows = MetricRows()

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        for one in blocks:
            renamed: dict[tuple, tuple[Name, ...]] = {}
            for case, (names, values) in zip(one.block.cases, metrics_of(one.block), strict=True):
                if names not in renamed:
                    renamed[names] = tuple((one.view, *name) for name in names)
                case.kept["metrics"] = renamed[names], values

    def add(self, result: CellResult) -> None:
        names: tuple[Name, ...] = ()
        values: list[float] = []
        for case in result.cases.values():
            own_names, own_values = case.kept.pop("metrics")
            names += own_names
            values += own_values
        own = sorted(result.views.fit_metrics.items())
        names += tuple(("", metric, None) for metric, _ in own)
        values += [float(value) for _, value in own]
        self.rows.append(result.cell, names, values)


class SplitSizes(Collector):
    """Rows of each cell by cell key: those of the fit, after the steps, of the training part, and of the
    test part."""

    def __init__(self, results):
        super().__init__(results)
        self.found: dict[str, tuple[int, int, int]] = {}

    def add(self, result: CellResult) -> None:
        sizes = result.train_rows, result.split_train_rows, len(result.truth)
        self.found[result.cell.key] = sizes
