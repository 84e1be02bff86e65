"""``confml bayes-error``: tables, files, and messages about wrong arguments."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from commands.bayes_error_cases import refused, run

from confml import _jit
from confml.bayes_error import bayes_errors, soft_label_error
from confml.bayes_error.selection import select_attributes
from confml.data import load
from confml.errors import DataError
from confml.steps.registry import build_step
from confml.studies.bayes_error import figures
from confml.studies.bayes_error.study import attribute_groups


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
    assert {(row[0], row[1]): (row[2], row[3]) for row in rows} == {
        ("a", "b"): ("30", "20"),
        ("a", "c"): ("30", "1"),
        ("b", "c"): ("20", "1"),
    }
    assert [float(row[4]) for row in rows] == sorted((float(row[4]) for row in rows), reverse=True)
    for name in ("N1", "N2", "N3", "R/n", "LSC", "C1", "C2", "1-NN upper bound"):
        assert f"\n{name} " in out
    assert "missing values replaced by means" in messages and "constant columns: 1" in messages
    assert "fewer than 1000 rows (class c has 1)" in messages


def test_the_first_estimate_says_that_kernels_are_compiled(table, monkeypatch):
    marked = []
    monkeypatch.setattr(_jit, "kernels_are_compiled", marked.__contains__)
    monkeypatch.setattr(_jit, "mark_kernels_compiled", marked.append)
    messages = run(*table, "--quiet")[1].splitlines()
    assert all(line.startswith("warning: ") for line in messages) and marked.pop() == "bayes-error"
    assert run(*table)[1].startswith("compiling kernels of bayes-error, once per machine (up to a minute")
    assert "compiling" not in run(*table)[1]


def test_files_hold_what_the_library_says(table, tmp_path):
    out, _ = run(*table, "--json", "--out", tmp_path / "out", "--scale", "none", "--trees", 2, "--seed", 5)
    told = json.loads(out)
    assert told == json.loads((tmp_path / "out" / "bayes-error.json").read_text())
    data = load({"csv": table[0], "label": "kind", "ignore": ["id"], "nominal": "colour", "missing": "mean"})
    X = build_step("impute-mean").fit(data.X, data.y).transform(data.X)
    expected = bayes_errors(X, data.y, trees=2)  # continuous sizes: no ties, so no order of rows matters
    row = next(row for row in told["pairs"] if (row["class_a"], row["class_b"]) == ("a", "b"))
    assert row["rows_a"] == 30 and row["rows_b"] == 20
    assert row["estimate"] == pytest.approx(expected.pairwise.estimate[0, 1])
    assert row["bayes_error"] == pytest.approx(expected.pairwise.estimate[0, 1] * 0.4)
    assert (row["lower"], row["upper"]) == (expected.pairwise.lower[0, 1], expected.pairwise.upper[0, 1])
    rest = {row["class"]: row["estimate"] for row in told["one_vs_rest"]}
    assert [rest[k] for k in "abc"] == pytest.approx(expected.one_vs_rest.estimate.tolist())
    with open(tmp_path / "out" / "pairs.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["estimate"]) for row in rows] == [row["estimate"] for row in told["pairs"]]
    assert sorted((row["estimate"] for row in told["pairs"]), reverse=True) == [
        row["estimate"] for row in told["pairs"]
    ]
    for name in ("heat-map", "one-vs-rest"):
        assert (tmp_path / "out" / "figures" / f"{name}.svg").stat().st_size > 5000


def test_embeddings_are_ranked_on_a_sample_of_rows(tmp_path):
    asked = ["iris", "--embeddings", "--select-rows", 60, "--components", "1,3", "--json"]
    out, messages = run(*asked, "--out", tmp_path)
    told = json.loads(out)
    assert json.loads(run(*asked, "-q")[0]) == told
    assert "transforms ranked on a random sample of 60 rows" in " ".join(told["about"])
    columns = {row["transform"]: row["columns"] for row in told["transforms"]}
    assert columns == {
        "as-is": 4, "standardise": 4, "min-max": 4, "pca-1": 1, "pca-3": 3,
        "kernel-pca-1": 1, "kernel-pca-3": 3, "laplacian-1": 1, "laplacian-3": 3,
    }  # fmt: skip
    with open(tmp_path / "transforms-of-classes.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * len(columns)
    worst = {row["transform"]: row["worst_class"] for row in told["transforms"]}
    for name, value in worst.items():
        assert value == max(float(row["estimate"]) for row in rows if row["transform"] == name)
    # without a sample the values are those of the table of classes
    whole = json.loads(run("iris", "--components", "1", "--json", "-q")[0])
    given = {row["class"]: row for row in whole["transforms_of_classes"] if row["transform"] == "min-max"}
    for row in whole["one_vs_rest"]:
        one = given[row["class"]]
        assert (one["estimate"], one["lower"], one["upper"]) == (row["estimate"], row["lower"], row["upper"])
        assert one["bayes_error"] == pytest.approx(row["bayes_error"], abs=1e-12)


def test_everything_at_once_and_the_same_twice(table, tmp_path):
    asked = ["--intervals", "--blocks", 4, "--permutations", 19, "--select", 2, "--transforms"]
    asked += [
        "--components",
        "1,2",
        "--classifier",
        "knn",
        "--param",
        "k=1",
        "--json",
        "--count",
        "nontrivial",
    ]
    out, messages = run(*table, *asked, "--out", tmp_path / "one")
    told = json.loads(out)
    words, _ = run("iris", "--intervals", "--blocks", 3, "--permutations", 9)
    assert "95% interval" in words and "do not include the bias" in words and "not adjusted" in words
    quiet, kept = run(*table, *asked, "-q")
    assert json.loads(quiet) == told and all(line.startswith("warning: ") for line in kept.splitlines())
    assert "selection: 1. size" in messages or "selection: 1. colour" in messages
    assert {row["attribute"] for row in told["selection"]} <= {"noise", "colour", "size", "same"}
    names = {row["transform"]: row["columns"] for row in told["transforms"]}
    assert names == {"as-is": 6, "standardise": 6, "min-max": 6, "pca-1": 1, "pca-2": 2} | {
        name: columns for name, columns in names.items() if name.startswith("select-")
    }
    assert [row["mean_of_pairs"] for row in told["transforms"]] == sorted(
        row["mean_of_pairs"] for row in told["transforms"]
    )
    for row in told["pairs"]:
        if row["rows_b"] == 1:  # nothing can be left out
            assert row["interval_low"] is row["interval_high"] is None
        else:
            assert row["interval_low"] <= row["estimate"] <= row["interval_high"]
        assert 1 / 20 <= row["p_value"] <= 1 and (row["p_value"] * 20) % 1 == pytest.approx(0, abs=1e-9)
    files = {path.name for path in (tmp_path / "one").rglob("*.*")}
    assert {"selection.csv", "transforms-of-pairs.csv", "transforms.svg", "selection.svg"} <= files


def test_long_tables_are_cut_with_a_note(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},k{i // 3}" for i, (a, b) in enumerate(rng.normal(size=(240, 2)))]
    (tmp_path / "many.csv").write_text("\n".join(["u,v,y", *rows]) + "\n")
    out, _ = run(tmp_path / "many.csv", "--label", "y", "--out", tmp_path / "out", "--trees", 1)
    assert "... and 3140 more pairs (--all prints them" in out and "... and 40 more classes" in out
    assert len((tmp_path / "out" / "pairs.csv").read_text().splitlines()) == 3161
    out, _ = run(tmp_path / "many.csv", "--label", "y", "--one-vs-rest", "--all", "--trees", 1)
    assert "pairs of classes" not in out and "more classes" not in out


def test_points_that_are_all_equal_are_told(tmp_path):
    (tmp_path / "same.csv").write_text("u,y\n" + "1,a\n1,b\n" * 10)
    out, messages = run(tmp_path / "same.csv", "--label", "y")
    assert "1 estimate has a tie band wider" in messages and "-1.000" in out
    told = json.loads(run(tmp_path / "same.csv", "--label", "y", "--json", "-q")[0])
    near = {row["measure"]: (row["least"], row["most"]) for row in told["measures"]}
    assert near["1-NN upper bound"] == (0.0, 1.0) and near["1-NN lower bound"] == (0.0, 0.5)


def test_files_of_an_earlier_study_do_not_stay(table, tmp_path):
    run(*table, "--out", tmp_path, "--select", 1, "--transforms", "-q")
    (tmp_path / "figures" / "mine.png").write_text("not of the command")
    written = {path.name for path in tmp_path.rglob("*.*")}
    assert {"selection.csv", "transforms.svg", "transforms-of-pairs.csv"} <= written
    run(*table, "--out", tmp_path, "-q")
    left = {path.name for path in tmp_path.rglob("*.*")}
    assert not [name for name in left if "selection" in name or "transforms" in name]
    assert {"mine.png", "pairs.csv", "heat-map.svg", "one-vs-rest.svg"} <= left


def test_what_is_selected_does_not_depend_on_what_else_is_asked_for(table):
    asked = [*table, "--select", 3, "--select-rows", 20, "--json", "-q"]
    alone = json.loads(run(*asked)[0])["selection"]
    assert json.loads(run(*asked, "--intervals", "--blocks", 3)[0])["selection"] == alone


def test_estimates_that_are_nothing_but_class_sizes_are_told(tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.repeat(["a", "b", "c"], [60, 30, 15])
    lines = [f"{u:.4f},{kind}" for u, kind in zip(rng.normal(size=105), kinds, strict=True)]
    (tmp_path / "noise.csv").write_text("\n".join(["u,y", *lines]) + "\n")
    _, messages = run(tmp_path / "noise.csv", "--label", "y")
    assert "classes the estimate is the smaller prior, its maximum" in messages
    assert "the most it can be" not in run("iris")[1]


def test_the_figure_tells_what_class_sizes_alone_explain(tmp_path):
    sizes, errors = np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 2.1, 3.9, 8.1])
    assert figures.correlation_texts(sizes, errors) == ("0.999", "1.00")  # 1.00 is for 1 alone
    assert figures.correlation_texts(sizes, np.ones(4)) is None
    run("iris", "--classifier", "knn", "--out", tmp_path, "-q")
    text = (tmp_path / "figures" / "one-vs-rest.svg").read_text()
    assert "class sizes alone" not in text  # they are equal
    rows = [f"{u:.3f},k{min(i % 7, 3)}" for i, u in enumerate(np.random.default_rng(1).normal(size=140))]
    (tmp_path / "four.csv").write_text("\n".join(["u,y", *rows]) + "\n")
    run(tmp_path / "four.csv", "--label", "y", "--classifier", "knn", "--out", tmp_path, "-q")
    assert "class sizes alone" in (tmp_path / "figures" / "one-vs-rest.svg").read_text()


def test_estimates_for_all_classes(tmp_path):
    out, messages = run(
        "two-gaussians", "--extrapolate", "--noise", "0:1:0.5", "--repeats", 2, "--neighbours", 12,
        "--out", tmp_path,
    )  # fmt: skip
    table = out[out.index("Bayes error of all classes") :].split("\n\n")[0]
    assert [line.split()[0] for line in table.splitlines()[3:]] == [
        "global-tree",
        "1-nn",
        "k-nn",
        "k-nn-limit",
    ]
    assert "label noise: 3 rates, 2 draws of each" in messages
    assert "without noise the Bayes error is 15.87 %" in out
    found = json.loads((tmp_path / "bayes-error.json").read_text())
    data = load({"name": "two-gaussians", "generate": "two-gaussians", "seed": 1})
    X = (data.X - data.X.min(axis=0)) / np.ptp(data.X, axis=0)
    expected = bayes_errors(X, data.y, neighbours=12)  # no ties, so no order of rows matters
    rows = {row["estimator"]: row for row in found["overall"]}
    tree = expected.global_tree
    assert (rows["global-tree"]["estimate"], rows["global-tree"]["lower"]) == (tree.estimate, tree.lower)
    estimate, lower, upper = expected.neighbours.bounds
    assert [rows["k-nn"][key] for key in ("estimate", "lower", "upper")] == [estimate, lower, upper]
    assert rows["k-nn"]["interval_low"] < estimate < rows["k-nn"]["interval_high"]
    assert [row["error"] for row in found["neighbours"]] == expected.neighbours.error.tolist()
    assert found["global_tree"] == [{"class_a": 1, "class_b": 2, "delta": tree.delta[0, 1]}]
    assert [row["rows"] for row in found["subsamples"]][0] == 250
    assert len(found["noise"]) == 3 * len(found["noise_scores"]) == 15
    assert {row["known_low"] for row in found["noise"] if row["rate"] == 1} == {0.5}
    areas = [row["area"] for row in found["noise_scores"]]
    assert areas == sorted(areas)
    names = {path.name for path in tmp_path.rglob("*.csv")}
    assert {"overall.csv", "global-tree.csv", "neighbours.csv", "subsamples.csv", "noise.csv"} <= names
    for name in ("neighbours", "noise"):
        assert (tmp_path / "figures" / f"{name}.svg").stat().st_size > 5000
    run("two-gaussians", "-q", "--out", tmp_path)
    assert not (tmp_path / "noise.csv").exists() and not (tmp_path / "figures" / "noise.png").exists()


def test_a_range_is_drawn_where_the_error_is_not_known(tmp_path):
    out, _ = run("iris", "--noise", "0,0.4", "--best-error", 0.02, "--out", tmp_path)
    assert "between 0 and 2.00 %, the error of the best classifier" in out
    assert "k-nn-limit" not in out
    out, _ = run("wine-sklearn", "--noise", "0,0.4", "--extrapolate")
    assert "lower and upper of k-nn-limit are the ends of its 95 % interval" in out
    assert "the smallest k-NN error of these rows, which favours k-nn (--best-error: another one)" in out
    assert "possible, if the best classifier has 2.0 % errors" in (
        tmp_path / "figures" / "noise.svg"
    ).read_text(encoding="utf-8")


def test_votes_of_annotators_in_columns_of_a_file(tmp_path):
    rng = np.random.default_rng(0)
    lines, votes = ["u,cat,dog,y"], []
    for _ in range(40):
        dog = int(rng.integers(0, 6))
        votes.append([5 - dog, dog])
        lines.append(f"{rng.normal():.4f},{5 - dog},{dog},{'dog' if dog > 2 else 'cat'}")
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(lines) + "\n")
    told = json.loads(run(path, "--label", "y", "--soft-labels", "cat, dog", "--json", "-q")[0])
    row = next(row for row in told["overall"] if row["estimator"] == "soft-labels")
    expected = soft_label_error(votes)
    assert told["columns"] == 1  # votes are no features
    assert (row["estimate"], row["lower"], row["upper"]) == pytest.approx(
        (expected.estimate, expected.mean, expected.held_out)
    )
    assert "at least two columns" in str(refused(path, "--label", "y", "--soft-labels", "dog"))
    path.write_text(path.read_text().replace(",5,0,", ",five,0,"))
    error = refused(path, "--label", "y", "--soft-labels", "cat,dog")
    assert "expected a probability or a number of annotators, got 'five'" in str(error)
    assert "column 'cat'" in str(error)


def test_made_data_show_their_true_error():
    out, _ = run("two-gaussians", "--one-vs-rest")
    assert "true Bayes error of two-gaussians: 15.87 %" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["iri"], "did you mean 'iris'"),
        (["iris", "--label", "y"], "--label is for table files"),
        (["iris", "--part", "train"], "no predefined training and test parts"),
        (["iris", "--select", 5], "--select: expected 1 to 4"),
        (["iris", "--components", "2,x"], "comma-separated whole numbers"),
        (["iris", "--components", "9"], "expected 1 to 4, the columns"),
        (["iris", "--param", "k=1"], "--classifier METHOD"),
        (["iris", "--blocks", 5], "it needs --intervals"),
        (["iris", "--test-size", 0.5, "--intervals"], "it needs --classifier"),
        (["iris", "--criterion", "worst"], "--select or --transforms or --components or --embeddings"),
        (["iris", "--classifier", "knn", "--param", "k"], "NAME=VALUE"),
        (["iris", "--classifier", "knn", "--param", "kk=1"], "did you mean 'k'"),
        (["iris", "--classifier", "kn"], "did you mean 'knn'"),
        (["iris", "--noise", "0,1.5"], "--noise: expected rates from 0 to 1, got 1.5"),
        (["iris", "--noise", "a"], "--noise must be comma-separated numbers or from:to:step"),
        (["iris", "--repeats", 2], "it needs --noise"),
        (["iris", "--best-error", 0.1], "it needs --noise"),
        (["iris", "--level", 0.9], "--intervals or --extrapolate"),
        (["iris", "--extrapolate"], "expected at least 156 rows to extrapolate with k = 10, got 150"),
        (["iris", "--soft-labels", "a,b"], "--soft-labels is for table files"),
        (["nowhere.csv"], "needs --label"),
        (["nowhere.csv", "--label", "y"], "no such file"),
    ],
)
def test_mistakes_are_told(arguments, words):
    assert words in str(refused(*arguments))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("a,y\n", "no rows"),
        ("a,y\n1,x\n2,x\n", "must have at least two classes"),
        ("a,y\n,x\n2,z\n", "empty"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    error = refused(tmp_path / "bad.csv", "--label", "y")
    assert isinstance(error, DataError) and words in str(error)


def test_dummy_columns_are_selected_together(table):
    data = load({"csv": table[0], "label": "kind", "ignore": ["id"], "nominal": "colour", "missing": "mean"})
    names, groups = attribute_groups(data)
    assert names == ("noise", "colour", "size", "same")
    assert [[data.attributes[j] for j in group] for group in groups] == [
        ["noise"],
        ["colour=blue", "colour=green", "colour=red"],
        ["size"],
        ["same"],
    ]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=80)
    X = rng.normal(size=(80, 4))
    X[:, 3] += 6 * (X[:, 1] > 0)  # columns 1 and 3 together tell the class
    X[:, 1] = np.where((X[:, 1] > 0) == (y == 1), 9.0, -9.0) + 0.1 * X[:, 1]
    found = select_attributes(X, y, 1, groups=[[0], [1, 3], [2]])
    assert found.attributes.tolist() == [1]
