"""The report of a run on stdout: tables of the sections, notes, and the list of files.

On a terminal the tables fit its width. In a pipe or a file they are plain text of any width.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from confml.report.sections.notes import notes_of
from confml.report.sections.registry import sections_of
from confml.report.sections.summary import summary_document

if TYPE_CHECKING:
    from confml.report.results import RunResults
    from confml.report.sections.base import Section


def print_run(results: RunResults, folder: Path, stream: IO[str] | None = None) -> None:
    """Print the results of a run whose reports are in ``folder``."""
    stream = stream or sys.stdout
    sections = sections_of(results, folder)
    for section in sections:
        for table in section.printed():
            print_table(table.headings, table.rows, title=table.title, right=table.right, stream=stream)
    notes = folder / "notes.txt"
    for note in notes.read_text(encoding="utf-8").splitlines() if notes.is_file() else notes_of(results):
        stream.write(f"note: {note}\n")
    stream.write("".join(f"{line}\n" for line in list_files(sections, folder)))


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
    stream: IO[str] | None = None,
) -> None:
    """Print a table; an empty first cell continues the row above.

    right: columns from this one on are aligned to the right; by default those that hold numbers only.
    """
    stream = stream or sys.stdout
    cells = [[str(value) for value in row] for row in rows]
    if right is None:
        numeric = [all(isinstance(row[place], int | float) for row in rows) for place in range(len(headings))]
    else:
        numeric = [place >= right for place in range(len(headings))]
    if stream.isatty():
        _print_rich(headings, cells, numeric, title, stream)
    else:
        stream.write(plain_table(headings, cells, numeric, title))


def plain_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], title: str = ""
) -> str:
    """Return a table as plain text, followed by an empty line."""
    widths = [max(len(cell) for cell in column) for column in zip(headings, *rows, strict=True)]
    lines = [title] if title else []
    for cells in (headings, ["-" * width for width in widths], *rows):
        padded = (
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(cells, widths, numeric, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n\n"


def _print_rich(headings, rows, numeric, title: str, stream: IO[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading, to_the_right in zip(headings, numeric, strict=True):
        overflow = {"no_wrap": True} if to_the_right else {"overflow": "fold"}
        table.add_column(Text(heading), justify="right" if to_the_right else "left", **overflow)
    for row in rows:
        table.add_row(*map(Text, row))
    Console(file=stream).print(table)


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
