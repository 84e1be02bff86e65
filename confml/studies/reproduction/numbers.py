"""`published_numbers`: every number of a published table with the stored number of confml."""

import enum
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from confml.published import PublishedTable, known_tables
from confml.report.files import read_csv
from confml.report.numbers.summaries import SummaryRow
from confml.report.sections.published_tables import find
from confml.studies.reproduction.markdown import anchor
from confml.studies.reproduction.reasons import Kind, Reasons
from confml.studies.reproduction.sources import Source

_CHANCE = 2.0  # standard errors
_PATHS = ("warm primal", "exact path")  # variants of tables of times
FEWEST_SPLITS = 3
"""Number of splits from which a standard deviation over them is used."""


class Role(enum.StrEnum):
    """Role of a published number: a result of the source, a number that it quotes, the size of a data set, a
    run time, or a result that another row compares already."""

    RESULT = "result"
    QUOTED = "quoted"
    SIZE = "size"
    TIME = "time"
    AGAIN = "again"


class Outcome(enum.StrEnum):
    """Comparison of a published number with that of confml."""

    PRINTED = "as printed"
    CHANCE = "within chance"
    PROVED = "differs, proved"
    SETTING = "differs, setting not stated"
    DATA = "differs, other data"
    OPEN = "differs, not explained"
    STAND_IN = "stand-in"
    SAME_GRID = "time, same grid"
    OTHER_GRID = "time, other grid"
    BOUND = "time, lower bound"
    MISSING = "not computed"


REPRODUCED = (Outcome.PRINTED, Outcome.CHANCE)
DIFFERENCES = {
    Kind.PROVED: Outcome.PROVED,
    Kind.SETTING: Outcome.SETTING,
    Kind.DATA: Outcome.DATA,
    Kind.CHANCE: Outcome.CHANCE,
    Kind.OPEN: Outcome.OPEN,
    Kind.STAND_IN: Outcome.STAND_IN,
}
"""Outcomes of a difference by the kind of its reason."""


@dataclass(frozen=True)
class Number:
    """One published number.

    keys: names of its row, the data set first. column: column of the published table. paper: as printed.
    ours, sd, splits: mean, standard deviation and number of splits of the stored number, None without one.
    folder: where it is stored. paper_splits: number of splits behind the printed number. reason: code of
    the reason for a difference, or of the missing number. others: the same number with other random numbers
    of the method on the same splits, empty without such runs. points, grid: number of grid points behind
    the stored and the printed number of a time, None where the number is not a time. path: the same time of
    warm or exact paths over the whole grid. role: what the published number is. original: mean and standard
    deviation of the authors' program on the splits of confml.
    """

    table: str
    keys: tuple[str, ...]
    column: str
    paper: str
    ours: float | None
    sd: float | None
    splits: int | None
    folder: str
    paper_splits: int
    reason: str
    outcome: Outcome
    others: tuple[float, ...] = ()
    points: int | None = None
    grid: int | None = None
    path: float | None = None
    role: Role = Role.RESULT
    original: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """Name of the number, which is also its anchor on the page."""
        return anchor(" ".join((self.table, *self.keys, self.column)).replace("_", " "))

    @property
    def decimals(self) -> int:
        return decimals_of(self.paper)

    @property
    def monte_carlo_error(self) -> float | None:
        """Standard deviation by the random numbers of the method, over runs on the same splits."""
        return statistics.stdev(self.others) if len(self.others) > 1 else None

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - float(self.paper)


@dataclass(frozen=True)
class Stored:
    """The number of confml in a stored table."""

    mean: float
    sd: float | None
    splits: int | None
    folder: str
    points: int | None = None


def published_numbers(source: Source, folder: Path, reasons: Reasons) -> Iterator[Number]:
    """Yield every number of the tables of ``source`` in the order of the paper.

    folder: ``results/reference``. A number without a stored counterpart has the outcome ``MISSING``.
    """
    for name in source.tables:
        table = known_tables()[name]
        stored = stored_numbers(table, source, folder)
        others = other_numbers(table, source, folder)
        paths = path_numbers(table, source, folder)
        originals = original_numbers(table, source, folder)
        for keys, column, paper in printed_numbers(table):
            key = (*keys, column)
            splits = source.splits_of(keys[0])
            number = _number(table, keys, column, paper, stored.get(key), splits, reasons)
            grid = table.grid.get(column)
            role = _role(table, dict(zip(table.keys, keys, strict=False)), column)
            number = replace(number, others=others.get(key, ()), path=paths.get(key), grid=grid, role=role)
            yield replace(number, original=originals.get(key))


def _role(table: PublishedTable, keys: Mapping[str, str], column: str) -> Role:
    def has(values: Mapping[str, Sequence[str]]) -> bool:
        return bool(values) and all(keys[name] in wanted for name, wanted in values.items())

    ours = table.ours([keys.get(name, "") for name in table.keys], column)
    if table.grid:
        return Role.TIME
    if ours is not None and ours.method == "data":
        return Role.SIZE
    return Role.QUOTED if has(table.quoted) else Role.AGAIN if has(table.again) else Role.RESULT


def printed_numbers(table: PublishedTable) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield keys, column and text of every number of the CSV file of a published table."""
    for row in table.rows():
        keys = tuple(row[key] for key in table.keys if key in row)
        for column, text in row.items():
            if column not in table.keys and text != "":
                yield keys, column, text


def stored_numbers(table: PublishedTable, source: Source, folder: Path) -> dict[tuple[str, ...], Stored]:
    """Return the stored numbers of a table by their keys and column.

    The first folder counts that has the number as a mean over at least `FEWEST_SPLITS` splits, or the first
    one that has it. Times of the whole grid of the paper come first.
    """
    found: dict[tuple[str, ...], Stored] = {}
    named = [key for key in table.keys if key in table.rows()[0]]
    for part in source.folders:
        for row in read_csv(folder / part / "tables" / f"{table.name}.csv"):
            if row["paper"] != "" and row["confml"] != "":
                key = (*(row[name] for name in named), row["quantity"])
                one, known = _stored(row, part), found.get(key)
                grid = table.grid.get(row["quantity"])
                if known is None or _rank(one, grid) > _rank(known, grid):
                    found[key] = one
    return found


def _rank(stored: Stored, grid: int | None) -> tuple[bool, bool]:
    return stored.points == grid, not _is_of_few(stored)


def path_numbers(table: PublishedTable, source: Source, folder: Path) -> dict[tuple[str, ...], float]:
    """Return the times of warm and exact paths over whole grids by data set and column."""
    found: dict[tuple[str, ...], float] = {}
    for part in source.folders if table.grid else ():
        for row in read_csv(folder / part / "tables" / f"{table.name}.csv"):
            grid = table.grid[row["quantity"]]
            if row["variant"] in _PATHS and row["confml"] != "" and int(row["points"]) == grid:
                found.setdefault((row["dataset"], row["quantity"]), float(row["confml"]))
    return found


def _is_of_few(stored: Stored) -> bool:
    return stored.splits is None or stored.splits < FEWEST_SPLITS


def other_numbers(
    table: PublishedTable, source: Source, folder: Path
) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Return the numbers of runs with other random numbers by keys and column, from ``source.repeated``."""
    if source.repeated is None:
        return {}
    rows = [row for path in sorted((folder / source.repeated).glob("*.csv")) for row in _summary(path)]
    found: dict[tuple[str, ...], tuple[float, ...]] = {}
    for entry in table.entries():
        if entry.printed and entry.ours is not None:
            values = find(entry.ours, table.names(entry.keys[0]), rows)
            found[*entry.keys, entry.quantity] = tuple(row.mean * entry.ours.factor for row in values)
    return found


def original_numbers(
    table: PublishedTable, source: Source, folder: Path
) -> dict[tuple[str, ...], tuple[float, float]]:
    """Return means and standard deviations of the authors' program by keys and column."""
    part, method = source.original
    rows = [row for path in sorted((folder / part).glob("*.csv")) for row in _summary(path)] if part else []
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for entry in table.entries() if rows else ():
        if entry.printed and entry.ours is not None and entry.ours.method == method:
            names = table.names(entry.keys[0])
            for row in rows:
                if row.dataset in names and row.metric == entry.ours.metric:
                    found[*filter(None, entry.keys), entry.quantity] = row.mean, row.sd
    return found


def _summary(path: Path) -> Iterator[SummaryRow]:
    for row in read_csv(path):
        if row["mean"] == "":
            continue
        pairs = (part.split("=", 1) for part in row["params"].split(";") if part)
        params = {name: yaml.safe_load(value) for name, value in pairs}
        level = float(row["level"]) if row["level"] else None
        names = row["dataset"], row["method"], params, row["params"], row["view"], row["metric"], level
        yield SummaryRow(*names, float(row["mean"]), float(row["sd"] or math.nan), int(row["n"]))


def _stored(row: Mapping[str, str], folder: str) -> Stored:
    sd, splits, points = row["sd"], row["splits"], row.get("points")
    return Stored(
        float(row["confml"]),
        float(sd) if sd else None,
        int(splits) if splits else None,
        folder,
        int(points) if points else None,
    )


def _number(
    table: PublishedTable,
    keys: tuple[str, ...],
    column: str,
    paper: str,
    stored: Stored | None,
    paper_splits: int,
    reasons: Reasons,
) -> Number:
    """Return a number with its outcome and the reason for it."""
    names = dict(zip(table.keys, keys, strict=False))
    rule = reasons.find(table.name, {**names, "folder": stored.folder if stored else ""}, column)
    code = rule.reason if rule else "open"
    kind = reasons.codes[code].kind
    if stored is None:
        code = code if rule and kind is Kind.MISSING else "not-stored"
        outcome = Outcome.BOUND if rule and rule.bound is not None else Outcome.MISSING
        bound, points = (rule.bound, rule.points) if rule else (None, None)
        bound = None if bound is None else float(bound)
        found = bound, None, None, "", paper_splits
        return Number(table.name, keys, column, paper, *found, code, outcome, points=points)
    if kind is Kind.TIME:
        outcome = Outcome.SAME_GRID if stored.points == table.grid[column] else Outcome.OTHER_GRID
    elif kind is Kind.STAND_IN:
        outcome = Outcome.STAND_IN
    elif is_as_printed(stored.mean, paper):
        outcome, code = Outcome.PRINTED, "half-way" if is_half_way(stored.mean, paper) else ""
    elif is_chance(stored, paper, paper_splits) and not (rule and rule.no_chance):
        outcome, code = Outcome.CHANCE, code if rule and rule.within_chance else "chance"
    else:
        outcome = DIFFERENCES[kind]
    points = stored.points if column in table.grid else None
    numbers = stored.mean, stored.sd, stored.splits, stored.folder, paper_splits
    return Number(table.name, keys, column, paper, *numbers, code, outcome, points=points)


def decimals_of(text: str) -> int:
    """Return the number of decimals of a printed number."""
    return len(text.partition(".")[2])


def is_as_printed(ours: float, paper: str) -> bool:
    """Return whether ``ours``, rounded to the decimals of ``paper``, is equal to it."""
    return abs(ours - float(paper)) <= 0.5 * 10 ** -decimals_of(paper) + 1e-9


def is_half_way(ours: float, paper: str) -> bool:
    """Return whether ``ours`` lies in the middle of two numbers with the decimals of ``paper``."""
    return abs(abs(ours - float(paper)) - 0.5 * 10 ** -decimals_of(paper)) <= 1e-9


def is_chance(stored: Stored, paper: str, paper_splits: int) -> bool:
    """Return whether the difference is at most two standard errors.

    The error is that of a mean over the splits of ``stored`` minus a mean over ``paper_splits`` others with
    the same standard deviation. False with fewer than three splits.
    """
    if stored.sd is None or stored.splits is None or _is_of_few(stored) or math.isnan(stored.sd):
        return False
    error = stored.sd * math.sqrt(1 / stored.splits + 1 / paper_splits)
    return abs(stored.mean - float(paper)) <= _CHANCE * error
