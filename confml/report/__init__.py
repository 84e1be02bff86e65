"""Reports of a run: tables, figures, and what is printed. Written from stored results, never computing any.

`write_report` writes everything below a run's folder but its manifest and cells. The same results give the
same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from confml.errors import ConfmlError
from confml.report.certified import write_certified
from confml.report.class_coverage import write_class_coverage
from confml.report.console import print_json, print_run
from confml.report.dropped import write_dropped
from confml.report.figures import check_figure, draw_figures, known_figures
from confml.report.files import write_csv, write_file
from confml.report.linked import read_linked, write_linked
from confml.report.matched import matched_rows, write_matched
from confml.report.metrics import (
    dataset_rows,
    read_datasets,
    read_summary,
    timing_rows,
    write_metrics,
    write_summary,
    write_timings,
    write_tuning,
)
from confml.report.online import write_online
from confml.report.published import known_tables
from confml.report.ranks import write_ranks
from confml.report.regions import region_paths, write_regions
from confml.report.rejection import write_curves
from confml.report.results import DatasetInfo, Failure, RunResults, cell_order
from confml.report.stored import open_run
from confml.report.tables import published_table, write_tables
from confml.report.trees import write_trees
from confml.report.true_p_values import write_p_values

WRITTEN = ".report"  # names the files of the report, so that the next one can remove what it has not


def write_report(results: RunResults, folder: Path | str) -> list[Path]:
    """Write every file of a run's report; files of its last report that are no longer part of it go.

    Numbers come first and figures last: an error on the way leaves whole files behind.
    """
    folder = Path(folder)
    paths = [
        write_metrics(results, folder),
        write_timings(results, folder),
        write_tuning(results, folder),
        *write_summary(results, folder),
        write_failures(results, folder),
        *write_class_coverage(results, folder),
        *write_curves(results, folder),
        *write_matched(results, folder),
        *write_certified(results, folder),
        *write_regions(results, folder),
        *write_p_values(results, folder),
        *write_online(results, folder),
        *write_dropped(results, folder),
        *write_linked(results, folder),
    ]
    paper = getattr(results.config, "paper", None)
    if paper is not None:
        names = [paper.table] if isinstance(paper.table, str) else paper.table
        paths += write_tables(names, _table_rows(folder), folder)
    paths += [*write_ranks(results, folder), *write_trees(results, folder)]
    figures, undrawn = draw_figures(results, folder)
    notes = [*results.notes, *undrawn]
    paths += [*figures, write_file(folder / "notes.txt", "".join(f"{note}\n" for note in notes))]
    _remove_stale(folder, paths, _still_to_come(results))
    return paths


def write_failures(results: RunResults, folder: Path) -> Path:
    """``failures.csv``: the cells that could not be computed, and why."""
    rows = (
        (failure.cell.dataset, failure.cell.method, failure.cell.variant, failure.cell.split, failure.error)
        for failure in sorted(results.failures, key=lambda failure: cell_order(failure.cell))
    )
    return write_csv(folder / "failures.csv", ("dataset", "method", "params", "split", "error"), rows)


def combine_tables(names: Sequence[str], runs: Sequence[Path | str], folder: Path | str) -> list[Path]:
    """Published tables with the numbers of several runs, each named by the folder of its report.

    For tables whose data sets were evaluated under different protocols. Raises ConfmlError for a folder
    without a ``summary.json``.
    """
    summary = []
    for run in map(Path, runs):
        if not (run / "summary.json").is_file():
            hint = "name a folder that confml run has written"
            raise ConfmlError("there is no summary.json", where=str(run), hint=hint)
        summary += _table_rows(run)
    return list(write_tables(names, summary, Path(folder)))


def _table_rows(run: Path) -> list:
    """What tables are filled from: a report's summary, training times, matched views, linked curves, data."""
    summary = read_summary(run / "summary.json")
    timings = timing_rows(run / "timings.csv", summary) if (run / "timings.csv").is_file() else []
    matched = matched_rows(run / "matched.csv", summary) if (run / "matched.csv").is_file() else []
    linked = read_linked(run / "linked.csv", summary)
    return [*summary, *timings, *matched, *linked, *dataset_rows(read_datasets(run / "summary.json"))]


def _still_to_come(results: RunResults) -> set[str]:
    """Tables of examples, without their endings, of planned cells that are neither finished nor failed.

    Another process may have finished them meanwhile and written their tables.
    """
    failed = {failure.cell.key for failure in results.failures}
    return {
        f"{top}/{path.as_posix()}"
        for key, path in region_paths(results).items()
        if key not in results.results and key not in failed
        for top in ("regions", "p-values", "online")
    }


def _remove_stale(folder: Path, paths: Sequence[Path], to_come: set[str]) -> None:
    """Remove what the last report wrote and this one did not, and remember what this one wrote."""
    names = sorted(path.relative_to(folder).as_posix() for path in paths)
    memory = folder / WRITTEN
    before = memory.read_text(encoding="utf-8").splitlines() if memory.is_file() else []
    for name in sorted(set(before) - set(names)):
        path = folder / name
        if any(name[: dot.start()] in to_come for dot in re.finditer(r"\.", name)):
            names.append(name)
            continue
        if path.resolve().is_relative_to(folder.resolve()):
            path.unlink(missing_ok=True)
            _remove_empty(path.parent, folder)
    write_file(memory, "".join(f"{name}\n" for name in sorted(names)))


def _remove_empty(path: Path, folder: Path) -> None:
    while path != folder and path.is_dir() and not any(path.iterdir()):
        path.rmdir()
        path = path.parent


__all__ = [
    "DatasetInfo",
    "Failure",
    "RunResults",
    "check_figure",
    "combine_tables",
    "known_figures",
    "known_tables",
    "open_run",
    "print_json",
    "print_run",
    "published_table",
    "write_report",
]
