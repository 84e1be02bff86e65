"""The page of the leaderboards: the table of views and its tests, computed again."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

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


def test_views_that_are_shown_to_differ_from_the_mean():
    values = defaultdict(dict)
    for row in stored("confidences.csv"):
        values[row["method"], row["params"], row["view"]][row["dataset"]] = float(row["mean"])
    found = []
    for (method, params, view), own in values.items():
        if view in VIEWS[1:] and (reference := values.get((method, params, "reject"))):
            difference = np.round([own[name] - reference[name] for name in own], 6)
            assert len(difference) == 28
            kind = f"{method} {params}"
            found.append((wilcoxon(difference).pvalue, kind, view, bool(difference.mean() > 0)))
    assert len(found) == 35
    shown = []
    for place, (p, *rest) in enumerate(sorted(found)):
        if p * (len(found) - place) > 0.05:
            break
        shown.append((*rest,))
    counted = defaultdict(int)
    for _, view, is_worse in shown:
        counted[view, is_worse] += 1
    assert dict(counted) == {
        ("posterior", False): 1,
        ("envelope", True): 1,
        ("expected-entropy", True): 3,
        ("mutual-information", True): 1,
        ("total-entropy", True): 1,
    }
    assert any("adaptive" in kind for kind, view, _ in shown if view == "envelope")
    assert any("form=quadratic" in kind for kind, view, _ in shown if view == "posterior")
