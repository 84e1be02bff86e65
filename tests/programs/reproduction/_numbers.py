"""`published_numbers`: every number of a published table with the stored number of confml."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from programs.shared import read_csv

from confml.methods.registry import method_class
from confml.plugins.registry import default_parameters
from confml.published import PublishedTable, known_tables

DATA = Path(__file__).parent
CHANCE = 2.0  # standard errors
PATHS = ("warm primal", "exact path")  # variants of tables of times
FEWEST_SPLITS = 3
"""Number of splits from which a standard deviation over them is used."""

REPRODUCED = ("as printed", "within chance")
OUTCOMES = (
    *REPRODUCED, "differs, proved", "differs, setting not stated", "differs, other data",
    "differs, not explained", "stand-in", "time, same grid", "time, other grid", "time, lower bound",
    "not computed",
)  # fmt: skip


def read_yaml(name: str) -> Any:
    return yaml.safe_load((DATA / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Source:
    """A paper or textbook, an entry of ``sources.yaml``.

    key: name of its file in ``claims/``. tables: names of its published tables. folders: folders with stored
    tables below ``results/reference``; the first one that holds a number is used. splits: number of splits
    behind a printed number; exceptions: the same of single data sets. target: command that computes the
    tables. figures: further folders with figures. repeated: folder with runs on the same splits with other
    random numbers. original: folder with runs of the authors' program, and the method of confml that it is.
    figure: figure of the summary.
    """

    key: str
    title: str
    citation: str
    folders: list[str]
    splits: int
    target: str
    tables: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    exceptions: Mapping[str, int] = field(default_factory=dict)
    repeated: str = ""
    original: tuple[str, str] = ("", "")
    figure: str = ""

    def splits_of(self, dataset: str) -> int:
        return self.exceptions.get(dataset, self.splits)


SOURCES = [Source(**entry) for entry in read_yaml("sources.yaml")]
REASONS = read_yaml("reasons.yaml")


@dataclass(frozen=True)
class Number:
    """One published number.

    keys: names of its row, the data set first. paper: as printed. ours, sd, splits: mean, standard deviation
    and number of splits of the stored number, None without one. folder: where it is stored. paper_splits:
    number of splits behind the printed number. reason: code of the reason for a difference, or of the missing
    number. others: the same number with other random numbers of the method on the same splits. points, grid:
    number of grid points behind the stored and the printed time. path: the same time of warm or exact paths
    over the whole grid. role: ``result``, ``quoted`` from others, ``size`` of a data set, ``time``, or
    ``again``, a result that another row compares already. original: mean and standard deviation of the
    authors' program on the splits of confml.
    """

    table: str
    keys: tuple[str, ...]
    column: str
    paper: str
    paper_splits: int
    role: str
    ours: float | None = None
    sd: float | None = None
    splits: int | None = None
    folder: str = ""
    reason: str = "not-stored"
    outcome: str = "not computed"
    others: Sequence[float] = ()
    points: int | None = None
    grid: int | None = None
    path: float | None = None
    original: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """Name of the number, which is also its anchor on the page as GitHub makes it."""
        text = " ".join((self.table, *self.keys, self.column)).replace("_", " ").lower()
        return re.sub(r"[^a-z0-9 -]", "", text).replace(" ", "-")

    @property
    def decimals(self) -> int:
        return decimals_of(self.paper)


def published_numbers(source: Source, folder: Path) -> Iterator[Number]:
    """Yield every number of the tables of ``source`` in the order of the paper.

    folder: ``results/reference``.
    """
    for name in source.tables:
        table = known_tables()[name]
        stored, paths = _stored_numbers(table, source, folder)
        others = _numbers_of_runs(table, source.repeated, folder)
        originals = _numbers_of_runs(table, source.original[0], folder, source.original[1])
        for row in table.rows():
            keys = tuple(row[key] for key in table.keys if key in row)
            for column in row:
                if column not in table.keys and row[column] != "":
                    key, role = (*keys, column), _role(table, row, column)
                    number = Number(
                        *(name, keys, column, row[column], source.splits_of(keys[0]), role),
                        grid=table.grid.get(column),
                        path=paths.get(key),
                        others=[mean for mean, _ in others.get(key, ())],
                        original=next(iter(originals.get(key, ())), None),
                    )
                    yield _judged(number, stored.get(key))


def _role(table: PublishedTable, row: Mapping[str, str], column: str) -> str:
    ours = table.ours([row.get(name, "") for name in table.keys], column)
    if table.grid:
        return "time"
    if ours is not None and ours.method == "data":
        return "size"
    for role, values in (("quoted", table.quoted), ("again", table.again)):
        if values and all(row[name] in texts for name, texts in values.items()):
            return role
    return "result"


def _stored_numbers(table: PublishedTable, source: Source, folder: Path) -> tuple[dict, dict]:
    """Return the stored rows by keys and column, and the times of paths over whole grids.

    The first folder counts that has the number as a mean over at least `FEWEST_SPLITS` splits, or the first
    one that has it. Times of the whole grid of the paper come first.
    """
    stored: dict[tuple[str, ...], dict[str, Any]] = {}
    paths: dict[tuple[str, ...], float] = {}
    named = [key for key in table.keys if key in table.rows()[0]]
    for part in source.folders:
        for row in read_csv(folder / part / "tables" / f"{table.name}.csv"):
            if row["confml"] == "":
                continue
            numbers = {name: float(row[name]) if row.get(name) else None for name in ("confml", "sd")}
            numbers |= {name: int(row[name]) if row.get(name) else None for name in ("splits", "points")}
            quantity = row["quantity"]
            is_whole_grid = numbers["points"] == table.grid.get(quantity)
            if row.get("variant") in PATHS and table.grid and is_whole_grid:
                paths.setdefault((row["dataset"], quantity), numbers["confml"])
            rank = is_whole_grid, (numbers["splits"] or 0) >= FEWEST_SPLITS
            key = (*(row[name] for name in named), quantity)
            if row["paper"] != "" and (key not in stored or rank > stored[key]["rank"]):
                stored[key] = {**numbers, "rank": rank, "folder": part}
    return stored, paths


def _numbers_of_runs(
    table: PublishedTable, part: str, folder: Path, program: str = ""
) -> dict[tuple[str, ...], list[tuple[float, float]]]:
    """Return means and standard deviations of the runs kept in ``part`` by keys and column.

    program: a method of confml that the runs compute by the authors' program. Of several variants whose
    parameters agree with those of the paper, the ones with most other parameters at their defaults count.
    """
    rows = [row for path in sorted((folder / part).glob("*.csv")) if part for row in read_csv(path)]
    numbers: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for entry in table.entries() if rows else ():
        ours = entry.ours
        if not entry.printed or ours is None or program not in ("", ours.method):
            continue
        defaults = default_parameters(method_class(ours.method))
        names = table.names(entry.keys[0])
        agreeing: dict[tuple[str, str], tuple[int, tuple[float, float]]] = {}
        for row in rows:
            if row["dataset"] not in names or row["metric"] != ours.metric or row["mean"] == "":
                continue
            pairs = (text.split("=", 1) for text in row["params"].split(";") if text)
            params = {**defaults, **{name: yaml.safe_load(value) for name, value in pairs}}
            level = float(row["level"]) if row["level"] else None
            is_of_method = row["method"] == ours.method and ours.view in (None, row["view"])
            has_params = ours.params.items() <= params.items()
            if program or (is_of_method and level == ours.level and has_params):
                unlike = sum(
                    params[name] != defaults.get(name) for name in params.keys() - ours.params.keys()
                )
                number = float(row["mean"]) * ours.factor, float(row["sd"] or math.nan)
                agreeing.setdefault((row["dataset"], row["params"]), (unlike, number))
        fewest = min((unlike for unlike, _ in agreeing.values()), default=0)
        numbers[*filter(None, entry.keys), entry.quantity] = [
            number for unlike, number in agreeing.values() if unlike == fewest
        ]
    return numbers


def _judged(number: Number, stored: Mapping[str, Any] | None) -> Number:
    """Return a number with its outcome and the reason for it."""
    names = dict(zip(known_tables()[number.table].keys, number.keys, strict=False))
    names |= {"column": number.column, "folder": stored["folder"] if stored else ""}
    rule = next((rule for rule in REASONS["rules"] if _applies(rule, number.table, names)), {})
    reason = rule.get("reason", "open")
    kind = REASONS["codes"][reason]["kind"]
    if stored is None:
        reason = reason if kind == "missing" else "not-stored"
        number = replace(number, reason=reason, points=rule.get("points"))
        bound = rule.get("bound")
        return replace(number, ours=float(bound), outcome="time, lower bound") if bound else number
    ours, points = stored["confml"], stored["points"] if number.grid else None
    values = {name: stored[name] for name in ("sd", "splits", "folder")}
    number = replace(number, ours=ours, points=points, **values)
    if kind == "time":
        outcome = "time, same grid" if number.points == number.grid else "time, other grid"
    elif kind == "stand-in":
        outcome = "stand-in"
    elif is_as_printed(ours, number.paper):
        outcome, reason = "as printed", "half-way" if is_half_way(ours, number.paper) else ""
    elif "no-chance" not in rule and is_chance(
        ours, number.sd, number.splits, number.paper, number.paper_splits
    ):
        outcome, reason = "within chance", reason if "within-chance" in rule else "chance"
    else:
        outcome = REASONS["outcomes"][kind]
    return replace(number, reason=reason, outcome=outcome)


def _applies(rule: Mapping[str, Any], table: str, names: Mapping[str, str]) -> bool:
    only = rule.get("only", {}).items()
    return rule["table"] == table and all(names.get(name) in map(str, values) for name, values in only)


def decimals_of(text: str) -> int:
    """Return the number of decimals of a printed number."""
    return len(text.partition(".")[2])


def is_as_printed(ours: float, paper: str) -> bool:
    """Return whether ``ours``, rounded to the decimals of ``paper``, is equal to it."""
    return abs(ours - float(paper)) <= 0.5 * 10 ** -decimals_of(paper) + 1e-9


def is_half_way(ours: float, paper: str) -> bool:
    """Return whether ``ours`` lies in the middle of two numbers with the decimals of ``paper``."""
    return abs(abs(ours - float(paper)) - 0.5 * 10 ** -decimals_of(paper)) <= 1e-9


def is_chance(mean: float, sd: float | None, splits: int | None, paper: str, paper_splits: int) -> bool:
    """Return whether the difference is at most two standard errors.

    The error is that of a mean over ``splits`` minus a mean over ``paper_splits`` others with the same
    standard deviation. False with fewer than three splits.
    """
    if sd is None or splits is None or splits < FEWEST_SPLITS:
        return False
    return abs(mean - float(paper)) <= CHANCE * sd * math.sqrt(1 / splits + 1 / paper_splits)
