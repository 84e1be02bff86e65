"""Numbers printed in papers, and the corresponding metrics of confml.

Each table is a CSV file of this package, with the numbers exactly as printed, and a `PublishedTable` in a
module named after its method, which defines the meaning of its cells. To add a table, add both: it is found
by its class, and a config can then name it under ``paper:``.
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

# Names of data sets in the papers, and the corresponding names of cards.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "satellite": ("satimage",),
    "kr-vs-k": ("krkopt",),
    "pageblocks": ("page-blocks",),
    "winered": ("winequality-red-leak",),
    "winewhite": ("winequality-white-leak",),
}


class Ours(NamedTuple):
    """The number of confml for a number of a paper: a metric of a method, as a mean over the splits.

    params: parameters of the paper's method; a parameter that the run does not set has its default. view:
    None for the method's first view. level: significance level or threshold. factor: 100 for per cent.
    dataset: its name in a run, if it differs from the row's.
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

    keys: names of its row, the data set first. quantity: column of the CSV file. printed: as in the paper,
    empty for additional numbers of confml. ours: None for numbers that are only quoted.
    """

    keys: tuple[str, ...]
    quantity: str
    printed: str
    ours: Ours | None


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper.

    name: name of its CSV file and in a config. title, source: texts. keys: headings of the columns that name
    a row, the data set first; a column that is not in the file is empty except for rows of `beside`. columns:
    headings of the columns with numbers. unit: of the numbers. ours: returns the number of confml for a row
    and a column, or None. beside: returns additional rows of confml for a data set. notes: remarks on the
    numbers. aliases: names of data sets that differ from `ALIASES`. wide: print one column for each of
    ``columns``, with rows of confml below those of the paper. best: metric whose direction decides the marked
    best number of each row of a wide table. grid: number of grid points of the paper by column; numbers of
    confml are then followed by theirs.
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
    grid: Mapping[str, int] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str]]:
        """Return the rows of the CSV file."""
        path = Path(__file__).parent / f"{self.name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def entries(self) -> Iterator[Entry]:
        """Yield the numbers in the order of the paper, each data set followed by additional rows of
        confml."""
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
        """Return the names that a data set of this table may have in a run."""
        return (dataset, *self.aliases.get(dataset, ALIASES.get(dataset, ())))


@functools.cache
def known_tables() -> dict[str, PublishedTable]:
    """Return every published table by name."""
    found = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(value, PublishedTable):
                found[value.name] = value
    return dict(sorted(found.items()))
