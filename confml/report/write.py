"""`write_report`: every file of a run's report, made from stored results."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from confml._outputs import RUN
from confml.report.files import write_file
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.tables.known import outputs_of, plugin_tables
from confml.report.tables.notes import NOTES_FILE
from confml.report.tables.table import Files, Table

WRITTEN = f"{RUN}/report-files"  # the next report removes those that it does not write


def write_report(run: RunResults, folder: Path | str) -> list[Path]:
    """Write every file of a run's report and return the paths; stale files of the last report are removed.

    The same results give the same bytes. Numbers are written first and figures last, so the files written
    before an error are complete.
    """
    outputs = outputs_of(run)
    report = Report(run, Path(folder), outputs)
    report.notes += [f"{error.message}; it is not written" for error in plugin_tables()[1]]
    read_cells(report, outputs)
    for output in outputs:
        output.write(report)
        report.notes += output.notes(report)
    report.write(NOTES_FILE, "".join(f"{note}\n" for note in report.notes))
    _remove_stale(report.folder, report.paths)
    return report.paths


def read_cells(report: Report, outputs: Sequence[Table | Files]) -> None:
    """Read each cell once: make the rows of the tables of variants, and collect the values of functions."""
    tables = [output for output in outputs if isinstance(output, Table) and not output.of_run]
    files = [output for output in outputs if isinstance(output, Files)]
    report.rows |= {table.path: [] for table in tables}
    collected = (function for output in outputs for function in output.collects(report.run))
    for variant in report.run.collect(*collected):
        for table in tables:
            report.rows[table.path] += table.rows(variant)
        for output in files:
            output.of_variant(report, variant)


def _remove_stale(folder: Path, paths: Sequence[Path]) -> None:
    """Remove the files that the last report wrote and this one did not; store the list of this report."""
    names = {path.relative_to(folder).as_posix() for path in paths}
    for name in sorted(_listed(folder / WRITTEN) - names):
        path = folder / name
        if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
            path.unlink(missing_ok=True)
            with suppress(OSError):  # folders that are not empty stay
                os.removedirs(path.parent)
    write_file(folder / WRITTEN, "".join(f"{name}\n" for name in sorted(names)))


def _listed(memory: Path) -> set[str]:
    """Return the names in the list of the last report; none if the list is missing or damaged."""
    try:
        names = memory.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    return {name for name in names if name.isprintable()}
