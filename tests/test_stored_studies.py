"""Stored tables of older studies, and the pages that quote them."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/pages/results/leaderboard.md").read_text(encoding="utf-8")
VIEWS = ("reject", "envelope", "posterior", "exceedance", "total-entropy", "expected-entropy")
VIEWS = (*VIEWS, "mutual-information")


def test_the_table_and_the_views_that_differ_are_the_stored_ones():
    with (ROOT / "results/reference/confidences/views.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    means = defaultdict(dict)
    for row in rows:
        means[row["method"]][row["view"]] = f"{1000 * float(row['augrc']):.1f}"
    assert len(means) == 7
    for method, values in means.items():
        cells = " | ".join(values.get(view, "") for view in VIEWS)
        assert f"| {method} | {cells} |".replace("  ", " ") in PAGE
    differ = [row for row in rows if row["holm_p"] and float(row["holm_p"]) <= 0.05]
    counts = Counter((row["view"], float(row["difference"]) > 0) for row in differ)
    expected = {"envelope": 1, "expected-entropy": 3, "mutual-information": 1, "total-entropy": 1}
    assert counts == {("posterior", False): 1, **{(view, True): number for view, number in expected.items()}}


def test_the_costs_of_guarantees_are_the_stored_ones():
    page = (ROOT / "docs/pages/explanation/promises.md").read_text(encoding="utf-8")
    costs = pd.read_csv(ROOT / "results/reference/promises/costs.csv")
    for form, rows in costs.groupby("form"):
        assert f"| {form} | {100 * rows['error'].mean():.1f} % | {rows['size'].mean():.2f} |" in page
