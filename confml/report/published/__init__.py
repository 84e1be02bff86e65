"""Figures that papers print, and where the same number stands in our results.

Each table is a CSV file beside this one, with the numbers exactly as printed, and a `PublishedTable` in a
module named after its paper, which says what its cells mean. To add a table, add both: it is found by its
class, and a config can then name it under ``paper:``.
"""

from __future__ import annotations

import csv
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

# Names of data sets in the papers, and the cards' names that may stand for them.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "satellite": ("satimage",),
    "kr-vs-k": ("krkopt",),
    "pageblocks": ("page-blocks",),
    "winered": ("winequality-red-leak",),
    "winewhite": ("winequality-white-leak",),
}


class Ours(NamedTuple):
    """Where confml has a number that a paper prints: a metric of a method, as a mean over the splits.

    params: what makes the method the paper's; a parameter that the run does not give counts with its default.
    view: None for the method's first view. level: significance level or threshold. factor: 100
    for per cent. dataset: its name in a run, where it is not the row's.
    """

    method: str
    metric: str
    params: Mapping[str, Any] = MappingProxyType({})
    view: str | None = None
    level: float | None = None
    factor: float = 1.0
    dataset: str | None = None


OwnRows = list[tuple[tuple[str, ...], str, Ours]]
"""Rows of confml's own for one data set: key texts without the data set, column, and the number."""


class Entry(NamedTuple):
    """One number of a published table.

    keys: what names its row, the data set first. quantity: the CSV file's column. printed: as the paper
    prints it, empty for what stands beside the paper's own. ours: None for numbers that are only quoted.
    """

    keys: tuple[str, ...]
    quantity: str
    printed: str
    ours: Ours | None


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper.

    name: of its CSV file and in a config. title, source: in words. keys: columns that name a row, with their
    headings, the data set's first; one that the file has not is empty but for `beside`. columns: columns with
    numbers, with theirs. unit: of the numbers.
    ours: gives for a row and a column where confml has that number, or None. beside: for a data set, further
    rows of our own: key texts (without the data set), column, and where we have it.
    notes: what a reader should know. aliases: names of data sets where they differ from `ALIASES`. wide: for
    people, one column for each of ``columns``, and ours below the paper's. best: for a wide
    table, the metric by whose declared direction the best number of each row is marked.
    """

    name: str
    title: str
    source: str
    keys: Mapping[str, str]
    columns: Mapping[str, str]
    unit: str
    ours: Callable[[Mapping[str, str], str], Ours | None]
    beside: Callable[[str], OwnRows] = lambda dataset: []
    notes: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wide: bool = False
    best: str | None = None

    def rows(self) -> list[dict[str, str]]:
        """The CSV file's rows."""
        path = Path(__file__).parent / f"{self.name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def entries(self) -> Iterator[Entry]:
        """The numbers in the order of the paper, each data set followed by what we put beside it."""
        rows = self.rows()
        for place, row in enumerate(rows):
            dataset = row["dataset"]
            for column in self.columns:
                if row[column] != "":
                    yield Entry(
                        tuple(row.get(key, "") for key in self.keys),
                        column,
                        row[column],
                        self.ours(row, column),
                    )
            if place + 1 == len(rows) or rows[place + 1]["dataset"] != dataset:
                for texts, column, ours in self.beside(dataset):
                    yield Entry((dataset, *texts), column, "", ours)

    def names(self, dataset: str) -> tuple[str, ...]:
        """Names under which a run may have a data set of this table."""
        return (dataset, *self.aliases.get(dataset, ALIASES.get(dataset, ())))


@functools.cache
def known_tables() -> dict[str, PublishedTable]:
    """Every published table by name."""
    found = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(value, PublishedTable):
                found[value.name] = value
    return dict(sorted(found.items()))
