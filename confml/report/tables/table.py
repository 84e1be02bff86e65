"""`Table`: a CSV file of a run's report, and the function that returns its rows."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confml.measures import Case, Metric
from confml.report.files import read_csv
from confml.report.items import Item, PrintedTable
from confml.report.run.results import RunResults, Split, Variant

if TYPE_CHECKING:
    from confml.report.report import Report

KEY = ("dataset", "method", "params", "view")
"""Columns that identify a view of a method variant on a data set."""
Row = Sequence[Any]


def always(run: RunResults) -> bool:
    return True


@dataclass(frozen=True)
class Table:
    """A table of a report: its file, its columns, and a function that returns its rows.

    path: of the file in the folder of the run. about: one line on its content. columns: in order; a text is
    split at blanks. rows: function of a `Variant`, or of the whole `Report` with ``of_run``. A report calls
    it for each variant, of which one is in memory at a time. Its docstring says what the columns mean. needs:
    condition for the table to have rows, shown by ``confml describe``. applies: whether a run can have rows.
    metrics: declarations of the numbers that the table alone has. collects: the functions of a `Variant`
    whose values ``rows`` of a whole run reads with `RunResults.collected`. empty: whether a file without rows
    is written. notes: function of the report that yields sentences for ``notes.txt``. printed: function of
    the results of a run and the folder of its report that yields tables for ``confml run --all``.
    """

    path: str
    about: str
    columns: Sequence[str]
    rows: Callable[[Any], Iterable[Row]]
    needs: str = "finished cells"
    applies: Callable[[RunResults], bool] = always
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    of_run: bool = False
    collects: Callable[[RunResults], Sequence[Callable[[Variant], Any]]] = lambda run: ()
    empty: bool = False
    notes: Callable[["Report"], Iterable[str]] = lambda report: ()
    printed: Callable[[RunResults, Path], Iterable[PrintedTable]] = lambda run, folder: ()

    def __post_init__(self):
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns.split()))

    @property
    def name(self) -> str:
        """Name of the file without its ending."""
        return Path(self.path).stem

    def read(self, folder: Path) -> list[dict[str, str]]:
        """Return the rows of the file in a folder as texts; none without it."""
        return read_csv(folder / self.path)


@dataclass(frozen=True)
class CellFiles:
    """A folder with CSV files of single cells.

    path: of the folder. files: function of a variant that yields for each file its path below the folder and
    its lines, the header first. The other fields are those of `Table`.
    """

    path: str
    about: str
    files: Callable[[Variant], Iterator[tuple[str, Iterable[str]]]]
    needs: str = "finished cells"
    applies: Callable[[RunResults], bool] = always
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    notes: Callable[["Report"], Iterable[str]] = lambda report: ()
    printed: Callable[[RunResults, Path], Iterable[PrintedTable]] = lambda run, folder: ()

    @property
    def name(self) -> str:
        return self.path


@dataclass(frozen=True)
class Files:
    """Several files of a whole run, such as a table in four forms.

    name: of all of them together. paths: of the files and folders, with one line on each. items: function of
    the report that yields tables, texts, figures and notes. The other fields are those of `Table`.
    """

    name: str
    paths: Mapping[str, str]
    items: Callable[["Report"], Iterable[Item]]
    needs: str = "finished cells"
    applies: Callable[[RunResults], bool] = always
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    collects: Callable[[RunResults], Sequence[Callable[[Variant], Any]]] = lambda run: ()
    notes: Callable[["Report"], Iterable[str]] = lambda report: ()
    printed: Callable[[RunResults, Path], Iterable[PrintedTable]] = lambda run, folder: ()


Output = Table | CellFiles | Files


def text_of(output: Output) -> str:
    """Return what the columns or files of an output mean: the docstring of its function."""
    names = {Table: "rows", CellFiles: "files", Files: "items"}
    function = getattr(output, names[type(output)])
    return inspect.getdoc(function) or f"{next(iter(paths_of(output).values()))}."


def paths_of(output: Output) -> Mapping[str, str]:
    """Return the files and folders of an output, with one line on each."""
    return output.paths if isinstance(output, Files) else {output.path: output.about}


def by_view(
    rows: Callable[[Sequence[Split], Variant], Iterable[Row]],
    takes: Callable[[Case], bool] = lambda case: True,
) -> Callable[[Variant], Iterator[Row]]:
    """Return the rows of a table that has some for each view of a variant, after its `KEY`.

    rows: function of the splits of a view, and of its variant. takes: whether a split of a view counts.
    """

    @functools.wraps(rows)
    def of_variant(variant: Variant) -> Iterator[Row]:
        for view, splits in variant.views.items():
            kept = [split for split in splits if takes(split.case)]
            if kept:
                yield from ((*variant.key, view, *row) for row in rows(kept, variant))

    return of_variant
