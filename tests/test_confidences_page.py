"""The page of the leaderboard of confidences: its table and its tests, computed again."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import yaml
from scipy.stats import wilcoxon

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/pages/results/confidences.md").read_text(encoding="utf-8")
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


def test_the_ranks_of_the_text_are_the_stored_ones():
    for column, method, view in (
        ("augrc", "Bayes point machine", ""), ("augrc", "random forest", "reject"),
        ("risk_at_0.9", "RBF SVM", ""), ("risk_at_0.8", "Bayes point machine", ""),
        ("certified_at_0.1", "Bayesian transduction", "bayes-point"),
        ("region_size", "logistic regression, bootstrap, conformal view=reject", ""),
        ("observed_fuzziness", "TCM-NN", ""),
    ):  # fmt: skip
        ranks = {
            (row["method"], row["view"]): float(row["mean_rank"])
            for row in stored("leaderboard.csv")
            if row["column"] == column
        }
        assert f"{ranks[method, view]:.1f}" in PAGE
        assert column == "augrc" or ranks[method, view] == min(ranks.values())


def test_the_ranks_by_rejection_are_the_best_and_the_largest():
    rows = [row for row in stored("leaderboard.csv") if row["column"] == "augrc"]
    ranks = sorted((float(row["mean_rank"]), row["method"], row["view"]) for row in rows)
    (line,) = [part for part in PAGE.split("\n- ") if part.startswith("**By rejection")]
    best, largest = line.split("The largest")
    assert [method for _, method, _ in ranks[:3]] == [
        "Bayes point machine", "Bayesian transduction", "random forest"
    ]  # fmt: skip
    assert all(f"({rank:.1f})" in best for rank, *_ in ranks[:3]) and best.count("(") == 4
    assert all(f"({rank:.1f})" in largest for rank, *_ in ranks[-2:])


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


def test_the_minutes_and_the_many_classes_of_the_text():
    seconds = {
        r["method"]: float(r["mean"]) for r in stored("leaderboard-timings.csv") if r["column"] == "seconds"
    }
    assert f"about {sum(seconds.values()) * 28 / 60:.0f} minutes of one core" in PAGE
    config = yaml.safe_load((ROOT / "configs/confidences.yaml").read_text(encoding="utf-8"))
    assert len(config["datasets"]) == 28
    cards = {name: ROOT / f"datasets/{name}.yaml" for name in config["datasets"]}
    counts = {
        name: len(yaml.safe_load(path.read_text(encoding="utf-8"))["expect"]["classes"])
        for name, path in cards.items()
    }
    many = sorted(name for name, count in counts.items() if count >= 10)
    assert f"({', '.join(many[:-1])} and {many[-1]})" in " ".join(PAGE.split()) and len(many) == 9
    assert max(counts.values()) == 28
