"""Whether the report in the folder of a run is the one of its stored results and need not be made again.

``.report-of`` holds a digest of everything that determines a report, and the size of each of its files. A
file that is newer than it was changed by somebody else.
"""

from __future__ import annotations

import csv
import functools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import confml
from confml._seeds import stable_hash
from confml.report.files import write_file
from confml.report.sections.metrics import COLUMNS
from confml.report.summaries import MetricRow

if TYPE_CHECKING:
    from confml.report.results import RunResults

FILE = ".report-of"


def remember_report(results: RunResults, folder: Path, paths: Sequence[Path]) -> None:
    """Store what the report in ``folder`` was made of, and its files."""
    files = {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}
    write_file(folder / FILE, json.dumps({"of": _digest(results), "files": files}) + "\n")


def is_fresh(results: RunResults, folder: Path) -> bool:
    """Return whether the report in ``folder`` is the one of these results and no file of it was changed."""
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if stored["of"] != _digest(results):
            return False
        made = (folder / FILE).stat().st_mtime_ns
        found = {name: (folder / name).stat() for name in stored["files"]}
        return all(
            found[name].st_size == size and found[name].st_mtime_ns <= made
            for name, size in stored["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def read_metrics(results: RunResults, folder: Path) -> list[MetricRow] | None:
    """Return `RunResults.metrics` from the ``metrics.csv`` of a fresh report; None if it has other cells."""
    cells = {(cell.dataset, cell.method, cell.variant, cell.split): cell for cell in results.cells}
    rows = []
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        if next(lines, [])[: len(COLUMNS)] != list(COLUMNS):
            return None
        for dataset, method, params, split, view, metric, level, value, *_ in lines:
            cell = cells.get((dataset, method, params, split))
            if cell is None:
                return None
            number = float(value) if value else math.nan
            rows.append(MetricRow(cell, view, metric, float(level) if level else None, number))
    return rows if len(cells) == len(results.cells) else None


def _digest(results: RunResults) -> str:
    """Return a digest of config, finished and failed cells, data sets, warnings, and the code of confml."""
    return stable_hash(
        _code(),
        repr(results.config),
        [[cell.as_dict(), cell.key in results.results] for cell in results.cells],
        [[failure.cell.key, failure.error] for failure in results.failures],
        [repr(info) for _, info in sorted(results.datasets.items())],
        [repr(warning) for warning in results.warnings],
    )


@functools.cache
def _code() -> str:
    """Return a digest of the version of confml and of the sizes and times of its files."""
    root = Path(confml.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.suffix in (".py", ".csv", ".css", ".js", ".html"))
    found = [(path.name, path.stat()) for path in files]
    return stable_hash(confml.__version__, [[name, one.st_size, one.st_mtime_ns] for name, one in found])
