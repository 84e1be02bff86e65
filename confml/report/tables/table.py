"""`Table`: a CSV file of a run's report, and the function that returns its rows."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confml.measures import Case, Metric
from confml.report.files import place_of, read_csv
from confml.report.report import Report
from confml.report.run.results import RunResults, Split, Variant

KEY = ("dataset", "method", "params", "view")
"""Columns that identify a view of a method variant on a data set."""
Row = Sequence[Any]


@dataclass(frozen=True)
class Table:
    """A table of a report: its file, its columns, and a function that returns its rows.

    path: name of the file. about: one line on its content. columns: in order; a text is
    split at blanks. rows: function of a `Variant`, or of the whole `Report` with ``of_run``. A report calls
    it for each variant, of which one is in memory at a time. Its docstring says what the columns mean. needs:
    condition for the table to have rows, shown by ``confml describe``. applies: whether a run can have rows.
    metrics: declarations of the numbers that the table alone has. collects: the functions of a `Variant`
    whose values ``rows`` of a whole run reads with `RunResults.collected`. notes: function of the report that
    yields sentences for the notes.
    """

    path: str
    about: str
    columns: Sequence[str]
    rows: Callable[[Any], Iterable[Row]]
    needs: str = "finished fits"
    applies: Callable[[RunResults], bool] = lambda run: True
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    of_run: bool = False
    collects: Callable[[RunResults], Sequence[Callable[[Variant], Any]]] = lambda run: ()
    notes: Callable[[Report], Iterable[str]] = lambda report: ()

    def __post_init__(self):
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", tuple(self.columns.split()))

    @property
    def name(self) -> str:
        """Name of the file without its ending."""
        return Path(self.path).stem

    @property
    def file(self) -> str:
        """Path of the file in the folder of the run."""
        return place_of(self.path)

    @property
    def paths(self) -> Mapping[str, str]:
        """The file, with one line on it."""
        return {self.file: self.about}

    @property
    def text(self) -> str:
        """Meaning of the columns: the docstring of ``rows``."""
        return inspect.getdoc(self.rows) or f"{self.about}."

    def read(self, folder: Path) -> list[dict[str, str]]:
        """Return the rows of the file in a folder as texts; none without it."""
        return read_csv(folder / self.file)

    def make(self, report: Report) -> None:
        """Give the report the rows of a table of the run, and the columns."""
        if self.of_run:
            report.rows[self.path] = list(self.rows(report))
        report.columns[self.path] = self.columns

    def write(self, report: Report) -> None:
        """Write the file; those in ``tables/`` only with rows. The rows of variants are in the report."""
        self.make(report)
        if report.rows[self.path] or self.file == self.path:
            report.write_csv(self.path, self.columns, report.rows[self.path])


@dataclass(frozen=True)
class Files:
    """Files of a report that are not one CSV table, such as a page, or a table with its form for a paper.

    name: of all of them together. paths: of the files and folders, with one line on each. write: function of
    the report that writes them; its docstring says what they have. of_variant: called with the report and
    each variant before that. The other fields are those of `Table`.
    """

    name: str
    paths: Mapping[str, str]
    write: Callable[[Report], None]
    needs: str = "finished fits"
    applies: Callable[[RunResults], bool] = lambda run: True
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    of_variant: Callable[[Report, Variant], None] = lambda report, variant: None
    collects: Callable[[RunResults], Sequence[Callable[[Variant], Any]]] = lambda run: ()
    notes: Callable[[Report], Iterable[str]] = lambda report: ()

    @property
    def text(self) -> str:
        """Description of the files: the docstring of ``write``."""
        return inspect.getdoc(self.write) or f"{next(iter(self.paths.values()))}."


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
            accepted = [split for split in splits if takes(split.case)]
            if accepted:
                yield from ((*variant.key, view, *row) for row in rows(accepted, variant))

    return of_variant
