"""The page of the leaderboards: the table of views and its tests, computed again."""

import csv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/pages/results/leaderboard.md").read_text(encoding="utf-8")
VIEWS = ("reject", "envelope", "posterior", "exceedance", "total-entropy", "expected-entropy")
VIEWS = (*VIEWS, "mutual-information")


def stored(name):
    with (ROOT / "results/reference/confidences" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_is_the_stored_one():
    rows = [row for row in stored("leaderboard.csv") if row["column"] == "augrc"]
    means = {(row["method"], row["view"]): 1000 * float(row["mean"]) for row in rows}
    methods = {method for method, view in means if view == "reject"}
    assert len(methods) == 7 and f"The {len(rows)} methods and views" in PAGE
    for method in methods:
        cells = [f"{means[method, view]:.1f}" if (method, view) in means else "" for view in VIEWS]
        assert f"| {method} | {' | '.join(cells)} |".replace("  ", " ") in PAGE
