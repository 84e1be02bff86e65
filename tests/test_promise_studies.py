"""The program of `make promises`: a run on two small data sets, and literal regions of its forms."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

STORED = Path(__file__).resolve().parents[1] / "results" / "reference" / "promises"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
