"""Whether the report in the folder of a run is the one of its stored results and need not be made again.

``.report-of`` holds a digest of everything that determines a report, the SHA-256 of each of its files, and
the numbers that ``confml run`` prints, so that no cell is read if the report is current. A damaged file, also
``.report-of`` itself, makes the report stale, and it is written again.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from confml._seeds import stable_hash
from confml._version import PACKAGE, __version__
from confml.config.warnings import Warned
from confml.data.files import sha256_of
from confml.report.files import write_file
from confml.report.run.results import RunResults
from confml.report.run.stored_report import ShortTable, StoredReport
from confml.report.sections.notes import result_warnings
from confml.report.tables.short_table import short_table

FILE = ".report-of"


def remember_report(results: RunResults, folder: Path, paths: Sequence[Path]) -> None:
    """Store the digest of the results of the report in ``folder``, its files, and what is printed of it."""
    document = {
        "of": _digest(results),
        "files": {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths},
        "warnings": [warning.as_dict() for warning in result_warnings(results)],
        "table": asdict(short_table(results)),
    }
    text = json.dumps(document)
    write_file(folder / FILE, f"{stable_hash(text)}\n{text}\n")


def fresh_report(results: RunResults, folder: Path) -> StoredReport | None:
    """Return the report in ``folder`` if it is the one of these results and no file of it was changed."""
    try:
        digest, _, text = (folder / FILE).read_text(encoding="utf-8").rstrip("\n").partition("\n")
        if digest != stable_hash(text):
            return None
        stored = json.loads(text)
        if stored["of"] != _digest(results):
            return None
        if any(sha256_of(folder / name) != wanted for name, wanted in stored["files"].items()):
            return None
        warnings = tuple(Warned(**warning) for warning in stored["warnings"])
        return StoredReport(folder, warnings, ShortTable(**stored["table"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


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
    files = sorted(
        path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".csv", ".css", ".js", ".html")
    )
    found = [(path.name, path.stat()) for path in files]
    return stable_hash(__version__, [[name, one.st_size, one.st_mtime_ns] for name, one in found])
