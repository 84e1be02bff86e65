"""The report of a run on stdout: a short table, its legend, warnings, and where page and tables are.

On a terminal the tables fit its width. In a pipe or a file they are plain text of any width.
"""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from confml.report.captions import setting_text
from confml.report.sections.notes import notes_of
from confml.report.sections.registry import sections_of
from confml.report.sections.summary import summary_document
from confml.report.standings import Line, Standings, standings_of
from confml.report.summary_tables import Column, mark_of, standing_text
from confml.report.text_table import plain_table, text_width
from confml.terminal import carried, width_of

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.report.sections.base import Section

PAGE = "report.html"
ROWS, BEST = 40, 3  # longer short tables have the best methods of each data set only
SHORT_LEVEL = 0.05


def print_run(
    results: RunResults, folder: Path, stream: IO[str] | None = None, everything: bool = False
) -> None:
    """Print the results of a run whose reports are in ``folder``.

    everything: also print all tables of the sections and the list of files.
    """
    stream = stream or sys.stdout
    sections = sections_of(results, folder)
    lines = print_short_table(results, stream)
    if everything:
        for section in sections:
            for table in section.printed():
                print_table(
                    table.headings,
                    table.rows,
                    title=table.title,
                    right=table.right,
                    keys=table.keys,
                    stream=stream,
                )
    notes = folder / "notes.txt"
    for note in notes.read_text(encoding="utf-8").splitlines() if notes.is_file() else notes_of(results):
        lines.append(note if note.startswith("warning: ") else f"note: {note}")
    lines += list_files(sections, folder) if everything else list_outputs(folder)
    width = width_of(stream)
    wrapped = (part for line in lines for part in _folded(line, width))
    stream.write(carried("".join(f"{line}\n" for line in wrapped), getattr(stream, "encoding", None)))


def _folded(line: str, width: int | None) -> list[str]:
    """Return a line in parts of at most ``width`` characters, broken at blanks; paths are not broken."""
    if width is None or len(line) <= width:
        return [line]
    return textwrap.wrap(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def print_short_table(results: RunResults, stream: IO[str]) -> list[str]:
    """Print error and regions at one level, one row per view; return the lines of the legend.

    With more than `ROWS` rows the `BEST` methods of each data set are printed.
    """
    standings = standings_of(results)
    if not standings.lines:
        return []
    level = short_level(results)
    columns = [Column("error", "error", by_level=False)]
    if level is not None:
        columns += [Column("coverage", "coverage"), Column("mean_region_size", "set size", per_cent=False)]
        columns += [Column("one_class", "singleton rate")]
    lines = standings.in_config_order()
    shown = _best_lines(standings, lines) if len(lines) > ROWS else lines
    rows = []
    for line in shown:
        cells = []
        for column in columns:
            found = standings.of(line, column.metric, level if column.by_level else None)
            text = standing_text(found, column, with_sd=not column.by_level)
            cells.append(f"{text} {mark_of(found) or ' '}" if column.metric == "error" else text)
        rows.append([*line, *cells])
    kept = [place for place in range(len(columns) + 3) if place < 4 or any(row[place] for row in rows)]
    headings = ["data set", "method", "view", *(column.heading for column in columns)]
    headings = [headings[place] for place in kept]
    rows = [[row[place] for place in kept] for row in rows]
    width = width_of(stream)
    if width is not None and text_width(headings, rows) > width:
        headings, rows = _grouped(headings, rows)
        print_table(headings, rows, right=2, stream=stream)
    else:
        print_table(headings, _named_once(rows), right=3, stream=stream)
    return [*_legend(standings, shown, level if len(kept) > 4 else None), ""]


def _named_once(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows with each data set in the first of its rows only."""
    names = ["", *(row[0] for row in rows)]
    return [["" if row[0] == name else row[0], *row[1:]] for name, row in zip(names, rows, strict=False)]


def _grouped(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows with each data set on a line of its own, above its methods."""
    grouped = []
    for name, *cells in _named_once(rows):
        grouped += [[name, *[""] * (len(cells) - 1)]] if name else []
        grouped.append([f"  {cells[0]}", *cells[1:]])
    return ["method", *headings[2:]], grouped


def short_level(results: RunResults) -> float | None:
    """Return the level of the short table: the one of the config that is closest to 0.05."""
    levels = [float(level) for level in results.config.levels]
    return min(levels, key=lambda level: (abs(level - SHORT_LEVEL), level)) if levels else None


def _best_lines(standings: Standings, lines: Sequence[Line]) -> list[Line]:
    kept = []
    for dataset in dict.fromkeys(line.dataset for line in lines):
        own = [line for line in lines if line.dataset == dataset]
        errors = {line: one.mean for line in own if (one := standings.of(line, "error"))}
        best = sorted(errors, key=lambda line: (math.isnan(errors[line]), errors[line]))[:BEST]
        kept += [line for line in own if line in best]
    return kept


def _legend(standings: Standings, shown: Sequence[Line], level: float | None) -> list[str]:
    found = [one for line in standings.lines if (one := standings.of(line, "error"))]
    sd = " ± sd over splits" if any(one.n > 1 for one in found) else ""
    lines = [setting_text(standings.results), f"error: mean in %{sd}; + lowest error of the data set"]
    if level is not None:
        lines.append(
            f"regions at significance level {level:g}: coverage and singleton rate in %, set size in labels"
        )
    if any(not math.isnan(one.p_value) for one in found):
        worse = sum(one.worse for one in found)
        tested = sum(not math.isnan(one.p_value) for one in found)
        lines.append(
            f"significance: * marks errors significantly above the lowest, {worse} of {tested} "
            f"({standings.test_text()})"
        )
    else:
        lines.append("significance: not tested; a test needs two methods on the same test examples")
    if len(shown) < len(standings.lines):
        lines.append(
            f"the {BEST} lowest errors of each data set; --all prints all {len(standings.lines)} rows"
        )
    return lines


def print_json(results: RunResults, stream: IO[str] | None = None) -> None:
    """Print the content of ``summary.json``."""
    document = summary_document(results)
    (stream or sys.stdout).write(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str = "",
    right: int | None = None,
    keys: int | None = None,
    stream: IO[str] | None = None,
) -> None:
    """Print a table; an empty first cell continues the row above.

    right: columns from this one on are aligned to the right; by default those that hold numbers only. keys:
    number of columns that identify a row; by default those before the first number. On a terminal a table
    that is too wide is divided into blocks of columns, each with the keys; names are never shortened.
    """
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None)
    if right is None:
        numeric = [all(isinstance(row[place], int | float) for row in rows) for place in range(len(headings))]
    else:
        numeric = [place >= right for place in range(len(headings))]
    cells = [[carried(str(value), encoding) for value in row] for row in rows]
    names = [carried(heading, encoding) for heading in headings]
    stream.write(plain_table(names, cells, numeric, carried(title, encoding), width_of(stream), keys))


def list_outputs(folder: Path) -> list[str]:
    """Return the lines that say where page, tables and figures are."""
    places = {"page": PAGE, "tables": "tables", "figures": "figures"}
    found = [(name, folder / path) for name, path in places.items() if (folder / path).exists()]
    return [*(f"{name + ':':<9}{path}" for name, path in found), f"{'files:':<9}{folder} (--all lists them)"]


def list_files(sections: Sequence[Section], folder: Path) -> list[str]:
    """Return one line per file of a report that is not empty, with its content."""
    files = {name: about for section in sections for name, about in section.files.items()}
    present = {name: about for name, about in files.items() if _has_content(folder / name)}
    width = max(map(len, present), default=0) + 1
    shown = [
        f"  {(name + '/' if (folder / name).is_dir() else name).ljust(width)}  {about}"
        for name, about in present.items()
    ]
    return [f"files in {folder}:", *shown]


def _has_content(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    if not path.exists():
        return False
    with path.open(encoding="utf-8") as file:
        return sum(1 for _ in islice(file, 2)) == 2  # a header, and at least one row
