"""What a run prints on stdout: the result table, a few region predictions, and where the files are.

On a terminal the tables fit its width. In a pipe or a file they are plain text as wide as they need to be.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from confml.report.metrics import SummaryRow, summary_document

if TYPE_CHECKING:
    from confml.report.results import RunResults

REGION_METRICS = {  # metric -> (heading, whether it is a share)
    "coverage": ("coverage", True),
    "mean_region_size": ("size", False),
    "one_class": ("one", True),
    "two_or_more": ("two+", True),
    "no_class": ("none", True),
    "correct_of_one_class": ("right of one", True),
}
EXAMPLE_ROWS, EXAMPLE_CLASSES = 5, 4


def print_run(results: RunResults, folder: Path, stream: IO[str] | None = None) -> None:
    """Print what came out of a run whose reports are in ``folder``."""
    stream = stream or sys.stdout
    headings, rows = result_table(results)
    if rows:
        over_splits = any(row.n > 1 for row in results.summary)
        title = "Results (%, mean ± sd over splits)" if over_splits else "Results (%)"
        print_table(headings, rows, title=title, right=3, stream=stream)
    headings, rows = sureness_table(results)
    if rows:
        title = "Sure and unsure at thresholds of confidence (%)"
        print_table(headings, rows, title=title, right=3, stream=stream)
    example = example_regions(results, folder)
    if example is not None:
        path, headings, rows = example
        print_table(headings, rows, title=f"Region predictions, first rows of {path}", stream=stream)
    notes = folder / "notes.txt"
    for note in notes.read_text(encoding="utf-8").splitlines() if notes.is_file() else results.notes:
        stream.write(f"note: {note}\n")
    stream.write("".join(f"{line}\n" for line in where_files_are(folder)))


def print_json(results: RunResults, stream: IO[str] | None = None) -> None:
    """Print what ``summary.json`` holds."""
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
    """A table as plain text, as wide as it needs to be, with an empty line after it."""
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


def result_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: a line for each data set, method variant, view and level, in the config's order.

    Shares are in per cent, sizes in labels; data set, method and error stand in the first of their lines.
    """
    found: dict[tuple, list[SummaryRow]] = {}
    for row in results.summary:
        if row.view:
            found.setdefault((row.dataset, row.method, row.variant, row.view), []).append(row)
    levels = [float(level) for level in dict.fromkeys(results.config.levels)]
    headings = ["data set", "method", "view", "error", "level"]
    headings += [heading for heading, _ in REGION_METRICS.values()]
    table: list[list[str]] = []
    order = dict.fromkeys((cell.dataset, cell.method, cell.variant) for cell in results.cells)
    labels = {(cell.dataset, cell.method, cell.variant): results.label(cell) for cell in results.cells}
    last = None
    for variant in order:
        for key in [key for key in found if key[:3] == variant]:
            values = {(row.metric, row.level): row for row in found[key]}
            error = values["error", None]
            line = [variant[0] if variant[0] != last else "", labels[variant], key[3], _percent(error)]
            last = variant[0]
            shown = [level for level in levels if ("coverage", level) in values]
            for level in shown:
                numbers = [
                    _percent(values[metric, level], with_sd=False) if share else _size(values[metric, level])
                    for metric, (_, share) in REGION_METRICS.items()
                ]
                table.append([*line, f"{level!r}", *numbers])
                line = [""] * 4
            if not shown:
                table.append([*line, "", *[""] * len(REGION_METRICS)])
    if not any(line[4] for line in table):  # no regions at all
        return headings[:4], [line[:4] for line in table]
    return headings, table


def sureness_table(results: RunResults) -> tuple[list[str], list[list[str]]]:
    """SURE CORRECT, UNSURE and SURE INCORRECT at the config's thresholds: a line a view and threshold."""
    names = ("sure_correct", "unsure", "sure_incorrect")
    found = {
        (row.dataset, row.method, row.variant, row.view, row.metric, row.level): row
        for row in results.summary
        if row.metric in names
    }
    headings = ["data set", "method", "view", "threshold", "sure correct", "unsure", "sure incorrect"]
    table: list[list[str]] = []
    thresholds = [float(threshold) for threshold in dict.fromkeys(results.config.thresholds)]
    labels = {(cell.dataset, cell.method, cell.variant): results.label(cell) for cell in results.cells}
    before = ("", "", "")
    for variant, label in labels.items():
        for view in dict.fromkeys(key[3] for key in found if key[:3] == variant):
            for threshold in thresholds:
                keys = (variant[0], label, view)
                line = [
                    "" if keys[: place + 1] == before[: place + 1] else key for place, key in enumerate(keys)
                ]
                before = keys
                numbers = [_percent(found[*variant, view, name, threshold]) for name in names]
                table.append([*line, f"{threshold!r}", *numbers])
    return headings, table


def example_regions(results: RunResults, folder: Path) -> tuple[Path, list[str], list[list[str]]] | None:
    """(path, headings, rows) of the first rows of one region table: the config's first that has regions."""
    from confml.report.files import safe_name
    from confml.report.regions import region_paths

    paths = region_paths(results)
    for cell in results.cells:
        if cell.key not in results.results:
            continue
        views = results.results[cell.key].views
        view = next((name for name, prediction in views.items() if prediction.has_regions), None)
        if view is None or len(views[view]) == 0:
            continue
        ending = f".{safe_name(view)}.csv" if len(views) > 1 else ".csv"
        path = folder / "regions" / paths[cell.key]
        path = path.with_name(path.name + ending)
        if path.exists():
            break
    else:
        return None
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = islice(csv.reader(file), EXAMPLE_ROWS + 1)
    scores = [place for place, name in enumerate(header) if name.endswith("]")]
    kept = [place for place in range(len(header)) if place not in scores[EXAMPLE_CLASSES:]]
    if not any(row[4] for row in rows):
        kept.remove(4)  # no credibility
    headings = [header[place] for place in kept]
    if len(scores) > EXAMPLE_CLASSES:
        headings[headings.index(header[scores[EXAMPLE_CLASSES - 1]])] += " ..."
    short = [[_short(row[place]) if place > 2 else row[place] for place in kept] for row in rows]
    return path, headings, short


def where_files_are(folder: Path) -> list[str]:
    """The files of a report by name, with what is in them."""
    files = {
        "metrics.csv": "every number, one a row",
        "summary.csv": "means over the splits",
        "rejection-curves.csv": "errors against rejection rate",
        "certified.csv": "thresholds whose risk is certified for new examples",
        "certified-splits.csv": "the counts behind them, for each split",
        "p-values": "p-values of the true labels and their counts",
        "matched.csv": "reject and posterior at the envelope's proportions",
        "tables": "the paper's numbers beside ours",
        "figures": "as SVG and PNG",
        "regions": "every single prediction",
        "dropped": "what steps took out of each training set",
        "failures.csv": "what failed, and why",
    }
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


def _percent(row: SummaryRow, with_sd: bool = True) -> str:
    if math.isnan(row.mean):
        return "-"
    sd = f" ± {100 * row.sd:.2f}" if with_sd and not math.isnan(row.sd) else ""
    return f"{100 * row.mean:.2f}{sd}"


def _size(row: SummaryRow) -> str:
    return "-" if math.isnan(row.mean) else f"{row.mean:.3f}"


def _short(text: str) -> str:
    """A number with four decimals, anything else as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if len(text) <= 6 else f"{value:.4f}"
