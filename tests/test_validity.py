"""The validity table: its verdicts, and a run of a few draws."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import processes
import pytest

PROGRAM = Path(__file__).resolve().parent / "programs" / "validity"


@pytest.fixture(scope="module")
def table():
    sys.path.insert(0, str(PROGRAM))
    spec = importlib.util.spec_from_file_location("validity_table", PROGRAM / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(PROGRAM))


def test_a_run_repeats_and_keeps_the_rows_of_other_entries(tmp_path):
    def run(*options):
        return processes.confml("--jobs", "1", "--out", tmp_path, *options, program=PROGRAM)

    assert run("--only", "tie-band", "--draws", "30").returncode == 0
    assert "0 fail" in run("--only", "ranks", "--draws", "15").stdout
    first = (tmp_path / "validity.csv").read_bytes()
    run("--only", "tie-band", "--draws", "30")
    assert (tmp_path / "validity.csv").read_bytes() == first
    with (tmp_path / "validity.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["entry"] for row in rows} == {"tie-band", "ranks"}
    assert all(int(row["draws"]) == 3 for row in rows)
    assert "| tie band, bayes-error |" in (tmp_path / "validity.md").read_text()
    assert "no entry begins with 'nothing'" in run("--only", "nothing").stderr
