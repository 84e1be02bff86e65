"""Numbers of papers and of confml in one table: ``tables/<name>.csv``, ``.md`` and ``.tex``."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from confml._json import from_json
from confml.errors import ConfigError, ConfmlError
from confml.plugins.parameters import parameters_text
from confml.published import Entry, Ours, PublishedTable, known_tables
from confml.report.declared import ranking_metric
from confml.report.files import read_csv
from confml.report.numbers.summaries import DATA_METRICS, SummaryRow, mean_and_sd, training_times
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable
from confml.report.tables import matched, threshold_curves, timings
from confml.report.tables.table import Files

COMPUTED, MISSING, QUOTED = "computed", "not in this run", "quoted"
CONFIGURATIONS = "configurations"
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
        return abs(self.difference) <= 0.5 * 10**-self.decimals + 1e-9

    @property
    def decimals(self) -> int:
        """Number of decimals of the printed number."""
        return len(self.entry.printed.partition(".")[2])


def published_table(name: str) -> PublishedTable:
    """Return the table of this name; ConfigError if it is unknown."""
    tables = known_tables()
    if name not in tables:
        raise ConfigError(f"unknown published table '{name}'", near=(name, tables))
    return tables[name]


def report_numbers(folder: Path) -> list[SummaryRow]:
    """Return every number of a report's files that a published table may print.

    These are the means over the splits, training times with the number of points of the grid, matched views,
    threshold curves, and the sizes of the data sets as numbers of the method ``data``.
    """
    document = from_json((folder / "summary.json").read_bytes())
    summary = []
    for row in document["summary"]:
        row |= {key: math.nan for key in ("mean", "sd") if row[key] is None}
        summary.append(SummaryRow(variant=parameters_text(row["params"]), **row))
    values: dict[tuple, list[float]] = {}
    for line in read_csv(folder / timings.TABLE.file):
        names = ("fit_seconds", "tuning_seconds", "configurations", "prepare_seconds")
        fit, tuning, configurations, prepare = (float(line[name] or 0) for name in names)
        times = training_times(fit, tuning, int(configurations), prepare)
        for metric, value in {**times, CONFIGURATIONS: configurations}.items():
            values.setdefault((*_variant(line), "", metric, None), []).append(value)
    for line in read_csv(folder / matched.TABLE.file):
        values.setdefault(_metric(line), []).append(float(line["value"] or "nan"))
    moments = {name: mean_and_sd(sample) for name, sample in values.items()}
    for line in read_csv(folder / threshold_curves.TABLE.file):
        moments[_metric(line)] = float(line["mean"] or "nan"), float(line["sd"] or "nan"), int(line["n"])
    params = {(row.dataset, row.method, row.variant): row.params for row in summary}
    summary += [
        SummaryRow._make((*name[:2], params[name[:3]], *name[2:], *stats))
        for name, stats in moments.items()
        if name[:3] in params
    ]
    return summary + [
        _of_data(info["name"], metric, float(info[metric]))
        for info in document["datasets"]
        for metric in DATA_METRICS
        if info[metric] is not None
    ]


def _variant(line: Mapping[str, str]) -> tuple[str, str, str]:
    return line["dataset"], line["method"], line["params"]


def _metric(line: Mapping[str, str]) -> tuple:
    level = float(line["level"]) if line["level"] else None
    return *_variant(line), line["view"], line["metric"], level


def _of_data(dataset: str, metric: str, value: float) -> SummaryRow:
    return SummaryRow(dataset, "data", {}, "", "", metric, None, value, math.nan, 1)


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

    sizes: dict[str, list[tuple[int, int]]] = {}
    for result in open_run(run).finished():
        rows = result.split_train_rows, len(result.truth)
        sizes.setdefault(result.cell.dataset, []).append(rows)
    return [
        _of_data(dataset, metric, sum(values) / len(values))
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
        report.write_shown(name, shown_table(table, lines, notes), name)


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
        matches = find(entry.ours, names, summary)
        if len(matches) > 1:
            ambiguous.append((entry, matches))
        if len(matches) != 1:
            # An additional row is of variants that most runs do not have; a wide table has cells for them.
            if entry.printed or table.wide:
                lines.append(Line(entry, None, None, None, MISSING))
            continue
        scaled = (round(value * entry.ours.factor, 10) for value in (matches[0].mean, matches[0].sd))
        mean, sd = (None if math.isnan(value) else value for value in scaled)
        behind = points.get((matches[0].dataset, matches[0].method, matches[0].variant))
        lines.append(Line(entry, mean, sd, matches[0].n, COMPUTED, behind))
    return lines, [*notes_of(table, lines), *_ambiguous_notes(ambiguous)]


def notes_of(table: PublishedTable, lines: Sequence[Line]) -> list[str]:
    """Return the notes of a table, and those on numbers that are missing in its lines."""
    marks = ["Bold: best number of its row."] if table.best else []
    if table.grid:
        points = ", ".join(f"{table.columns[column]} {number}" for column, number in table.grid.items())
        marks = [
            "Bold: best number of a row of the paper.",
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


def default_params(method: str) -> dict[str, Any]:
    """Return the default parameters of a method; empty if it is unknown."""
    from confml.methods.registry import method_class
    from confml.plugins.registry import default_parameters

    try:
        return default_parameters(method_class(method))
    except ConfmlError:
        return {}


# ---- as a table


def _csv_table(table: PublishedTable, lines: Sequence[Line]) -> tuple[Sequence[str], list[tuple]]:
    quantities = ("quantity", "paper", "confml", "difference", "as_printed", "sd", "splits", "status")
    header = [*table.keys, *quantities, *["points"] * bool(table.grid)]
    rows = []
    for line in lines:
        numbers = line.entry.printed, line.confml, line.difference, line.as_printed, line.sd, line.splits
        row = (*line.entry.keys, line.entry.quantity, *numbers, line.status, line.points)
        rows.append(row[: len(header)])
    return header, rows


def shown_table(table: PublishedTable, lines: Sequence[Line], notes: Sequence[str]) -> ShownTable:
    """Return a table for readers, with its source and notes; without the data sets that have no results."""
    computed = {line.entry.keys[0] for line in lines if line.confml is not None}
    lines = [line for line in lines if line.entry.keys[0] in computed]
    notes = [f"{table.source}. All numbers in {table.unit}.", *notes]
    if table.wide:
        return _wide_table(table, lines, notes)
    several = len(table.columns) > 1
    rows = []
    for line in lines:
        decimals = max(2, line.decimals)
        confml = "" if line.confml is None else f"{line.confml:.{decimals}f}"
        rows.append(
            (
                *line.entry.keys,
                *([table.columns[line.entry.quantity]] if several else []),
                line.entry.printed + (" (quoted)" if line.status == QUOTED else ""),
                confml if line.sd is None else f"{confml} ± {line.sd:.{decimals}f}",
                # A difference of 0 has no sign.
                "" if line.difference is None else f"{round(line.difference, decimals) or 0.0:+.{decimals}f}",
                {None: "", True: "yes", False: "no"}[line.as_printed],
                str(line.splits or ""),
            )
        )
    keys = [*table.keys.values(), *(["quantity"] if several else [])]
    headings = [*keys, "paper", "confml", "difference", "as printed", "splits"]
    return ShownTable(table.title, pd.DataFrame(rows, columns=headings), notes, len(keys))


def _wide_table(table: PublishedTable, lines: Sequence[Line], notes: Sequence[str]) -> ShownTable:
    """Return rows of the paper's numbers and rows of ours below them, without empty rows.

    Ours have as many digits as the paper's in their column. Those with a number of grid points are not marked
    as the best, because the grids differ.
    """
    decimals: Counter[str] = Counter()
    for line in lines:
        decimals[line.entry.quantity] = max(decimals[line.entry.quantity], line.decimals)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for line in lines:
        (dataset, *variant), quantity = line.entry.keys, line.entry.quantity
        if line.entry.printed:
            rows.setdefault((dataset, "paper"), {})[quantity] = line.entry.printed
        if line.confml is not None:
            points = "" if line.points is None else f" ({line.points})"
            text = f"{line.confml:.{decimals[quantity]}f}{points}"
            rows.setdefault((dataset, " ".join(filter(None, variant)) or "confml"), {})[quantity] = text
    headings = [next(iter(table.keys.values())), "numbers of", *table.columns.values()]
    texts = [(*names, *(row.get(column, "") for column in table.columns)) for names, row in rows.items()]
    frame = pd.DataFrame(texts, columns=headings)
    best = pd.DataFrame(False, frame.index, frame.columns)
    if table.best is not None:
        numbers = frame.iloc[:, 2:].apply(pd.to_numeric, errors="coerce") * ranking_metric(table.best).sign
        best.iloc[:, 2:] = numbers.eq(numbers.max(axis=1), axis=0)
    return ShownTable(table.title, frame, notes, 2, best)


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
