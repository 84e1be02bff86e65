"""Command lines in the process of the tests, and the results that runs leave in their folders."""

import contextlib
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from confml.cli import main


def command(*arguments, code=0) -> SimpleNamespace:
    """Run a command line with its error boundary, and return its ``stdout`` and ``stderr``."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
    assert ended.value.code == code, stderr.getvalue()
    assert "Traceback" not in stderr.getvalue()
    return SimpleNamespace(stdout=stdout.getvalue(), stderr=stderr.getvalue())


def run_serial(config, out, *options, code=0) -> SimpleNamespace:
    """Run a config without worker processes."""
    return command("run", config, "--out", out, "--engine", "serial", *options, code=code)


def contents(out: Path, pattern: str = "*.csv") -> dict[str, bytes]:
    """Return the files of a run by their paths; times are left out."""
    files = [path for path in out.rglob(pattern) if path.is_file() and path.name != "timings.csv"]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def stored_keys(out: Path, kind: str = "cells") -> list[str]:
    """Return the key of each stored record of a kind, sorted; one that was stored twice is there twice."""
    records = []
    for path in out.glob(".run/batches/*.jsonl"):
        _, *lines = path.read_text().splitlines()
        records += [json.loads(line.partition(" ")[2]) for line in lines]
    return sorted(record["key"] for record in records if record["kind"] == kind)
