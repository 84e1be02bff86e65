"""Numbers of papers and of confml in one table: ``tables/<name>.csv``, ``.md`` and ``.tex``."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from confml.errors import ConfigError, ConfmlError
from confml.published import Entry, Ours, PublishedTable, known_tables
from confml.report.declared import ranking_metric
from confml.report.forms.grid import Grid, latex, markdown, named_once
from confml.report.numbers.published_points import default_params
from confml.report.numbers.split_sizes import split_sizes
from confml.report.numbers.summaries import (
    CONFIGURATIONS,
    SummaryRow,
    dataset_rows,
    read_datasets,
    read_summary,
    timing_rows,
)
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.tables import matched, threshold_curves, timings
from confml.report.tables.table import Files

COMPUTED, MISSING, QUOTED = "computed", "not in this run", "quoted"
SPLIT_SIZES = ("training_rows", "test_rows")


@dataclass(frozen=True)
class Line:
    """A published number and ours, in the paper's unit; None if one of them does not exist.

    as_printed: whether ours, rounded to as many digits, is equal to the printed number. sd, splits: of ours.
    points: of the grid behind ours, for a table with `PublishedTable.grid`.
    status: `COMPUTED`, `MISSING` (not in these results) or `QUOTED` (not computed by confml).
    """

    entry: Entry
    confml: float | None
    sd: float | None
    splits: int | None
    status: str
    points: int | None = None

    @property
    def difference(self) -> float | None:
        if self.confml is None or not self.entry.printed:
            return None
        return round(self.confml - float(self.entry.printed), 10)

    @property
    def as_printed(self) -> bool | None:
        if self.difference is None:
            return None
        decimals = len(self.entry.printed.partition(".")[2])
        return abs(self.difference) <= 0.5 * 10**-decimals + 1e-9


def published_table(name: str) -> PublishedTable:
    """Return the table of this name; ConfigError if it is unknown."""
    tables = known_tables()
    if name not in tables:
        raise ConfigError(f"unknown published table '{name}'", near=(name, tables))
    return tables[name]


def report_numbers(folder: Path) -> list[SummaryRow]:
    """Return every number of a report's files that a published table may print.

    These are the means over the splits, training times, matched views, threshold curves and data sets.
    """
    summary = read_summary(folder / "summary.json")
    return [
        *summary,
        *timing_rows(folder / timings.TABLE.file, summary),
        *matched.matched_rows(folder / matched.TABLE.file, summary),
        *threshold_curves.read_threshold_curves(folder / threshold_curves.TABLE.file, summary),
        *dataset_rows(read_datasets(folder / "summary.json")),
    ]


def write_combined_tables(report: Report, names: Sequence[str], runs: Sequence[Path]) -> None:
    """Write published tables with the numbers of several runs, given by the folders of their reports.

    It is used for tables whose data sets are evaluated under different protocols. Raises ConfmlError for a
    folder without a ``summary.json``.
    """
    from confml.runner import manifest  # the names of figures are read without it

    summary: list[SummaryRow] = []
    for run in runs:
        if not (run / "summary.json").is_file():
            hint = "name a folder that confml run has written"
            raise ConfmlError("there is no summary.json", where=str(run), hint=hint)
        summary += report_numbers(run)
        if manifest.manifest_path(run).is_file() and manifest.read_manifest(run).get("finished") is None:
            text = f"{run}: the run is not finished, and the tables have the numbers of its last report"
            report.notes.append(f"{text}; confml report {run} makes a new one")
        entries = (entry for name in names for entry in published_table(name).entries())
        if any(entry.ours is not None and entry.ours.metric in SPLIT_SIZES for entry in entries):
            summary += split_rows(run)
    write_tables(report, names, summary)


def split_rows(run: Path) -> list[SummaryRow]:
    """Return the mean numbers of training and test rows of each data set, over the cells of a run."""
    from confml.report.run.stored import open_run

    results = open_run(run)
    rows = {key: sizes for found in results.collected(split_sizes) for key, sizes in found.items()}
    sizes: dict[str, list[tuple[int, int]]] = {}
    for cell in results.cells:
        if cell.key in rows:
            sizes.setdefault(cell.dataset, []).append(rows[cell.key][1:])
    return [
        SummaryRow(dataset, "data", {}, "", "", metric, None, sum(values) / len(values), math.nan, 1)
        for dataset, pairs in sizes.items()
        for metric, values in zip(SPLIT_SIZES, zip(*pairs, strict=True), strict=True)
    ]


def write_tables(report: Report, names: Sequence[str], summary: Sequence[SummaryRow]) -> None:
    """Write published tables with the numbers of one or several runs, a note for a table without any."""
    for name in names:
        table = published_table(name)
        lines, notes = compare(table, summary)
        if all(line.confml is None for line in lines):
            report.notes.append(f"table {name} is not written: {_absence(table)}")
            continue
        report.write_csv(f"{name}.csv", *_csv_table(table, lines))
        grid = grid_of(table, lines, notes)
        report.write(f"tables/{name}.md", markdown(grid, aligned=True))
        report.write(f"tables/{name}.tex", latex(grid, name))


def _absence(table: PublishedTable) -> str:
    """Return a sentence on data sets and methods of which at least one must be in a run."""
    entries = [entry for entry in table.entries() if entry.ours is not None]
    datasets = ", ".join(dict.fromkeys(entry.keys[0] for entry in entries))
    methods = ", ".join(dict.fromkeys(entry.ours.method for entry in entries if entry.ours is not None))
    return f"no number of it is in these results; it needs one of {methods} on one of {datasets}"


def compare(table: PublishedTable, summary: Sequence[SummaryRow]) -> tuple[list[Line], list[str]]:
    """Return the lines of a table and its notes."""
    lines, ambiguous = [], []
    points = {
        (row.dataset, row.method, row.variant): round(row.mean)
        for row in summary
        if table.grid and row.metric == CONFIGURATIONS
    }
    for entry in table.entries():
        if entry.ours is None:
            lines.append(Line(entry, None, None, None, QUOTED))
            continue
        names = (entry.ours.dataset,) if entry.ours.dataset else table.names(entry.keys[0])
        found = find(entry.ours, names, summary)
        if len(found) > 1:
            ambiguous.append((entry, found))
        if len(found) != 1:
            # An additional row is of variants that most runs do not have; a wide table has cells for them.
            if entry.printed or table.wide:
                lines.append(Line(entry, None, None, None, MISSING))
            continue
        scaled = (round(value * entry.ours.factor, 10) for value in (found[0].mean, found[0].sd))
        mean, sd = (None if math.isnan(value) else value for value in scaled)
        behind = points.get((found[0].dataset, found[0].method, found[0].variant))
        lines.append(Line(entry, mean, sd, found[0].n, COMPUTED, behind))
    return lines, [*notes_of(table, lines), *_ambiguous_notes(ambiguous)]


def notes_of(table: PublishedTable, lines: Sequence[Line]) -> list[str]:
    """Return the notes of a table, and those on numbers that are missing in its lines."""
    marks = ["*: best number of its row."] if table.best else []
    if table.grid:
        points = ", ".join(f"{table.columns[column]} {number}" for column, number in table.grid.items())
        marks = [
            "*: best number of its row. It is not marked if another number stands for a larger share of the "
            "paper's grid.",
            f"In parentheses: number of grid points. The paper's grids have {points}.",
        ]
    return [*marks, *table.notes, *_missing_notes(lines)]


def find(ours: Ours, datasets: Sequence[str], summary: Iterable[SummaryRow]) -> list[SummaryRow]:
    """Return the rows of a summary that match the number ``ours``: none, one, or several if it is ambiguous.

    Of several variants whose parameters agree with ``ours.params``, those with most other parameters at their
    defaults are returned. Of several views, if ``ours.view`` is None, the first one is used.
    """
    first: dict[tuple, SummaryRow] = {}
    for row in summary:
        if (row.method, row.metric) == (ours.method, ours.metric) and row.dataset in datasets:
            if ours.level == row.level and ours.view in (None, row.view):
                first.setdefault((row.dataset, row.variant), row)
    if not first:
        return []  # the class of a method that is not in the results is not imported
    defaults = default_params(ours.method)
    deviations = {
        key: sum(value != defaults.get(name) for name, value in row.params.items() if name not in ours.params)
        for key, row in first.items()
        if all(row.params.get(name, defaults.get(name)) == value for name, value in ours.params.items())
    }
    return [first[key] for key in deviations if deviations[key] == min(deviations.values())]


# ---- as a table


def _csv_table(table: PublishedTable, lines: Sequence[Line]) -> tuple[Sequence[str], list[tuple]]:
    header = (
        *table.keys,
        *("quantity", "paper", "confml", "difference", "as_printed", "sd", "splits", "status"),
        *(("points",) if table.grid else ()),
    )
    rows = [
        (
            *line.entry.keys,
            *(line.entry.quantity, line.entry.printed, line.confml, line.difference),
            *(line.as_printed, line.sd, line.splits, line.status),
            *((line.points,) if table.grid else ()),
        )
        for line in lines
    ]
    return header, rows


def path_of(table: PublishedTable) -> str:
    """Return the file of a table in the folder of a run."""
    return f"tables/{table.name}.csv"


def grid_of(table: PublishedTable, lines: Sequence[Line], notes: Sequence[str]) -> Grid:
    """Return the table with its source and notes."""
    headings, rows, left = _layout(table, lines)
    starts = [bool(row[0]) for row in rows]
    source = f"{table.source}. All numbers in {table.unit}."
    return Grid(table.title, headings, rows, left, notes, starts, source)


def _layout(table: PublishedTable, lines: Sequence[Line]) -> tuple[list[str], list[list[str]], int]:
    """Return headings, cells and the number of text columns: repeated keys are empty, numbers are rounded."""
    if table.wide:
        return _wide_layout(table, lines)
    several = len(table.columns) > 1
    headings = [*table.keys.values(), *(["quantity"] if several else []), "paper", "confml", "difference"]
    headings += ["as printed", "splits"]
    rows = []
    for line in lines:
        shown: list[str] = list(line.entry.keys)
        if several:
            shown.append(table.columns[line.entry.quantity])
        decimals = max(2, len(line.entry.printed.partition(".")[2]))
        confml = ""
        if line.confml is not None:
            confml = f"{line.confml:.{decimals}f}"
            if line.sd is not None:
                confml += f" ± {line.sd:.{decimals}f}"
        difference = "" if line.difference is None else f"{_plus(line.difference, decimals)}"
        printed = line.entry.printed + (" (quoted)" if line.status == QUOTED else "")
        agrees = {None: "", True: "yes", False: "no"}[line.as_printed]
        rows.append([*shown, printed, confml, difference, agrees, str(line.splits or "")])
    return headings, list(named_once(rows, len(table.keys))), len(headings) - 5


def _wide_layout(table: PublishedTable, lines: Sequence[Line]) -> tuple[list[str], list[list[str]], int]:
    """Return rows of the paper's numbers and rows of ours below them, without empty rows.

    Ours have as many digits as the paper's in their column. Data sets without results are in the CSV file
    only.
    """
    decimals = dict.fromkeys(table.columns, 0)
    kept: dict[tuple[str, ...], dict[str, Line]] = {}
    for line in lines:
        digits = len(line.entry.printed.partition(".")[2])
        decimals[line.entry.quantity] = max(decimals[line.entry.quantity], digits)
        kept.setdefault(line.entry.keys, {})[line.entry.quantity] = line
    computed = {line.entry.keys[0] for line in lines if line.confml is not None}
    rows, before = [], None
    for keys, row in kept.items():
        if keys[0] not in computed:
            continue
        printed = [row[column].entry.printed if column in row else "" for column in table.columns]
        ours = [
            "" if column not in row or row[column].confml is None
            else f"{row[column].confml:.{decimals[column]}f}"
            for column in table.columns
        ]  # fmt: skip
        who = " ".join(filter(None, keys[1:]))
        shares = [
            (row[column].points or 0) / table.grid[column] if column in row and table.grid else 1.0
            for column in table.columns
        ]
        marked = _marked(ours, table.best, shares)
        if table.grid:
            marked = [
                f"{cell} ({row[column].points})" if cell and row[column].points is not None else cell
                for cell, column in zip(marked, table.columns, strict=True)
            ]
        for source, cells in (("paper", _marked(printed, table.best)), (who or "confml", marked)):
            if any(cells):
                rows.append([keys[0] if keys[0] != before else "", source, *cells])
                before = keys[0]
    return [next(iter(table.keys.values())), "", *table.columns.values()], rows, 2


def _marked(cells: Sequence[str], metric: str | None, shares: Sequence[float] = ()) -> list[str]:
    """Return numbers as text, with a star after the best one.

    shares: of the paper's grid. A number with a smaller share than another one gets no star, as its grid may
    be the reason.
    """
    if metric is None or not any(cells):
        return list(cells)
    sign = ranking_metric(metric).sign
    first = max((float(cell) for cell in cells if cell), key=lambda number: sign * number)
    largest = max((share for cell, share in zip(cells, shares, strict=False) if cell), default=0.0)
    return [
        f"{cell}*" if cell and float(cell) == first and (not shares or shares[place] >= largest) else cell
        for place, cell in enumerate(cells)
    ]


def _plus(value: float, decimals: int) -> str:
    """Return a difference with its sign, and 0 without a sign."""
    text = f"{value:+.{decimals}f}"
    return text[1:] if float(text) == 0 else text


def _missing_notes(lines: Sequence[Line]) -> Iterator[str]:
    datasets: dict[str, list[bool]] = {}
    for line in lines:
        if line.status != QUOTED:
            datasets.setdefault(line.entry.keys[0], []).append(line.status == COMPUTED)
    absent = [name for name, computed in datasets.items() if not any(computed)]
    partly = [name for name, computed in datasets.items() if any(computed) and not all(computed)]
    if absent:
        yield f"Not computed: {', '.join(absent)}."
    if partly:
        yield f"Computed in part: {', '.join(partly)}."


def _ambiguous_notes(ambiguous: Sequence[tuple[Entry, list[SummaryRow]]]) -> list[str]:
    notes: dict[str, None] = {}
    for entry, rows in ambiguous:
        variants = " and ".join(f"{row.dataset}, {row.method} {row.variant}".strip() for row in rows)
        notes[f"{entry.keys[0]}: several variants match the paper's: {variants}."] = None
    return list(notes)


def has_paper(run: RunResults) -> bool:
    return bool(run.config.paper)


def write(report: Report) -> None:
    """Write the paper's tables that a config names with the numbers of its run: CSV, Markdown, LaTeX."""
    paper = report.run.config.paper
    assert paper is not None  # `has_paper` says so
    names = [paper.table] if isinstance(paper.table, str) else paper.table
    write_tables(report, names, report_numbers(report.folder))


PUBLISHED = Files(
    "published-tables",
    {"tables": "the paper's numbers and confml's"},
    write,
    needs="paper: {table: ...} in the config",
    applies=has_paper,
)
