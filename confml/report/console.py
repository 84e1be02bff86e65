"""The report of a run on stdout: a short table, its legend, warnings, and where page and tables are.

On a terminal the tables fit its width. In a pipe or a file they are plain text of any width.
"""

import sys
from pathlib import Path

from confml._json import from_json, to_json
from confml.errors import printable
from confml.report.forms.short_table import short_table
from confml.report.forms.summary import shown_summary
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, to_console
from confml.report.tables.notes import NOTES_FILE, notes_of
from confml.report.tables.summary import counts_document, summary_document
from confml.terminal import folded, width_of

PAGE = "report.html"


def print_run(results: RunResults, folder: Path, everything: bool = False) -> None:
    """Print the results of a run whose reports are in ``folder``.

    everything: also print all results.
    """
    if (table := short_table(results)) is not None:
        print_shown(table)
    if everything and (shown := shown_summary(results)).frame.size:
        print_shown(shown)
    lines = _answer(folder)
    notes = folder / NOTES_FILE
    for note in notes.read_text(encoding="utf-8").splitlines() if notes.is_file() else notes_of(results):
        lines.append(note if note.startswith("warning: ") else f"note: {note}")
    lines += list_outputs(folder)
    width = width_of(sys.stdout)
    for line in lines:
        print("\n".join(folded(printable(line), width)))


def _answer(folder: Path) -> list[str]:
    """Return the lines on the state of a run, its advice, and its failures by cause."""
    try:
        answer = from_json((folder / "answer.json").read_bytes())
    except (OSError, ValueError):
        return []
    lines = [f"state: {answer['state']}"] if answer["state"] else []
    lines += [f"failed: {text}" for text in answer["failures"]]
    return [*lines, *(f"answer: {text}" for text in answer["short"]), ""]


def print_json(results: RunResults, counts: bool = False) -> None:
    """Print ``summary.json``; counts: only the name of the run and the numbers of its cells."""
    document = (counts_document if counts else summary_document)(results)
    print(to_json(document, indent=1))


def print_shown(table: ShownTable) -> None:
    """Print a table in the width of the terminal."""
    print(printable(to_console(table, width_of(sys.stdout))), end="")


def list_outputs(folder: Path) -> list[str]:
    """Return the lines that say where page, tables and figures are."""
    outputs = {"page": PAGE, "tables": "tables", "figures": "figures", "files": ""}
    paths = [(name, folder / path) for name, path in outputs.items()]
    return [f"{name + ':':<9}{path}" for name, path in paths if path.exists()]
