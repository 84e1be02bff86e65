"""`VariantNumbers`: numbers of one view of a method variant on a data set, for figures.

A figure names the classes of its numbers. The one pass over the cells fills an object for each view, variant
and data set, and the figure draws these objects.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from confml.measures import Case
from confml.report.run.cells import RunCells
from confml.report.run.one_pass import Collector
from confml.runner.results import CellResult

ViewKey = tuple[str, str, str, str]
"""Data set, method, variant and view; only the data set is not empty for numbers of a data set."""


class VariantNumbers(ABC):
    """Numbers of one view over the splits, in little memory.

    options: names of the figure's options that change the numbers. of_dataset: whether one object has the
    numbers of all views of a data set.
    """

    options: ClassVar[Sequence[str]] = ()
    of_dataset: ClassVar[bool] = False

    def __init__(self, results: RunCells, options: Mapping[str, Any]):
        self.results = results
        self.start(options)

    def start(self, options: Mapping[str, Any]) -> None:
        """Set the attributes that `add` fills."""
        return None

    @classmethod
    def takes(cls, result: CellResult, case: Case) -> bool:
        """Return whether a view of a cell has such numbers."""
        return True

    @abstractmethod
    def add(self, result: CellResult, view: str, case: Case) -> None:
        """Add a view of the next split. case: the view with the true labels."""

    def finish(self) -> None:
        """Reduce the numbers after the last split."""
        return None


Kind = TypeVar("Kind", bound=VariantNumbers)


@dataclass(frozen=True)
class OfVariants(Generic[Kind]):
    """A kind of collector: numbers of a class for every view, with options."""

    kind: type[Kind]
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, kind: type[Kind], options: Mapping[str, Any]) -> "OfVariants[Kind]":
        """Return the collector for the options of a figure."""
        return cls(kind, tuple((name, options[name]) for name in kind.options if name in options))

    def __call__(self, results: RunCells) -> "VariantCollector[Kind]":
        return VariantCollector(results, self)


class VariantCollector(Collector, Generic[Kind]):
    """Collect the numbers of all views. found: the numbers by data set, method, variant and view."""

    def __init__(self, results: RunCells, asked: OfVariants[Kind]):
        super().__init__(results)
        self._asked = asked
        self._open: list[tuple[ViewKey, Kind]] = []
        self.found: dict[ViewKey, Kind] = {}

    def add(self, result: CellResult) -> None:
        cell, kind = result.cell, self._asked.kind
        here = (cell.dataset, "", "") if kind.of_dataset else (cell.dataset, cell.method, cell.variant)
        if self._open and self._open[0][0][:3] != here:
            self.finish()
        for view, case in result.cases.items():
            key = (*here, "" if kind.of_dataset else view)
            if not kind.takes(result, case):
                continue
            if key not in self.found:
                self.found[key] = kind(self.results, dict(self._asked.options))
                self._open.append((key, self.found[key]))
            self.found[key].add(result, view, case)

    def finish(self) -> None:
        for _, one in self._open:
            one.finish()
        self._open = []
