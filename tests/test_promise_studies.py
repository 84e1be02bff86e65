"""The program of `make promises`: a run on two small data sets, and literal regions of its forms."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import processes

PROGRAM = Path(__file__).resolve().parent / "programs" / "promises"
STORED = Path(__file__).resolve().parents[1] / "results" / "reference" / "promises"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_repeats_and_sums_up(tmp_path):
    def run():
        options = ("--only", "choice", "--splits", "1", "--datasets", "iris", "wine-sklearn")
        return processes.confml(*options, "--out", tmp_path, program=PROGRAM)

    first = run()
    assert first.returncode == 0, first.stderr
    table = (tmp_path / "choice.csv").read_bytes()
    assert run().returncode == 0 and (tmp_path / "choice.csv").read_bytes() == table
    rows = rows_of(tmp_path / "choice.csv")
    sizes = {(row["dataset"], row["form"]): float(row["size"]) for row in rows}
    alone = ("naive Bayes", "k-NN", "logistic regression", "random forest")
    for dataset in ("iris", "wine-sklearn"):
        assert sizes[dataset, "best in hindsight (no guarantee)"] == min(sizes[dataset, one] for one in alone)
    mean = sum(sizes[dataset, "best-of"] for dataset in ("iris", "wine-sklearn")) / 2
    (line,) = [one for one in (tmp_path / "promises.md").read_text().splitlines() if "| best-of |" in one]
    assert f"| {mean:.3f} |" in line


def test_shares_of_the_stored_choices_sum_to_one():
    rows = rows_of(STORED / "choice.csv")
    for dataset in {row["dataset"] for row in rows}:
        own = [float(row["chosen"]) for row in rows if row["dataset"] == dataset]
        assert len(own) == 7 and abs(sum(own[3:]) - 1) < 0.001


def test_a_naive_choice_misses_more_than_the_level():
    rates = {row["form"]: float(row["error"]) for row in rows_of(STORED / "alike.csv")}
    assert rates["best-of"] < 0.2 < 0.3 < rates["naive choice (no guarantee)"]


def test_the_page_has_the_stored_numbers():
    page = (STORED.parents[2] / "docs" / "pages" / "explanation" / "promises.md").read_text(encoding="utf-8")
    rows = rows_of(STORED / "choice.csv")
    for form in (
        "best-of",
        "naive choice (no guarantee)",
        "best in hindsight (no guarantee)",
        "random forest",
    ):
        assert f"{np.mean([float(row['size']) for row in rows if row['form'] == form]):.3f}" in page
    for row in rows_of(STORED / "alike.csv")[:2]:
        assert f"{100 * float(row['error']):.1f} %" in page
    sizes = {
        row["form"]: [
            float(one["size"]) for one in rows_of(STORED / "folds.csv") if one["form"] == row["form"]
        ]
        for row in rows_of(STORED / "folds.csv")
    }
    for form in ("split (calibration 0.3)", "randomised", "e-prediction, odds"):
        assert f"{np.mean(sizes[form]):.3f}" in page
