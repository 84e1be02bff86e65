"""Whether the report in the folder of a run is the one of its stored results and need not be made again.

``.report-of`` holds a digest of everything that determines a report, the size of each of its files, and the
numbers that ``confml run`` prints, so that no cell is read if the report is current. A file that is newer
than ``.report-of`` was changed by somebody else.
"""

from __future__ import annotations

import csv
import functools
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import confml
from confml._seeds import stable_hash
from confml.config.warnings import Warned
from confml.report.files import write_file
from confml.report.metric_rows import MetricRows
from confml.report.sections.metrics import COLUMNS
from confml.report.short_table import ShortTable, short_table
from confml.report.warnings import result_warnings

if TYPE_CHECKING:
    from confml.report.results import RunResults

FILE = ".report-of"


@dataclass(frozen=True)
class StoredReport:
    """Numbers of the report in a folder: warnings of results, and the short table."""

    folder: Path
    warnings: tuple[Warned, ...]
    table: ShortTable

    def read_metrics(self, results: RunResults) -> MetricRows | None:
        """Return `RunResults.metrics` from ``metrics.csv``; None if it has other cells."""
        return read_metrics(results, self.folder)


def remember_report(results: RunResults, folder: Path, paths: Sequence[Path]) -> None:
    """Store the digest of the results of the report in ``folder``, its files, and what is printed of it."""
    document = {
        "of": _digest(results),
        "files": {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths},
        "warnings": [warning.as_dict() for warning in result_warnings(results)],
        "table": asdict(short_table(results)),
    }
    write_file(folder / FILE, json.dumps(document) + "\n")


def fresh_report(results: RunResults, folder: Path) -> StoredReport | None:
    """Return the report in ``folder`` if it is the one of these results and no file of it was changed."""
    try:
        stored = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if stored["of"] != _digest(results):
            return None
        made = (folder / FILE).stat().st_mtime_ns
        for name, size in stored["files"].items():
            found = (folder / name).stat()
            if found.st_size != size or found.st_mtime_ns > made:
                return None
        warnings = tuple(Warned(**warning) for warning in stored["warnings"])
        return StoredReport(folder, warnings, ShortTable(**stored["table"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def read_metrics(results: RunResults, folder: Path) -> MetricRows | None:
    """Return `RunResults.metrics` from the ``metrics.csv`` of a fresh report; None if it has other cells."""
    cells = {(cell.dataset, cell.method, cell.variant, cell.split): cell for cell in results.cells}
    if len(cells) < len(results.cells):
        return None
    rows = MetricRows()
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        if next(lines, [])[: len(COLUMNS)] != list(COLUMNS):
            return None
        for key, own in groupby(lines, key=lambda line: tuple(line[:4])):
            cell = cells.get(key)
            if cell is None:
                return None
            found = [
                ((view, metric, float(level) if level else None), float(value) if value else math.nan)
                for _, _, _, _, view, metric, level, value, *_ in own
            ]
            rows.append(cell, [name for name, _ in found], [value for _, value in found])
    return rows


def _digest(results: RunResults) -> str:
    """Return a digest of config, finished and failed cells, data sets, warnings, and the code of confml."""
    return stable_hash(
        _code(),
        repr(results.config),
        [f"{cell.key} {cell.key in results.results}" for cell in results.cells],
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
