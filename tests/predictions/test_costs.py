"""Decisions of least expected cost: ``--costs`` and ``confml.predict(costs=...)``."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import confml
from confml.commands.predict import predict
from confml.config.costs import read_costs
from confml.data.frame_table import frame_table
from confml.data.table_files import chunks_of
from confml.errors import ConfigError

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
    told: list[str] = []
    answers = confml.predict(*frames, label="ill", method="naive-bayes", costs=costs, say=told.append)
    price = {"no": {"no": 0.0, "yes": 1.0}, "yes": {"no": 5.0, "yes": 0.5}}
    if abstain is not None:
        for true in price:
            price[true]["abstain"] = abstain[true] if isinstance(abstain, dict) else abstain
    total = 0.0
    for row in range(len(answers)):
        p = {label: answers[f"prob[{label}]"][row] for label in ("no", "yes")}
        expected = {one: p["no"] * price["no"][one] + p["yes"] * price["yes"][one] for one in price["no"]}
        assert answers["decision"][row] == min(expected, key=expected.get)
        assert answers["expected_cost"][row] == pytest.approx(min(expected.values()), rel=1e-12)
        total += price[answers["label"][row]][answers["decision"][row]]
    words = " ".join(told)
    assert f"mean cost of the decisions {total / len(answers):.3g}" in words
    assert "Decisions have the least expected cost if the probabilities of naive-bayes are right" in words
    left = int((answers["decision"] == "abstain").sum())
    assert f"{left} of 60 rows" in words and (left > 0) == (abstain is not None)


def test_the_command_and_a_stored_model_decide_the_same(files):
    fit = ("--train", "train.csv", "--label", "ill", "--method", "naive-bayes", "--save", "m.confml")
    outputs = [
        CliRunner().invoke(predict, [*source, "new.csv", "--costs", costs])
        for source in (fit, ("m.confml",))
        for costs in ("costs.yaml", "costs.csv")
    ]
    assert {result.exit_code for result in outputs} == {0}
    assert len({result.stdout for result in outputs}) == 1
    assert ",decision,expected_cost\n" in outputs[0].stdout


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
    ],
)
def test_costs_that_do_not_fit(files, frames, text, words):
    (files / "wrong.yaml").write_text(text)
    with pytest.raises(ConfigError, match=words):
        confml.predict(*frames, label="ill", method="naive-bayes", costs="wrong.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CSV.replace("yes,5", "yes,five"), "row 'yes', column 'no'.* must be a finite number, got 'five'"),
        (CSV.replace("yes,5", "yes,-5"), "row 'yes', column 'no'.* must be at least 0, got '-5'"),
        (CSV.replace(",0.5", ""), "wrong.csv, line 3: 3 fields, expected 4"),
        (CSV + CSV.splitlines()[1], "true class 'no' is listed twice"),
    ],
)
def test_tables_of_costs_that_do_not_fit(files, text, words):
    (files / "wrong.csv").write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_costs("wrong.csv")


def test_methods_without_probabilities_are_named(frames):
    costs = {"matrix": {"no": {"yes": 1}, "yes": {"no": 1}}}
    for method, view in (("tcm-nn", "p-value"), ("knn", "vote"), ("linear-svm", "margin")):
        with pytest.raises(ConfigError, match=f"{method} has no probabilities .its view is {view}"):
            confml.predict(*frames, label="ill", method=method, costs=costs)
    answers = confml.predict(*frames, label="ill", method="bayes-knn", costs=costs)
    assert set(answers["decision"]) == {"no", "yes"}
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
protocol: k-fold
costs:
  matrix: {no: {yes: 1}, yes: {no: 5, yes: 0.5}}
  abstain: 0.8
"""


def test_costs_of_a_config(files):
    (files / "ill.yaml").write_text(CONFIG)
    by_option = ("--train", "train.csv", "--label", "ill", "--method", "naive-bayes", "--scale", "none")
    runs = [
        CliRunner().invoke(predict, arguments)
        for arguments in (
            ["ill.yaml", "new.csv", "--method", "naive-bayes", "--save", "m.confml", "--level", "0.05"],
            ["m.confml", "new.csv", "--level", "0.05"],
            [*by_option, "new.csv", "--costs", "costs.yaml", "--level", "0.05"],
        )
    ]
    assert {result.exit_code for result in runs} == {0} and len({result.stdout for result in runs}) == 1
    other = CliRunner().invoke(predict, ["ill.yaml", "new.csv", "--method", "tcm-nn"])
    assert "decision" not in other.stdout and "costs of the config are not used: tcm-nn" in other.stderr
    (files / "ill.yaml").write_text(CONFIG.replace("no: 5", "none: 5"))
    wrong = CliRunner().invoke(predict, ["ill.yaml", "new.csv", "--method", "naive-bayes"])
    assert "costs of the config: the costs of true class 'yes' name class 'none'" in str(wrong.exception)


@pytest.mark.parametrize("kind", ["split", "cross"])
def test_regions_and_decisions_come_from_one_fit(files, frames, kind):
    """p-values of the conformal method, and decisions by the probabilities of its classifier."""
    fit = ("--train", "train.csv", "--label", "ill", "--method", "naive-bayes", "--conformal", kind)
    alone = CliRunner().invoke(predict, [*fit, "new.csv", "--level", "0.2"])
    both = CliRunner().invoke(
        predict, [*fit, "new.csv", "--level", "0.2", "--costs", "costs.yaml", "--save", "m"]
    )
    assert both.exit_code == 0, both.exception or both.output
    assert "holds the label with probability at least" in both.stderr and "least expected cost" in both.stderr
    first, second = (pd.read_csv(io.StringIO(one.stdout), keep_default_na=False) for one in (alone, both))
    pd.testing.assert_frame_equal(second[first.columns], first)
    assert set(second["decision"]) == {"no", "yes", "abstain"} and (second["region@0.2"] != "").any()
    stored = CliRunner().invoke(predict, ["m", "new.csv", "--level", "0.2", "--costs", "costs.csv"])
    assert stored.stdout == both.stdout
    model = confml.load_model("m")
    rows = model.coder.code(next(chunks_of(frame_table(frames[1], "new"))))
    part, total = model.method, np.zeros((60, 2))
    for fitted in part.fitted_:
        X = fitted.transform(model.features(rows))
        total += fitted.method.predict_proba(X) / len(part.fitted_)
    price = np.array([[0, 1, 0.8], [5, 0.5, 0.8]])
    expected = np.array(["no", "yes", "abstain"])[(total @ price).argmin(axis=1)]
    assert second["decision"].tolist() == expected.tolist()


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
