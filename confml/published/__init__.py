"""Numbers printed in papers, and the corresponding metrics of confml.

Each table is a CSV file of this package, with the numbers exactly as printed, and an entry of its paper's
YAML file, which defines the meaning of its cells. To add a table, add both; a config can then name it under
``paper:``.
"""

import csv
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

# Names of data sets in the papers, and the corresponding names of cards.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "satellite": ("satimage",),
    "kr-vs-k": ("krkopt",),
    "pageblocks": ("page-blocks",),
    "winered": ("winequality-red-leak",),
    "winewhite": ("winequality-white-leak",),
}

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML has libyaml


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
    a row, the data set first; a column that is not in the file is empty except for rows of ``further``.
    columns: headings of the columns with numbers. unit: of the numbers. numbers: rules for the numbers of
    confml, see `ours`. further: additional rows of confml, by the values of their keys; without a data set
    they belong to every one, without a column to all columns. notes: remarks on the numbers. aliases: names
    of data sets that differ from `ALIASES`. wide: print one column for each of ``columns``, with rows of
    confml below those of the paper. best: metric of the numbers, whose direction decides the marked best
    number of each row of a wide table. grid: number of grid points of the paper by column; numbers of confml
    are then followed by theirs. quoted: values of the keys of numbers that the paper quotes from others.
    again: those of rows that compare a number of another row once more. units: units that differ from
    ``unit``, by column or by the value of a key.
    """

    name: str
    title: str
    source: str
    keys: Mapping[str, str]
    columns: Mapping[str, str]
    unit: str
    numbers: Sequence[Mapping[str, Any]]
    further: Sequence[Mapping[str, Any]] = ()
    notes: tuple[str, ...] = ()
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wide: bool = False
    best: str | None = None
    grid: Mapping[str, int] = field(default_factory=dict)
    quoted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    again: Mapping[str, Sequence[str]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str]]:
        """Return the rows of the CSV file."""
        path = Path(__file__).parent / f"{self.name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def entries(self) -> Iterator[Entry]:
        """Yield the numbers in the order of the paper, each data set followed by additional rows of
        confml."""
        rows = self.rows()
        for number, row in enumerate(rows):
            dataset = row["dataset"]
            keys = tuple(row.get(key, "") for key in self.keys)
            for column in self.columns:
                if row[column] != "":
                    yield Entry(keys, column, row[column], self.ours(keys, column))
            if number + 1 == len(rows) or rows[number + 1]["dataset"] != dataset:
                yield from self._further(dataset)

    def _further(self, dataset: str) -> Iterator[Entry]:
        for rule in self.further:
            if dataset not in _listed(rule.get("dataset", dataset)):
                continue
            texts = [_listed(rule[key]) for key in self.keys if key != "dataset"]
            for *rest, column in itertools.product(*texts, _listed(rule.get("column", list(self.columns)))):
                keys = (dataset, *rest)
                yield Entry(keys, column, "", self.ours(keys, column))

    def ours(self, keys: Sequence[str], column: str) -> Ours | None:
        """Return the number of confml for a row and a column, None if the number is only quoted.

        All rules of ``numbers`` whose ``rows`` have the row's keys and column are combined, later ones over
        earlier ones. A rule with ``only-params`` replaces the parameters of the rules before it.
        """
        named = {**dict(zip(self.keys, keys, strict=True)), "column": column}
        values: dict[str, Any] = {"metric": self.best}
        for rule in self.numbers:
            if all(named[key] in _listed(value) for key, value in rule.get("rows", {}).items()):
                params = rule.get("only-params", {**values.get("params", {}), **rule.get("params", {})})
                values |= {name: rule[name] for name in Ours._fields if name in rule} | {"params": params}
        if isinstance(level := values.get("level"), dict):
            values["level"] = float(named[level["key"]]) / level.get("divisor", 1)
        return Ours(**values) if "method" in values else None

    def names(self, dataset: str) -> tuple[str, ...]:
        """Return the names that a data set of this table may have in a run."""
        return (dataset, *self.aliases.get(dataset, ALIASES.get(dataset, ())))


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


@functools.cache
def known_tables() -> dict[str, PublishedTable]:
    """Return every published table by name."""
    tables = {}
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
        for name, values in document["tables"].items():
            source = ", ".join(filter(None, (document["source"], values.pop("place", None))))
            notes = tuple(document["notes"][key] for key in values.pop("notes"))
            aliases = document.get("aliases", {})
            tables[name] = PublishedTable(name=name, source=source, aliases=aliases, notes=notes, **values)
    return dict(sorted(tables.items()))
