"""`Section`: tables, figures and notes of one part of a report; and the pass that fills all sections."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from confml.measures import Case, Metric
from confml.plugins.parameters import Parameter
from confml.plugins.registry import PluginRegistry
from confml.report.items import Item, PrintedTable, TableKind
from confml.report.numbers.metric_rows import Metrics
from confml.report.run.one_pass import ViewBlock
from confml.report.run.results import Make, RunResults
from confml.report.sections import SECTIONS
from confml.runner.results import CellResult


class Section(ABC):
    """One part of a report. Subclass it in a module of ``confml.report.sections`` to add one.
    ``confml.report.sections.SECTIONS`` lists it.

    Files, console and page show the same sections, in the order of ``place``. A report reads each stored cell
    once: `add` is called once with each finished cell, in the order of the CSV files, and `items` afterwards.
    The splits of a method variant on a data set follow each other, and so do the variants of a data set;
    `finish_variant` and `finish_dataset` are called after the last one. A section keeps counts and sums in
    `add` instead of cells or predictions, and never iterates over the cells itself. It reads numbers of all
    cells from the collectors (`confml.report.run.one_pass`) that it names in ``collectors``, with
    ``self.results.collected(Kind)``, in `items`. ``self.results.metrics`` and ``summary`` are always there.

    Items that `add` yields are files of one cell; a run of many cells collects them in ZIP archives.
    A section never removes results. ``folder`` is the output folder; it contains the files of sections with a
    smaller ``place`` when `items` is called.

    name: identifies the section. place: its position in the report. needs: condition for the section to have
    content, shown by ``confml describe``. setting: key of the config without which it has none. files: names
    of its files and folders, with one line on each. metrics: declarations of the metrics that it writes, by
    file. collectors: kinds of collectors it reads. refits: whether it fits models, which needs the data.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    place: ClassVar[int]
    needs: ClassVar[str] = "finished cells"
    setting: ClassVar[str] = ""
    files: ClassVar[dict[str, str]] = {}
    metrics: ClassVar[Mapping[str, Mapping[str, Metric]]] = {}
    collectors: tuple[Make, ...] = ()
    refits: ClassVar[bool] = False

    def __init__(self, results: RunResults, folder: Path):
        self.results, self.folder = results, folder
        self.start()

    def start(self) -> None:
        """Set the attributes that `add` fills."""
        return None

    @classmethod
    def declared_metrics(cls) -> Mapping[str, Mapping[str, Metric]]:
        """Return ``metrics``; a section whose metrics can be extended returns those of now."""
        return cls.metrics

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Do nothing: sections have no parameters."""
        return None

    @classmethod
    def applies(cls, results: RunResults) -> bool:
        """Return whether a run with this config can have content for the section."""
        return not cls.setting or bool(getattr(results.config, cls.setting))

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        """Compute numbers of cells together before `add` is called with each.

        Optional: the small cells of a variant are in blocks. Keep the numbers of a case in ``case.kept``.
        """
        return None

    def add(self, result: CellResult) -> Iterable[Item] | None:
        """Process one finished cell; return the items that depend on it alone, or None."""
        return None

    def finish_variant(self) -> None:
        """Process the last cell of a method variant on a data set."""
        return None

    def finish_dataset(self) -> None:
        """Process the last cell of a data set, after `finish_variant`."""
        return None

    def items(self) -> Iterator[Item]:
        """Yield the items that depend on all cells."""
        yield from ()

    def see(self, item: Item) -> None:
        """Process an item of any section, once its file is written."""
        return None

    def printed(self) -> Iterator[PrintedTable]:
        """Yield the tables that ``confml run --all`` prints; the report may be that of an earlier run."""
        yield from ()

    def written(self, kind: TableKind) -> list[dict[str, str]]:
        """Return the rows of a table of the section in its folder; none without it."""
        path = self.folder / kind.path
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


Key = tuple[str, str, str, str]
"""Data set, method, packed parameters and view."""
KEY = ("dataset", "method", "params", "view")


class ViewSection(Section):
    """A section whose tables have rows for each view of a method variant, from its splits.

    tables: of the section. kept: type of what is kept of the splits of a view. `add_view` adds a split, and
    `rows_of` returns the rows of each table.
    """

    tables: ClassVar[Sequence[TableKind]]
    kept: ClassVar[type] = list

    def __init__(self, results: RunResults, folder: Path):
        self._rows: list[list[Sequence[Any]]] = [[] for _ in self.tables]
        self._views: dict[Key, Any] = {}  # of the variant whose splits are added
        super().__init__(results, folder)

    def new(self, key: Key) -> Any:
        """Return what `add_view` fills."""
        return self.kept()

    def takes(self, case: Case) -> bool:
        """Return whether a view has rows."""
        return True

    @abstractmethod
    def add_view(self, found: Any, result: CellResult, view: str, case: Case) -> None:
        """Add a view of the next split."""

    @abstractmethod
    def rows_of(self, key: Key, found: Any) -> Sequence[Iterable[Sequence[Any]]]:
        """Return the rows of each of ``tables`` for one view."""

    def add(self, result: CellResult) -> None:
        cell = result.cell
        for view, case in result.cases.items():
            if self.takes(case):
                key = cell.dataset, cell.method, cell.variant, view
                if key not in self._views:
                    self._views[key] = self.new(key)
                self.add_view(self._views[key], result, view, case)

    def finish_variant(self) -> None:
        for key, found in self._views.items():
            for rows, own in zip(self._rows, self.rows_of(key, found), strict=True):
                rows += own
        self._views = {}

    def items(self) -> Iterator[Item]:
        yield from (kind.of(rows) for kind, rows in zip(self.tables, self._rows, strict=True) if rows)


sections = PluginRegistry[Section]("section", SECTIONS, Section, "confml.sections")


def known_sections() -> dict[str, type[Section]]:
    """Return every section by name, in the order of the report: confml's own and those of other packages."""
    known = sections.known()
    return dict(sorted(known.items(), key=lambda item: (item[1].place, item[0])))


def sections_of(results: RunResults, folder: Path) -> list[Section]:
    """Return the sections of one run's report, in order."""
    return [section(results, folder) for section in known_sections().values() if section.applies(results)]


def overriding(sections: Sequence[Section], method: Callable[..., Any]) -> list[Section]:
    """Return the sections with a method of their own in place of one of `Section`."""
    name = method.__name__
    return [section for section in sections if getattr(type(section), name) is not method]


def has_content(path: Path) -> bool:
    """Return whether a file or folder has more than a header."""
    if path.is_dir():
        return any(path.iterdir())
    if not path.exists():
        return False
    if path.suffix != ".csv":
        return True
    with path.open(encoding="utf-8") as file:
        return sum(1 for _ in islice(file, 2)) == 2  # a header, and at least one row


def items_of(results: RunResults, sections: Sequence[Section], *collectors: Make) -> Iterator[Item]:
    """Yield the items of the sections, as `marked_items` does."""
    return (item for item, _ in marked_items(results, sections, *collectors))


def marked_items(
    results: RunResults, sections: Sequence[Section], *collectors: Make
) -> Iterator[tuple[Item, bool]]:
    """Yield the items of the sections, and whether they are of one cell.

    Those of each cell are first, then those of all cells together. Each cell is read once and given to every
    section, to the collectors that the sections name, and to others.
    """
    kinds = [Metrics, *collectors, *(kind for section in sections for kind in section.collectors)]
    last: tuple[str, str, str] | None = None

    def prepare(blocks: Sequence[ViewBlock]) -> None:
        for section in sections:
            section.prepare(blocks)

    adding = overriding(sections, Section.add)
    for result in results.read(*kinds, prepare=prepare):
        here = (result.cell.dataset, result.cell.method, result.cell.variant)
        if last is not None and last != here:
            _finish(sections, with_dataset=last[0] != here[0])
        for section in adding:
            for item in section.add(result) or ():
                yield item, True
        last = here
    if last is not None:
        _finish(sections, with_dataset=True)
    for section in sections:
        for item in section.items():
            yield item, False


def _finish(sections: Sequence[Section], with_dataset: bool) -> None:
    for section in sections:
        section.finish_variant()
        if with_dataset:
            section.finish_dataset()
