"""Jobs of a new user: other words for methods, workbooks of several sheets, large files, grouped warnings."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

import confml


@pytest.fixture
def loans(tmp_path, monkeypatch) -> pd.DataFrame:
    """A file of 60 loans in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"income": rng.normal(size=60).round(3), "age": rng.integers(20, 60, 60)})
    frame["default"] = np.where(frame["income"] + rng.normal(size=60) > 0, "no", "yes")
    frame.to_csv("loans.csv", index=False)
    return frame


def test_new_rows_in_one_of_several_sheets(loans):
    with pd.ExcelWriter("new.xlsx") as book:
        pd.DataFrame({"notes": ["read the other sheet"]}).to_excel(book, sheet_name="about", index=False)
        loans.drop(columns="default").to_excel(book, sheet_name="rows", index=False)
    fit = ("predict", "--train", "loans.csv", "--label", "default", "--save", "m.confml")
    assert "columns of the training rows are missing" in str(refusal(*fit, "new.xlsx"))
    predicted = command(*fit, "new.xlsx", "--sheet", "rows", "--force")
    stored = command("predict", "m.confml", "new.xlsx", "--sheet", "rows")
    assert stored.stdout == predicted.stdout and len(stored.stdout.splitlines()) == 61
    assert "has no sheets" in str(refusal("predict", "m.confml", "loans.csv", "--sheet", "rows"))


def test_warnings_of_a_run_are_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        pd.DataFrame({"x": np.arange(12) / 7, "y": list("pn" * 6)}).to_csv(f"{name}.csv", index=False)
    Path("c.yaml").write_text(
        "datasets: [{csv: a.csv, label: y}, {csv: b.csv, label: y}, {csv: c.csv, label: y}]\n"
        "methods: [{name: knn, k: 50}]\nprotocol: {kind: k-fold, folds: 3}\n"
    )
    ran = command("run", "c.yaml", "--engine", "serial", "--out", "r")
    (line,) = [line for line in ran.stderr.splitlines() if "k-too-large" in line]
    assert "the same on 2 other data sets: b, c" in line


def test_methods_not_better_than_the_majority_class_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    x, good = rng.normal(size=(120, 2)), rng.normal(size=120) > 0
    frame = pd.DataFrame({"a": x[:, 0], "b": np.where(good, 2.0, -2.0) + x[:, 1] / 4})
    frame["y"] = np.where(good, "p", "n")
    frame.to_csv("clear.csv", index=False)
    frame["y"] = np.where(rng.random(120) < 0.7, "p", "n")
    frame.to_csv("noise.csv", index=False)
    Path("c.yaml").write_text(
        "datasets: [{csv: clear.csv, label: 'y'}, {csv: noise.csv, label: 'y'}]\n"
        "methods: [{name: knn, k: 1}, {name: naive-bayes}]\nprotocol: {kind: k-fold, folds: 4}\n"
    )
    ran = command("run", "c.yaml", "--engine", "serial", "--out", "r")
    share = 100 * float((frame["y"] == "n").mean())
    (line,) = [line for line in ran.stdout.splitlines() if "not shown to be better" in line]
    assert line.startswith("noise: ") and line.endswith(f"(error {share:.2f} %): knn k=1, naive-bayes")
    compared = json.loads(command("compare", "r", "--json").stdout)
    assert {row["model"] for row in compared["models"]} == {"knn k=1", "naive-bayes"}
    assert f"{line}.".replace(": not", ": Not") in compared["notes"]


def test_labels_of_a_config_are_the_names_everywhere_in_its_order(loans):
    Path("c.yaml").write_text(
        "datasets: [{csv: loans.csv, label: default}]\nprotocol: {kind: k-fold, folds: 3}\nmethods:\n"
        "  - {name: tcm-nn, label: Zebra}\n  - {name: knn, label: My votes, sweep: {k: [3, 5]}}\n"
        "  - {name: knn, k: 1}\n  - {name: naive-bayes, label: 'A & b'}\n"
    )
    command("run", "c.yaml", "--engine", "serial", "--out", "r")
    labels = ["Zebra", "My votes k=3", "My votes k=5", "knn k=1", "A & b"]
    table = pd.read_csv("r/tables/results.csv")
    assert list(dict.fromkeys(table["method"])) == [*labels, "majority-class"]
    run = confml.load_run("r")
    assert list(dict.fromkeys(run.table()["method"])) == [*labels, "majority-class"]
    in_latex = Path("r/tables/results.tex").read_text()
    positions = [in_latex.index(f"& {label} &") for label in [*labels[:4], r"A \& b"]]
    assert positions == sorted(positions)
    names = {path.stem for path in Path("r/regions/loans").iterdir()}
    assert {"Zebra", "My_votes_k=3", "My_votes_k=5", "knn_k=1"} < names and len(names) == 5
    assert not any("naive" in name for name in names)
    assert set(run.regions(method="My votes")["params"]) == {"k=3", "k=5"}
    assert set(run.regions(method="A & b")["method"]) == {"naive-bayes"}
    assert set(run.regions(method="knn")["params"]) == {"k=1", "k=3", "k=5"}
    page = Path("r/report.html").read_text()
    assert "A &amp; b" in page and ">tcm-nn<" not in page and ">naive-bayes<" not in page


def test_many_small_classes_are_one_warning(loans):
    loans["default"] = np.arange(60) % 15
    loans.to_csv("loans.csv", index=False)
    fit = ("predict", "--train", "loans.csv", "--label", "default", "loans.csv", "--level", "0.1")
    messages = command(*fit, "--mondrian").stderr.splitlines()
    (line,) = [line for line in messages if "smallest possible" in line]
    assert "in 15 of 15 classes" in line


def test_warnings_of_a_classifier_are_one_line(loans):
    fit = ("predict", "--train", "loans.csv", "--label", "default", "loans.csv", "--quiet")
    method = ("--method", "sklearn.neural_network.MLPClassifier", "--param", "max_iter=2")
    messages = command(*fit, *method).stderr
    (line,) = [line for line in messages.splitlines() if "ConvergenceWarning" in line]
    assert line.startswith("warning: sklearn.neural_network.MLPClassifier: ConvergenceWarning: Stochastic")
    assert "site-packages" not in messages
