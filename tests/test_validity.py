"""The validity table: its verdicts, and a run of a few draws."""

from __future__ import annotations

import csv
from pathlib import Path

import processes

PROGRAM = Path(__file__).resolve().parent / "programs" / "validity"


def test_a_run_keeps_the_rows_of_other_entries(tmp_path):
    def run(*options):
        return processes.confml("--jobs", "1", "--out", tmp_path, *options, program=PROGRAM)

    assert run("--only", "tie-band", "--draws", "30").returncode == 0
    assert "0 fail" in run("--only", "ranks", "--draws", "15").stdout
    assert " claims, " in run("--only", "predictions", "--draws", "1", "--out", tmp_path / "new-rows").stdout
    with (tmp_path / "validity.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["entry"] for row in rows} == {"tie-band", "ranks"}
    assert all(int(row["draws"]) == 3 for row in rows)
    assert "| tie band, bayes-error |" in (tmp_path / "validity.md").read_text()
    assert "no entry begins with 'nothing'" in run("--only", "nothing").stderr
