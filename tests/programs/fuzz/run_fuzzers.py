"""Fuzzers of the files of a run: a command on a damaged folder works, or says what is damaged."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from programs.fuzz import stored_run

from confml import cli
from confml.report.run.stored import open_run
from confml.report.write import write_report


def feed_manifest(data: bytes, folder: Path) -> None:
    """Feed the ``manifest.json`` of a run, which is shown, reported and resumed."""
    run = stored_run.copy_to(folder)
    (run / ".run/manifest.json").write_bytes(data)
    for command in ("status", "report"):
        check_command(command, run)
    # Resuming writes the manifest anew: no cell is lost.
    stored_run.resume(run)
    assert stored_run.metrics(run) == stored_run.expected_metrics()


def feed_store(data: bytes, folder: Path) -> None:
    """Feed the lines, or the arrays, of a batch: damaged records are absent, and are computed again."""
    run = stored_run.copy_to(folder)
    ending = "bin" if data.startswith(b"x") else "jsonl"  # a zlib stream begins with x
    for path in sorted((run / ".run/batches").glob(f"*.{ending}")):
        path.write_bytes(data)
    for command in ("status", "report"):
        check_command(command, run)
    state = stored_run.resume(run)
    assert not state.left and not state.failed
    check_command("report", run)
    assert stored_run.metrics(run) == stored_run.expected_metrics(), "a damaged record was used"


def feed_report(data: bytes, folder: Path) -> None:
    """Feed a damaged file of a report, or one of zeros: the next report has the same bytes."""
    run = stored_run.copy_to(folder)
    write_report(open_run(run), run)
    tables = {path: path.read_bytes() for path in run.rglob("*.csv")}
    path = run / (".run/report-files", "metrics.csv", "summary.csv")[len(data) % 3]
    path.write_bytes(bytes(path.stat().st_size) if sum(data) % 2 else data)
    write_report(open_run(run), run)
    changed = [path.name for path, content in tables.items() if path.read_bytes() != content]
    assert not changed, f"a damaged {path.name} leaves {changed}"


def check_command(command: str, run: Path) -> None:
    """Assert that a command on a run's folder ends with a documented exit code and without a traceback."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            cli.main([command, str(run), *(["--quiet"] if command == "report" else [])])
        except SystemExit as ended:
            code = ended.code
    assert code in (0, 1, 2, 3) and "Traceback" not in text.getvalue(), f"{command}: {code} {text.getvalue()}"
