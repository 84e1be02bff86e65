"""``confml bayes-error``: tables, files, and messages about wrong arguments."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

from confml.bayes_error.rates import bayes_errors
from confml.bayes_error.selection import select_attributes
from confml.data import load
from confml.report.bayes_error.study import attribute_groups
from confml.report.bayes_error.tables import BOUNDS_HOLD
from confml.steps.registry import build_step


def run(*arguments):
    """(stdout, stderr) of the command."""
    result = command("bayes-error", *arguments)
    return result.stdout, result.stderr


@pytest.fixture
def table(tmp_path):
    """Three classes of 30, 20 and 1 rows: ``size`` and ``colour`` tell the first two apart, ``noise`` does
    not."""
    rng = np.random.default_rng(1)
    lines = ["id,noise,colour,size,kind,same"]
    for row in range(51):
        kind = "a" if row < 30 else "b" if row < 50 else "c"
        colour = {"a": "red", "b": "blue", "c": ""}[kind] if row % 5 != 1 else "green"
        size = rng.normal() + 6 * (kind == "b")
        lines.append(f"r{row},{rng.normal():.4f},{colour},{size:.4f},{kind},1")
    path = tmp_path / "things.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(path), "--label", "kind", "--ignore", "id", "--nominal", "colour", "--missing", "mean"]


def test_tables_of_a_users_file(table):
    out, messages = run(*table)
    rows = [line.split() for line in out[: out.index("one-vs-rest")].splitlines()[3:6]]
    assert sorted(row[:4] for row in rows) == [line.split() for line in ("a b 30 20", "a c 30 1", "b c 20 1")]
    estimates = [float(row[4]) for row in rows]
    assert estimates == sorted(estimates, reverse=True)
    assert "\nglobal-tree " in out and "\n1-nn " in out
    assert "missing values replaced by means" in messages and "constant columns: 1" in messages
    assert "fewer than 1000 rows (class c has 1)" in messages


def test_files_hold_what_the_library_says(table, tmp_path):
    out, _ = run(*table, "--json", "--out", tmp_path / "out", "--scale", "none", "--trees", 2, "--seed", 5)
    document = json.loads(out)
    assert document == json.loads((tmp_path / "out" / "bayes-error.json").read_text())
    data = load({"csv": table[0], "label": "kind", "ignore": ["id"], "nominal": "colour", "missing": "mean"})
    X = build_step("impute-mean").fit(data.X, data.y).transform(data.X)
    expected = bayes_errors(X, data.y, trees=2)  # continuous sizes: no ties, so no order of rows matters
    row = next(row for row in document["pairs"] if (row["class_a"], row["class_b"]) == ("a", "b"))
    assert row["rows_a"] == 30 and row["rows_b"] == 20
    assert row["estimate"] == pytest.approx(expected.pairwise.estimate[0, 1])
    assert row["bayes_error"] == pytest.approx(expected.pairwise.estimate[0, 1] * 0.4)
    assert (row["lower"], row["upper"]) == (expected.pairwise.lower[0, 1], expected.pairwise.upper[0, 1])
    rest = {row["class"]: row["estimate"] for row in document["one_vs_rest"]}
    assert [rest[k] for k in "abc"] == pytest.approx(expected.one_vs_rest.estimate.tolist())
    estimates = pd.read_csv(tmp_path / "out" / "pairs.csv", float_precision="round_trip")["estimate"]
    assert estimates.tolist() == [row["estimate"] for row in document["pairs"]]
    assert estimates.is_monotonic_decreasing
    for name in ("heat-map", "one-vs-rest"):
        assert (tmp_path / "out" / "figures" / f"{name}.svg").stat().st_size > 5000


def test_everything_at_once_and_the_same_twice(table, tmp_path):
    options = ["--intervals", "--select", 2, "--json"]
    out, messages = run(*table, *options, "--out", tmp_path / "out")
    document = json.loads(out)
    quiet, warnings = run(*table, *options, "-q")
    assert json.loads(quiet) == document
    assert all(line.startswith(("note: ", "warning: ")) for line in warnings.splitlines())
    assert "selection: 1. size" in messages or "selection: 1. colour" in messages
    assert {row["attribute"] for row in document["selection"]} <= {"noise", "colour", "size", "same"}
    for row in document["pairs"]:
        if row["rows_b"] == 1:  # nothing can be left out
            assert row["interval_low"] is row["interval_high"] is None
        else:
            assert row["interval_low"] <= row["estimate"] <= row["interval_high"]
    assert list((tmp_path / "out").rglob("selection.csv"))


def test_points_that_are_all_equal_have_a_tie_band(tmp_path):
    (tmp_path / "same.csv").write_text("u,y\n" + "1,a\n1,b\n" * 10)
    out, messages = run(tmp_path / "same.csv", "--label", "y")
    assert "1 estimate has a tie band wider" in messages and "-1.000" in out
    document = json.loads(run(tmp_path / "same.csv", "--label", "y", "--json", "-q")[0])
    _, near = document["overall"]
    assert (near["estimate_tie_low"], near["estimate_tie_high"], near["lower"]) == (0.0, 0.5, 0.5)


def test_estimates_that_are_nothing_but_class_sizes_are_a_warning(tmp_path):
    noise = pd.DataFrame({"u": np.random.default_rng(0).normal(size=105)})
    noise.assign(y=np.repeat(["a", "b", "c"], [60, 30, 15])).to_csv(tmp_path / "noise.csv", index=False)
    _, messages = run(tmp_path / "noise.csv", "--label", "y")
    assert "classes the estimate is the smaller prior, its maximum" in messages
    assert "the most it can be" not in run("iris")[1]


def test_estimates_for_all_classes(tmp_path):
    out, _ = run("two-gaussians", "--out", tmp_path)
    assert "true Bayes error of two-gaussians: 15.87 %" in out
    table = out[out.index("Bayes error of all classes") :].split("\n\n")[0]
    assert [line.split()[0] for line in table.splitlines()[3:]] == ["global-tree", "1-nn"]
    document = json.loads((tmp_path / "bayes-error.json").read_text())
    data = load({"name": "two-gaussians", "generate": "two-gaussians", "seed": 1})
    X = (data.X - data.X.min(axis=0)) / np.ptp(data.X, axis=0)
    expected = bayes_errors(X, data.y)  # no ties, so no order of rows matters
    names = ("estimate", "estimate_tie_low", "estimate_tie_high", "lower", "upper")
    tree, near = ([row[name] for name in names] for row in document["overall"])
    whole, nearest = expected.global_tree, expected.nearest_neighbour
    assert tree == [whole.estimate, whole.least, whole.most, whole.lower, whole.upper]
    assert near == [*[nearest.estimate] * 3, nearest.lower, nearest.upper]
    tables = {path.name for path in tmp_path.rglob("*.csv")}
    assert tables == {"pairs.csv", "one-vs-rest.csv", "overall.csv"}


def test_printed_shares_are_those_of_the_stored_simulation():
    table = pd.read_csv(Path(__file__).parents[2] / "results/reference/validity/validity.csv")
    table = table[table["entry"] == "overall-bayes-error"]
    for name, printed in BOUNDS_HOLD.items():
        event = f"Bayes error outside the bounds of {name}"
        share = 100 * (1 - table.loc[table["event"] == event, "seen"])
        assert len(share) == 4 and printed == f"{share.min():.0f}-{share.max():.0f} %"


def test_the_data_set_of_a_config(table, tmp_path):
    """A config has the keys for a file of another form; init finds them."""
    text = Path(table[0]).read_text().replace(",", ";").replace(".", ",")
    (tmp_path / "semicolons.csv").write_text(text)
    dataset = "csv: semicolons.csv, label: kind, ignore: [id], missing: mean, decimal: ','"
    (tmp_path / "c.yaml").write_text(f"datasets: [{{{dataset}}}]\nmethods: [knn]\nprotocol: k-fold\n")
    of_config = json.loads(run(tmp_path / "c.yaml", "--json", "-q")[0])
    assert of_config["pairs"] == json.loads(run(*table, "--json", "-q")[0])["pairs"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["iri"], "did you mean 'iris'"),
        (["iris", "--label", "y"], "--label is for table files"),
        (["iris", "--select", 5], "--select"),
        (["iris", "--criterion", "worst"], "it needs --select"),
        (["two.yaml"], "has 2 data sets, expected one"),
        (["two.yaml", "--label", "y"], "--label is for table files"),
        (["nowhere.csv"], "needs --label"),
        (["nowhere.csv", "--label", "y"], "no such file"),
    ],
)
def test_wrong_arguments(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("two.yaml").write_text("datasets: [iris, wine-sklearn]\nmethods: [knn]\nprotocol: k-fold\n")
    assert words in str(refusal("bayes-error", *arguments))


def test_dummy_columns_are_selected_together(table):
    data = load({"csv": table[0], "label": "kind", "ignore": ["id"], "nominal": "colour", "missing": "mean"})
    names, groups = attribute_groups(data)
    assert names == ("noise", "colour", "size", "same")
    assert [data.attributes[column] for column in groups[1]] == ["colour=blue", "colour=green", "colour=red"]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=80)
    X = rng.normal(size=(80, 4))
    X[:, 3] += 6 * (X[:, 1] > 0)  # columns 1 and 3 together tell the class
    X[:, 1] = np.where((X[:, 1] > 0) == (y == 1), 9.0, -9.0) + 0.1 * X[:, 1]
    selection = select_attributes(X, y, 1, groups=[[0], [1, 3], [2]])
    assert selection.attributes.tolist() == [1]
