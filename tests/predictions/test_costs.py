"""Decisions of least expected cost: ``--costs`` and ``confml.predict(costs=...)``."""

import csv
import io
import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

import confml
from confml.data.frame_table import frame_table
from confml.data.table_files import chunks_of
from confml.errors import ConfigError
from confml.measures.costs import Costs
from confml.measures.prediction import Prediction
from confml.predictions.decision_costs import DecisionCosts

YAML = """\
matrix:
  no: {yes: 1}
  yes: {no: 5, yes: 0.5}
abstain: 0.8
"""
CSV = "true,no,yes,abstain\nno,0,1,0.8\nyes,5,0.5,0.8\n"


@pytest.fixture
def frames():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 160)
    frame = pd.DataFrame({"x": rng.normal(size=160) + 1.2 * y, "z": rng.normal(size=160)})
    frame["ill"] = np.where(y == 1, "yes", "no")
    return frame[:100].reset_index(drop=True), frame[100:].reset_index(drop=True)


@pytest.fixture
def files(frames, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in zip(("train", "new"), frames, strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    (tmp_path / "costs.yaml").write_text(YAML)
    (tmp_path / "costs.csv").write_text(CSV)
    return tmp_path


@pytest.mark.parametrize("abstain", [None, 0.8, {"no": 0.1, "yes": 2.0}])
def test_decisions_are_those_of_the_definition(files, frames, abstain):
    costs = {"matrix": {"no": {"yes": 1}, "yes": {"no": 5, "yes": 0.5}}, "abstain": abstain}
    said: list[str] = []
    answers = confml.predict(*frames, label="ill", method="naive-bayes", costs=costs, say=said.append)
    price = {"no": {"no": 0.0, "yes": 1.0}, "yes": {"no": 5.0, "yes": 0.5}}
    if abstain is not None:
        for true in price:
            price[true]["abstain"] = abstain[true] if isinstance(abstain, dict) else abstain
    total = 0.0
    for row in range(len(answers)):
        p = {label: answers[f"prob[{label}]"][row] for label in ("no", "yes")}
        expected = {to: p["no"] * price["no"][to] + p["yes"] * price["yes"][to] for to in price["no"]}
        assert answers["decision"][row] == min(expected, key=expected.get)
        assert answers["expected_cost"][row] == pytest.approx(min(expected.values()), rel=1e-12)
        for decision, cost in expected.items():
            assert answers[f"expected_cost[{decision}]"][row] == pytest.approx(cost, rel=1e-12)
        total += price[answers["label"][row]][answers["decision"][row]]
    words = " ".join(said)
    assert f"mean cost of the decisions {total / len(answers):.3g}" in words
    assert "Decisions have the least expected cost if the probabilities of naive-bayes are right" in words
    left = int((answers["decision"] == "abstain").sum())
    assert f"{left} of 60 rows" in words and (left > 0) == (abstain is not None)


def test_numbers_as_classes_and_ties(frames):
    train, new = (frame.assign(ill=(frame["ill"] == "yes").astype(int)) for frame in frames)
    equal = {"matrix": {0: {1: 1}, 1: {0: 1}}, "abstain": 1.0}
    answers = confml.predict(train, new, label="ill", method="naive-bayes", costs=equal)
    assert answers["decision"].tolist() == answers["prediction"].tolist()  # abstaining is never cheaper
    none = {"matrix": {0: {1: 0}, 1: {0: 0}}, "abstain": 0}
    answers = confml.predict(train, new, label="ill", method="naive-bayes", costs=none)
    assert answers["decision"].tolist() == [0] * len(new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (YAML.replace("no: {yes", "No: {yes"), "name class 'No', which the training rows do not have"),
        (YAML.replace("no: 5, ", ""), "the cost of predicting 'no' for a row of class 'yes' is missing"),
        (YAML.replace("0.8", "dear"), r"the cost \(abstain\) must be a finite number, got 'dear'"),
        (YAML.replace("0.8", "{no: 1}"), "the cost of abstaining for class 'yes' is missing"),
        ("abstain: 1\n", "expected a mapping with matrix and abstain"),
        ("matrix: [\n", "wrong.yaml:2:1: expected a value"),
        (YAML.replace("no: 5", "no: -5"), r"the cost \(row 'yes', 'no'\) must be at least 0, got '-5'"),
        (CSV.replace("yes,5", "yes,five"), "row 'yes', column 'no'.* must be a finite number, got 'five'"),
        (CSV.replace(",0.5", ""), "wrong.csv, line 3: 3 fields, expected 4"),
        (CSV + CSV.splitlines()[1], "true class 'no' is listed twice"),
    ],
)
def test_costs_that_do_not_fit(files, frames, text, words):
    name = "wrong.csv" if text.startswith("true") else "wrong.yaml"
    (files / name).write_text(text)
    with pytest.raises(ConfigError, match=words):
        confml.predict(*frames, label="ill", method="naive-bayes", costs=name)


def test_methods_without_probabilities_are_named(frames):
    costs = {"matrix": {"no": {"yes": 1}, "yes": {"no": 1}}}
    for method, view in (("tcm-nn", "p-value"), ("knn", "vote"), ("linear-svm", "margin")):
        with pytest.raises(ConfigError, match=f"{method} has no probabilities .its view is {view}"):
            confml.predict(*frames, label="ill", method=method, costs=costs)
    with pytest.raises(ConfigError, match="no such file"):
        confml.predict(*frames, label="ill", costs="gone.csv")


def test_no_rows_and_rows_without_a_prediction(frames):
    train, new = frames
    costs = {"matrix": {"no": {"yes": 1}, "yes": {"no": 1}}, "abstain": 0.4}
    settings = {"label": "ill", "method": "naive-bayes", "costs": costs, "missing": "drop"}
    assert "decision" in confml.predict(train, new[:0], **settings).columns
    new.loc[2, "x"] = np.nan
    answers = confml.predict(train, new, **settings)
    assert pd.isna(answers["decision"][2]) and answers["decision"].notna().sum() == len(new) - 1


CONFIG = """\
datasets: [{name: ill, csv: train.csv, label: ill}]
methods: [naive-bayes, tcm-nn]
steps: [standardise]
protocol: k-fold
costs:
  matrix: {no: {yes: 1}, yes: {no: 5, yes: 0.5}}
  abstain: 0.8
"""


def test_costs_of_a_config(files):
    (files / "ill.yaml").write_text(CONFIG)
    by_option = ("--train", "train.csv", "--label", "ill", "--method", "naive-bayes")
    lines = (
        ("ill.yaml", "new.csv", "--method", "naive-bayes", "--save", "m.confml"),
        ("m.confml", "new.csv"),
        (*by_option, "new.csv", "--costs", "costs.yaml"),
    )
    assert len({command("predict", *line, "--level", "0.05").stdout for line in lines}) == 1
    of_ranks = command("predict", "ill.yaml", "new.csv", "--method", "tcm-nn")
    assert "decision" not in of_ranks.stdout and "costs of the config are not used: tcm-nn" in of_ranks.stderr
    (files / "ill.yaml").write_text(CONFIG.replace("no: 5", "none: 5"))
    error = refusal("predict", "ill.yaml", "new.csv", "--method", "naive-bayes")
    assert "costs of the config: the costs of true class 'yes' name class 'none'" in str(error)


@pytest.mark.parametrize("kind", ["split", "cross"])
def test_regions_and_decisions_come_from_one_fit(files, frames, kind):
    """p-values of the conformal method, and decisions by the probabilities of its classifier."""
    fit = ("--train", "train.csv", "--label", "ill", "--method", "naive-bayes", "--conformal", kind)
    alone = command("predict", *fit, "new.csv", "--level", "0.2")
    both = command("predict", *fit, "new.csv", "--level", "0.2", "--costs", "costs.yaml", "--save", "m")
    assert "contains the true label with probability at least" in both.stderr
    assert "least expected cost" in both.stderr
    first, second = (pd.read_csv(io.StringIO(table.stdout), keep_default_na=False) for table in (alone, both))
    pd.testing.assert_frame_equal(second[first.columns], first)
    assert set(second["decision"]) == {"no", "yes", "abstain"} and (second["region@0.2"] != "").any()
    stored = command("predict", "m", "new.csv", "--level", "0.2", "--costs", "costs.csv")
    assert stored.stdout == both.stdout
    model = confml.load_model("m")
    rows = model.coder.code(next(chunks_of(frame_table(frames[1], "new"))))
    part, total = model.method, np.zeros((60, 2))
    for fitted in part.fitted_:
        X = fitted.transform(model.transformed(model.chosen(rows), model.steps))
        total += fitted.method.predict_proba(X) / len(part.fitted_)
    price = np.array([[0, 1, 0.8], [5, 0.5, 0.8]])
    expected = np.array(["no", "yes", "abstain"])[(total @ price).argmin(axis=1)]
    assert second["decision"].tolist() == expected.tolist()
    assert second["prob[yes]"].to_numpy() == pytest.approx(total[:, 1], abs=1e-3)
    assert second["expected_cost[abstain]"].tolist() == [0.8] * 60


@pytest.mark.parametrize(
    ("kind", "keys"), [(bool, (False, True)), (float, (0.0, 1.0)), (int, (0.0, 1.0)), (str, (False, True))]
)
def test_costs_are_keyed_by_the_labels_themselves(kind, keys):
    X = np.random.default_rng(0).normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=(X[:, 0] > 0).astype(kind))
    no, yes = keys
    costs = {"matrix": {no: {yes: 1}, yes: {no: 5}}, "abstain": {no: 0.8, yes: 0.8}}
    answers = confml.predict(frame, frame.drop(columns="y"), label="y", method="naive-bayes", costs=costs)
    plain = confml.predict(
        frame.assign(y=np.where(X[:, 0] > 0, "p", "n")),
        frame.drop(columns="y"),
        label="y",
        method="naive-bayes",
        costs={"matrix": {"n": {"p": 1}, "p": {"n": 5}}, "abstain": 0.8},
    )
    names = {"n": kind(no), "p": kind(yes), "abstain": "abstain"}
    assert answers["decision"].tolist() == [names[label] for label in plain["decision"]]


def late_loans(rows, seed):
    """12 % of the rows are "yes"; a missed "yes" costs 8, a false one 1."""
    late = np.arange(rows) % 25 < 3
    X = np.random.default_rng(seed).normal(size=(rows, 3)) + 0.9 * late[:, None]
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(late=np.where(late, "yes", "no"))


def test_run_and_predict_decide_the_same(tmp_path, monkeypatch):
    """With one fold per row, both fit the same classifiers: the costs of a run are those of predictions."""
    monkeypatch.chdir(tmp_path)
    late_loans(100, 1).to_csv("train.csv", index=False)
    late_loans(400, 2).to_csv("new.csv", index=False)
    methods = [
        {"name": "naive-bayes", "label": "plain"},
        {"name": "naive-bayes", "label": "conformal", "conformal": {"kind": "cross", "folds": 100}},
        {"name": "tcm-nn"},
    ]
    config = {
        "datasets": [{"name": "loans", "csv": "train.csv", "test": "new.csv", "label": "late"}],
        "methods": methods,
        "protocol": "fixed-split",
        "costs": {"matrix": {"no": {"yes": 1}, "yes": {"no": 8}}, "abstain": 0.6},
    }
    Path("loans.json").write_text(json.dumps(config))
    ran = command("run", "loans.json", "--engine", "serial")
    rows = csv.DictReader(Path("results/loans/summary.csv").open())
    costs = {
        (row["method"], row["view"]): float(row["mean"])
        for row in rows
        if row["metric"] == "cost_with_abstaining"
    }
    price = {("no", "yes"): 1, ("yes", "no"): 8, ("no", "abstain"): 0.6, ("yes", "abstain"): 0.6}
    for label, view in (("plain", "probability"), ("conformal", "p-value")):  # both are naive Bayes
        answers = command("predict", "loans.json", "new.csv", "--method", label)
        frame = pd.read_csv(io.StringIO(answers.stdout), keep_default_na=False)
        realised = np.mean(
            [price.get(pair, 0) for pair in zip(frame["label"], frame["decision"], strict=True)]
        )
        assert costs["naive-bayes", view] == pytest.approx(realised) and realised < 0.6
    assert costs["majority-class", "always-abstain"] == pytest.approx(0.6)
    assert costs["majority-class", "always-yes"] == pytest.approx(0.88)
    assert costs["majority-class", "always-no"] == pytest.approx(0.96)
    assert not any(method == "tcm-nn" for method, _ in costs)
    assert "tcm-nn has no probabilities, so it is not recommended for cost." in " ".join(ran.output.split())


def decision_costs(p, truth):
    """Decisions for rows with probability p of "yes", and true classes (1 is "yes")."""
    probabilities = Prediction(np.array(["no", "yes"]), np.column_stack([1 - p, p]), "probability")
    costs = DecisionCosts()
    decider = Costs({"no": {"yes": 1.0}, "yes": {"no": 8.0}}, 0.6).decider(probabilities.classes)
    costs.add(decider.decide(probabilities), np.arange(len(p)), truth)
    return costs


def test_realised_costs_are_tested_against_the_expected_ones():
    p, truth = np.array([0.01, 0.05, 0.5, 0.9]), np.array([1, 0, 0, 1])
    costs = decision_costs(p, truth)  # no, no, yes, yes with expected costs 0.08, 0.4, 0.5, 0.1
    constant = "abstain 0.6, yes (the cheapest class) 0.5."
    assert (
        costs.sentences("it")[1]
        == f"Costs of rows with labels if all rows have the same decision: {constant}"
    )
    # As far away: "yes" in one of the first two rows and a mistake in another row, or in both of them.
    assert costs.p == pytest.approx(0.059 * 0.55 + 0.0005, abs=0.012)
    verdict = "the probabilities are too optimistic for these rows (p = 0.0"
    assert costs.score().startswith(f"; mean cost of the decisions 2.25, expected 0.27: {verdict}")


def test_a_rare_large_cost_is_no_evidence_against_the_probabilities():
    price = Costs({"no": {"yes": 200.0}, "yes": {"no": 100.0}}, None)
    probabilities = Prediction(np.array(["no", "yes"]), np.tile([0.99, 0.01], (10, 1)), "probability")
    costs = DecisionCosts()
    costs.add(
        price.decider(probabilities.classes).decide(probabilities), np.arange(10), np.eye(10, dtype=int)[0]
    )
    assert costs.p == pytest.approx(1 - 0.99**10, abs=0.025)
    assert "no significant difference" in costs.score()


def test_certain_probabilities_are_refuted_by_one_row():
    certain = np.array([0.0, 1.0])
    assert "too optimistic" in decision_costs(certain, np.array([0, 0])).score()
    assert "no significant difference (p = 1)" in decision_costs(certain, np.array([0, 1])).score()


def test_drawn_costs_are_those_of_all_classes():
    """Three classes: the exact distribution of the cost of three rows, and the same p in chunks."""
    p = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    probabilities = Prediction(np.array(["a", "b", "c"]), p, "probability")
    table = {"a": {"b": 1.0, "c": 2.0}, "b": {"a": 3.0, "c": 1.5}, "c": {"a": 4.0, "b": 0.5}}
    decisions = Costs(table, None).decider(probabilities.classes).decide(probabilities)
    truth = np.array([2, 1, 0])
    costs, parts = DecisionCosts(), DecisionCosts()
    costs.add(decisions, np.arange(3), truth)
    possible = decisions.table.T[decisions.columns]
    away = abs(possible[np.arange(3), truth].sum() - decisions.costs.sum())
    exact = sum(
        np.prod(p[np.arange(3), columns])
        for columns in map(list, itertools.product(range(3), repeat=3))
        if abs(possible[np.arange(3), columns].sum() - decisions.costs.sum()) >= away - 1e-9
    )
    assert costs.p == pytest.approx(exact, abs=0.03)
    for row in range(3):
        part = Prediction(probabilities.classes, p[row : row + 1], "probability")
        parts.add(Costs(table, None).decider(part.classes).decide(part), np.arange(1), truth[row : row + 1])
    assert parts.p == costs.p


@pytest.mark.parametrize("rows", [10, 100])
def test_right_probabilities_are_rarely_called_wrong(rows):
    """Costs of 8 that 12 % of the rows may have: 5 % of 400 samples at most, and more of wrong ones."""
    rng = np.random.default_rng(rows)
    alarms = []
    for size in (1.0, 4.0):  # odds of the probabilities that are stated
        count = 0
        for _ in range(400):
            odds = np.exp(rng.normal(-2.5, 1.2, rows))
            truth = (rng.random(rows) < odds / (1 + odds)).astype(int)
            count += (
                "the probabilities are too" in decision_costs(odds / size / (1 + odds / size), truth).score()
            )
        alarms.append(count / 400)
    assert alarms[0] < 0.075 and alarms[1] > 2 * alarms[0]
    assert rows < 100 or alarms[1] > 0.5
