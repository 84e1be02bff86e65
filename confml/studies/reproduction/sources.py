"""`Source`: a paper or textbook whose numbers and claims confml reproduces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True)
class RankedTable:
    """A published table whose methods are ranked over its data sets.

    metric: that of its numbers. variants: groups of rows of confml; those of the first group that a data set
    has are ranked. folders: folders with stored tables; the first one that has the data set is used. notes:
    on the rows that are ranked. columns: those that are ranked, None for all. kind: part of the file's name.
    fits: kind of the fits behind times, for the title of the figure.
    """

    table: str
    metric: str
    variants: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...] | None = None
    kind: str = ""
    fits: str = ""


@dataclass(frozen=True)
class Source:
    """A paper or textbook.

    key: name of its file in ``claims/``. citation: authors, title, place and year. tables: names of its
    published tables. folders: folders with stored tables below ``results/reference``; the first one that
    holds a number is used. splits: number of splits behind a printed number; exceptions: the same of single
    data sets. target: command that computes the tables. ranked: tables whose methods are ranked. repeated:
    folder with runs on the same splits with other random numbers of the methods. original: folder with runs
    of the authors' program, and the method of confml that it is. figure: figure of the summary.
    """

    key: str
    title: str
    citation: str
    folders: tuple[str, ...]
    splits: int
    target: str
    tables: tuple[str, ...] = ()
    ranked: tuple[RankedTable, ...] = ()
    exceptions: Mapping[str, int] = field(default_factory=dict)
    repeated: str | None = None
    original: tuple[str, str] = ("", "")
    figure: str = ""

    def splits_of(self, dataset: str) -> int:
        """Return the number of splits behind the printed numbers of a data set."""
        return self.exceptions.get(dataset, self.splits)


def _source(entry: Mapping[str, Any]) -> Source:
    ranked = tuple(RankedTable(**_tuples(one)) for one in entry.get("ranked", ()))
    return Source(**{**_tuples(entry), "ranked": ranked})


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry with tuples for its lists, in which a list of lists keeps its groups."""
    return {
        name: tuple(tuple(one) if isinstance(one, list) else one for one in value)
        if isinstance(value, list)
        else value
        for name, value in entry.items()
    }


def _read() -> tuple[Source, ...]:
    path = Path(__file__).with_suffix(".yaml")
    return tuple(map(_source, yaml.safe_load(path.read_text(encoding="utf-8"))))


SOURCES = _read()
"""The papers and the textbook, in the order of the page."""
