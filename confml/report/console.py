"""The report of a run on stdout: a short table, its legend, warnings, and where page and tables are.

On a terminal the tables fit its width. In a pipe or a file they are plain text of any width.
"""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

import pandas as pd

from confml._json import from_json, to_json
from confml.report.forms.short_table import short_table
from confml.report.forms.summary import shown_summary
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, to_console
from confml.report.tables.known import outputs_of
from confml.report.tables.notes import NOTES_FILE, notes_of
from confml.report.tables.summary import counts_document, summary_document
from confml.terminal import carried, folded, width_of

PAGE = "report.html"


def print_run(
    results: RunResults, folder: Path, stream: IO[str] | None = None, everything: bool = False
) -> None:
    """Print the results of a run whose reports are in ``folder``.

    everything: also print all tables and the list of files.
    """
    stream = stream or sys.stdout
    if (table := short_table(results)) is not None:
        print_shown(table, stream)
    if everything:
        print_shown(shown_summary(results), stream)
    lines = _answer(folder)
    notes = folder / NOTES_FILE
    for note in notes.read_text(encoding="utf-8").splitlines() if notes.is_file() else notes_of(results):
        lines.append(note if note.startswith("warning: ") else f"note: {note}")
    lines += list_files(results, folder) if everything else list_outputs(folder)
    width = width_of(stream)
    wrapped = (part for line in lines for part in folded(line, width))
    stream.write(carried("".join(f"{line}\n" for line in wrapped), getattr(stream, "encoding", None)))


def _answer(folder: Path) -> list[str]:
    """Return the lines on the state of a run, its advice, and its failures by cause."""
    try:
        answer = from_json((folder / "answer.json").read_bytes())
    except (OSError, ValueError):
        return []
    lines = [f"state: {answer['state']}"] if answer["state"] else []
    lines += [f"failed: {text}" for text in answer["failures"]]
    return [*lines, *(f"answer: {text}" for text in answer["short"]), ""]


def print_json(results: RunResults, stream: IO[str] | None = None, counts: bool = False) -> None:
    """Print ``summary.json``; counts: only the name of the run and the numbers of its cells."""
    document = (counts_document if counts else summary_document)(results)
    (stream or sys.stdout).write(to_json(document, indent=1) + "\n")


def print_shown(table: ShownTable, stream: IO[str] | None = None) -> None:
    """Print a table in the width and the encoding of a stream."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None)
    frame = table.frame.map(lambda text: carried(text, encoding))
    frame.columns = pd.Index([carried(name, encoding) for name in table.headings])
    notes = [carried(note, encoding) for note in table.notes]
    table = replace(table, title=carried(table.title, encoding), frame=frame, notes=notes)
    stream.write(to_console(table, width_of(stream)))


def list_outputs(folder: Path) -> list[str]:
    """Return the lines that say where page, tables and figures are."""
    outputs = {"page": PAGE, "tables": "tables", "figures": "figures"}
    paths = [(name, folder / path) for name, path in outputs.items() if (folder / path).exists()]
    return [*(f"{name + ':':<9}{path}" for name, path in paths), f"{'files:':<9}{folder} (--all lists them)"]


def list_files(results: RunResults, folder: Path) -> list[str]:
    """Return one line per file of a report that is not empty, with its content."""
    files = {name: about for output in outputs_of(results) for name, about in output.paths.items()}
    present = {name: about for name, about in files.items() if has_content(folder / name)}
    width = max(map(len, present), default=0) + 1
    shown = [
        f"  {(name + '/' if (folder / name).is_dir() else name).ljust(width)}  {about}"
        for name, about in present.items()
    ]
    return [f"files in {folder}:", *shown]


def has_content(path: Path) -> bool:
    """Return whether a file or folder has more than a header."""
    if path.is_dir():
        return any(path.iterdir())
    if not path.exists():
        return False
    if path.suffix != ".csv":
        return True
    with path.open(encoding="utf-8") as file:
        return sum(1 for _ in islice(file, 2)) == 2  # a header, and at least one row
