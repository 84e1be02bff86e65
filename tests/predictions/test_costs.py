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
MATRIX = {"no": {"yes": 1}, "yes": {"no": 5, "yes": 0.5}}
EQUAL = {"no": {"yes": 1.0}, "yes": {"no": 1.0}}
LATE = {"no": {"yes": 1.0}, "yes": {"no": 8.0}}
OPTIONS = {"label": "late", "method": "naive-bayes"}


def loans(rows, seed):
    """12 % of the rows are "yes"."""
    late = np.arange(rows) % 25 < 3
    X = np.random.default_rng(seed).normal(size=(rows, 3)) + 0.9 * late[:, None]
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(late=np.where(late, "yes", "no"))


@pytest.fixture
def frames():
    return loans(100, 1), loans(400, 2)


@pytest.fixture
def files(frames, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in zip(("train", "new"), frames, strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    (tmp_path / "costs.yaml").write_text(YAML)
    (tmp_path / "costs.csv").write_text(CSV)
    return tmp_path


def table_of(answers) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(answers.stdout), keep_default_na=False)


@pytest.mark.parametrize("abstain", [None, 0.8, {"no": 0.1, "yes": 2.0}])
def test_decisions_are_those_of_the_definition(frames, abstain):
    messages: list[str] = []
    costs = {"matrix": MATRIX, "abstain": abstain}
    answers = confml.predict(*frames, costs=costs, say=messages.append, **OPTIONS)
    cost = pd.DataFrame({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0.5}})
    if abstain is not None:
        cost["abstain"] = abstain if isinstance(abstain, float) else pd.Series(abstain)
    expected = answers[["prob[no]", "prob[yes]"]].to_numpy() @ cost.to_numpy()
    assert answers["decision"].tolist() == cost.columns[expected.argmin(axis=1)].tolist()
    assert answers["expected_cost"].to_numpy() == pytest.approx(expected.min(axis=1), rel=1e-12)
    by_decision = answers[[f"expected_cost[{decision}]" for decision in cost]].to_numpy()
    assert by_decision == pytest.approx(expected, rel=1e-12)
    mean = np.mean([cost.loc[pair] for pair in zip(answers["label"], answers["decision"], strict=True)])
    words = " ".join(messages)
    assert f"mean cost of the decisions {mean:.3g}" in words
    assert "least expected cost if the probabilities of naive-bayes are right" in words
    abstained = int((answers["decision"] == "abstain").sum())
    assert f"{abstained} of 400 rows" in words and (abstained > 0) == (abstain is not None)


def test_numbers_as_classes_and_ties(frames):
    train, new = (frame.assign(late=(frame["late"] == "yes").astype(int)) for frame in frames)
    costs = {"matrix": {0: {1: 1}, 1: {0: 1}}, "abstain": 1.0}
    answers = confml.predict(train, new, costs=costs, **OPTIONS)
    assert answers["decision"].tolist() == answers["prediction"].tolist()  # abstaining is never cheaper
    costs = {"matrix": {0: {1: 0}, 1: {0: 0}}, "abstain": 0}
    assert confml.predict(train, new, costs=costs, **OPTIONS)["decision"].tolist() == [0] * len(new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (YAML.replace("no: {yes", "No: {yes"), "class 'No', which the training rows do not have"),
        (YAML.replace("no: 5, ", ""), "'no' for a row of class 'yes' is missing"),
        (YAML.replace("0.8", "dear"), r"\(abstain\) must be a finite number, got 'dear'"),
        (YAML.replace("0.8", "{no: 1}"), "abstaining for class 'yes' is missing"),
        ("matrix: [\n", "wrong.yaml:2:1: expected a value"),
        (CSV.replace("yes,5", "yes,five"), "row 'yes', column 'no'.* got 'five'"),
        (CSV.replace(",0.5", ""), "wrong.csv, line 3: 3 fields, expected 4"),
        (CSV + CSV.splitlines()[1], "class 'no' is listed twice"),
    ],
)
def test_costs_that_do_not_fit(files, frames, text, words):
    name = "wrong.csv" if text.startswith("true") else "wrong.yaml"
    (files / name).write_text(text)
    with pytest.raises(ConfigError, match=words):
        confml.predict(*frames, costs=name, **OPTIONS)


def test_methods_without_probabilities_are_named(frames):
    for method, view in (("tcm-nn", "p-value"), ("knn", "vote"), ("linear-svm", "margin")):
        with pytest.raises(ConfigError, match=f"{method} has no probabilities .its view is {view}"):
            confml.predict(*frames, label="late", method=method, costs={"matrix": EQUAL})
    with pytest.raises(ConfigError, match="no such file"):
        confml.predict(*frames, costs="gone.csv", **OPTIONS)


def test_no_rows_and_rows_without_a_prediction(frames):
    train, new = frames
    settings = {"costs": {"matrix": EQUAL, "abstain": 0.4}, "missing": "drop", **OPTIONS}
    assert "decision" in confml.predict(train, new[:0], **settings).columns
    new.loc[2, "a"] = np.nan
    answers = confml.predict(train, new, **settings)
    assert pd.isna(answers["decision"][2]) and answers["decision"].notna().sum() == len(new) - 1


CONFIG = """\
datasets: [{name: loans, csv: train.csv, label: late}]
methods: [naive-bayes, tcm-nn]
steps: [standardise]
protocol: k-fold
costs:
  matrix: {no: {yes: 1}, yes: {no: 5, yes: 0.5}}
  abstain: 0.8
"""


def test_costs_of_a_config(files):
    (files / "loans.yaml").write_text(CONFIG)
    lines = (
        ("loans.yaml", "new.csv", "--method", "naive-bayes", "--save", "m.confml"),
        ("m.confml", "new.csv"),
        ("--train", "train.csv", "--label", "late", "--method", "naive-bayes")
        + ("new.csv", "--costs", "costs.yaml"),
    )
    assert len({command("predict", *line, "--level", "0.05").stdout for line in lines}) == 1
    of_ranks = command("predict", "loans.yaml", "new.csv", "--method", "tcm-nn")
    assert "decision" not in of_ranks.stdout and "costs of the config are not used: tcm-nn" in of_ranks.stderr
    (files / "loans.yaml").write_text(CONFIG.replace("no: 5", "none: 5"))
    error = refusal("predict", "loans.yaml", "new.csv", "--method", "naive-bayes")
    assert "costs of the config: the costs of true class 'yes' name class 'none'" in str(error)


@pytest.mark.parametrize("kind", ["split", "cross"])
def test_regions_and_decisions_come_from_one_fit(files, frames, kind):
    """p-values of the conformal method, and decisions by the probabilities of its classifier."""
    method = ("--train", "train.csv", "--label", "late", "--method", "naive-bayes", "--conformal", kind)
    fit = ("predict", *method, "new.csv", "--level", "0.2")
    without_costs = table_of(command(*fit))
    result = command(*fit, "--costs", "costs.yaml", "--save", "m")
    assert "contains the true label with probability at least" in result.stderr
    assert "least expected cost" in result.stderr
    answers = table_of(result)
    pd.testing.assert_frame_equal(answers[without_costs.columns], without_costs)
    assert set(answers["decision"]) == {"no", "yes", "abstain"} and (answers["region@0.2"] != "").any()
    stored = command("predict", "m", "new.csv", "--level", "0.2", "--costs", "costs.csv")
    assert stored.stdout == result.stdout
    model = confml.load_model("m")
    rows = model.coder.code(next(chunks_of(frame_table(frames[1], "new"))))
    parts, p = model.method.fitted_, np.zeros((400, 2))
    for part in parts:
        X = part.transform(model.transformed(model.chosen(rows), model.steps))
        p += part.method.predict_proba(X) / len(parts)
    cost = np.array([[0, 1, 0.8], [5, 0.5, 0.8]])
    expected = np.array(["no", "yes", "abstain"])[(p @ cost).argmin(axis=1)]
    assert answers["decision"].tolist() == expected.tolist()
    assert answers["prob[yes]"].to_numpy() == pytest.approx(p[:, 1], abs=1e-3)
    assert (answers["expected_cost[abstain]"] == 0.8).all()


@pytest.mark.parametrize(
    ("kind", "keys"), [(bool, (False, True)), (float, (0.0, 1.0)), (int, (0.0, 1.0)), (str, (False, True))]
)
def test_costs_are_keyed_by_the_labels_themselves(frames, kind, keys):
    train, new = (frame.assign(late=(frame["late"] == "yes").astype(kind)) for frame in frames)
    no, yes = keys
    costs = {"matrix": {no: {yes: 1}, yes: {no: 5}}, "abstain": {no: 0.8, yes: 0.8}}
    answers = confml.predict(train, new, costs=costs, **OPTIONS)
    costs = {"matrix": {"no": {"yes": 1}, "yes": {"no": 5}}, "abstain": 0.8}
    names = {"no": kind(no), "yes": kind(yes), "abstain": "abstain"}
    by_name = confml.predict(*frames, costs=costs, **OPTIONS)["decision"]
    assert answers["decision"].tolist() == [names[decision] for decision in by_name]


def test_run_and_predict_decide_the_same(files):
    """With one fold per row, both fit the same classifiers: the costs of a run are those of predictions."""
    methods = [
        {"name": "naive-bayes", "label": "plain"},
        {"name": "naive-bayes", "label": "conformal", "conformal": {"kind": "cross", "folds": 100}},
        {"name": "tcm-nn"},
    ]
    config = {
        "datasets": [{"name": "loans", "csv": "train.csv", "test": "new.csv", "label": "late"}],
        "methods": methods,
        "protocol": "fixed-split",
        "costs": {"matrix": LATE, "abstain": 0.6},
    }
    Path("loans.json").write_text(json.dumps(config))
    ran = command("run", "loans.json", "--engine", "serial")
    costs = {
        (row["method"], row["view"]): float(row["mean"])
        for row in csv.DictReader(Path("results/loans/summary.csv").open())
        if row["metric"] == "cost_with_abstaining"
    }
    price = {("no", "yes"): 1, ("yes", "no"): 8, ("no", "abstain"): 0.6, ("yes", "abstain"): 0.6}
    for label, view in (("plain", "probability"), ("conformal", "p-value")):  # both are naive Bayes
        answers = table_of(command("predict", "loans.json", "new.csv", "--method", label))
        pairs = zip(answers["label"], answers["decision"], strict=True)
        mean = np.mean([price.get(pair, 0) for pair in pairs])
        assert costs["naive-bayes", view] == pytest.approx(mean) and mean < 0.6
    assert costs["majority-class", "always-abstain"] == pytest.approx(0.6)
    assert costs["majority-class", "always-yes"] == pytest.approx(0.88)
    assert costs["majority-class", "always-no"] == pytest.approx(0.96)
    assert not any(method == "tcm-nn" for method, _ in costs)
    assert "tcm-nn has no probabilities, so it is not recommended for cost." in " ".join(ran.output.split())


def decided(table, p, truth, abstain=None, chunks=1) -> DecisionCosts:
    """Decisions for rows with probabilities p (n, c) and codes of their true classes, in chunks of rows."""
    classes, costs = np.array(list(table)), DecisionCosts()
    decider = Costs(table, abstain).decider(classes)
    for rows in np.array_split(np.arange(len(p)), chunks):
        decisions = decider.decide(Prediction(classes, p[rows], "probability"))
        costs.add(decisions, np.arange(len(rows)), np.asarray(truth)[rows])
    return costs


def late_costs(p, truth) -> DecisionCosts:
    """Decisions for rows with probability p of "yes"."""
    return decided(LATE, np.column_stack([1 - p, p]), truth, 0.6)


def test_realised_costs_are_tested_against_the_expected_ones():
    costs = late_costs(np.array([0.01, 0.05, 0.5, 0.9]), [1, 0, 0, 1])
    # The decisions are no, no, yes, yes with expected costs 0.08, 0.4, 0.5, 0.1.
    assert costs.sentences("it")[1].endswith(": abstain 0.6, yes (the cheapest class) 0.5.")
    # As far away: "yes" in one of the first two rows and a mistake in another row, or in both of them.
    assert costs.p == pytest.approx(0.059 * 0.55 + 0.0005, abs=0.012)
    assert "decisions 2.25, expected 0.27: the probabilities are too optimistic" in costs.score()


def test_a_rare_large_cost_is_no_evidence_against_the_probabilities():
    p, truth = np.tile([0.99, 0.01], (10, 1)), np.eye(10, dtype=int)[0]
    costs = decided({"no": {"yes": 200.0}, "yes": {"no": 100.0}}, p, truth)
    assert costs.p == pytest.approx(1 - 0.99**10, abs=0.025)
    assert "no significant difference" in costs.score()


def test_certain_probabilities_are_refuted_by_one_row():
    certain = np.array([0.0, 1.0])
    assert "too optimistic" in late_costs(certain, [0, 0]).score()
    assert "no significant difference (p = 1)" in late_costs(certain, [0, 1]).score()


def test_drawn_costs_are_those_of_all_classes():
    """Three classes: the exact distribution of the cost of three rows, and the same p in chunks."""
    p = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    table = {"a": {"b": 1.0, "c": 2.0}, "b": {"a": 3.0, "c": 1.5}, "c": {"a": 4.0, "b": 0.5}}
    truth, rows = [2, 1, 0], np.arange(3)
    cost = np.array([[0, 1, 2], [3, 0, 1.5], [4, 0.5, 0]])
    expected = p @ cost
    by_class = cost.T[expected.argmin(axis=1)]  # of the decision for each row, by its true class
    distance = abs(by_class[rows, truth].sum() - expected.min(axis=1).sum())
    exact = 0.0
    for classes in itertools.product(range(3), repeat=3):
        if abs(by_class[rows, list(classes)].sum() - expected.min(axis=1).sum()) >= distance - 1e-9:
            exact += p[rows, list(classes)].prod()
    costs = decided(table, p, truth)
    assert costs.p == pytest.approx(exact, abs=0.03)
    assert decided(table, p, truth, chunks=3).p == costs.p


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
            score = late_costs(odds / size / (1 + odds / size), truth).score()
            count += "the probabilities are too" in score
        alarms.append(count / 400)
    assert alarms[0] < 0.075 and alarms[1] > 2 * alarms[0]
    assert rows < 100 or alarms[1] > 0.5
