"""Mean cost of the decisions of a run: the measure, the config, and a run from the command line."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from confml.cli import cli
from confml.config import make_config
from confml.errors import ConfigError, ConfigErrors
from confml.measures import Case, Context
from confml.measures.costs import MEASURE, costs_of, row_costs
from confml.measures.prediction import Prediction

ABC = np.array(["a", "b", "c"])
COSTS = {
    "matrix": {"a": {"b": 1, "c": 2}, "b": {"a": 5, "c": 1}, "c": {"a": 3, "b": 4, "c": 0.5}},
    "abstain": {"a": 0.9, "b": 1.1, "c": 0.2},
}


def literal(prediction, truth, threshold):
    """The metrics row by row: without abstaining, with abstaining, and at a threshold."""
    matrix, abstain = COSTS["matrix"], COSTS["abstain"]
    plain, free, at = [], [], []
    for row, true in enumerate(truth.tolist()):
        p = dict(zip("abc", prediction.scores[row].tolist(), strict=True))
        label = prediction.labels[row].item()
        if prediction.kind == "probability":
            expected = {d: sum(p[y] * matrix[y].get(d, 0.0) for y in "abc") for d in "abc"}
            decision = min("abc", key=lambda d: (expected[d], d))
            abstains = sum(p[y] * abstain[y] for y in "abc") < expected[decision]
            free.append(abstain[true] if abstains else matrix[true].get(decision, 0.0))
        else:
            decision = label
        plain.append(matrix[true].get(decision, 0.0))
        taken = prediction.accepted(threshold)[row]
        at.append(matrix[true].get(label, 0.0) if taken else abstain[true])
    return plain, free, at


@pytest.mark.parametrize("kind", ["probability", "vote", "p-value", "margin"])
def test_the_measure_is_its_definition(kind):
    rng = np.random.default_rng(8)
    cases = []
    for n in (1, 7, 40, 40):
        scores = rng.dirichlet(np.ones(3), n)
        cases.append(
            Case(
                Prediction(ABC, scores, kind),
                ABC[rng.integers(0, 3, n)],
                context=Context(costs=costs_of(COSTS)),
            )
        )
    for case in cases:
        found = {row.metric: row.value for row in MEASURE.rows(replace(case, thresholds=[0.6]))}
        assert ("cost_with_abstaining" in found) == (kind == "probability")
        plain, free, at = literal(case.prediction, case.truth, 0.6)
        assert found["cost"] == pytest.approx(np.mean(plain))
        assert found["cost_at_threshold"] == pytest.approx(np.mean(at))
        if free:
            assert found["cost_with_abstaining"] == pytest.approx(np.mean(free))


def test_rows_without_probabilities_have_no_cost_of_decisions():
    """They are not decided as the first class, whose cost is finite."""
    scores = np.array([[0.2, 0.3, 0.5], [math.nan, math.nan, math.nan]])
    prediction = Prediction(ABC, scores, "probability", ABC[[2, 0]])
    costs = row_costs(Case(prediction, ABC[[2, 2]], context=Context(costs=costs_of(COSTS))))
    assert np.isnan(costs.plain).tolist() == np.isnan(costs.with_abstaining).tolist() == [False, True]


def test_a_case_without_costs_or_rows_has_no_metric():
    some = Prediction(ABC, np.eye(3), "probability")
    assert list(MEASURE.rows(Case(some, ABC))) == []
    none = Case(some.take(np.arange(0)), ABC[:0], context=Context(costs=costs_of(COSTS)))
    assert list(MEASURE.rows(none)) == []


def test_an_absent_class_without_costs_is_undefined():
    case = Case(
        Prediction(ABC, np.eye(3), "vote"), np.array(["a", "b", "z"]), context=Context(costs=costs_of(COSTS))
    )
    assert all(np.isnan(row.value) for row in MEASURE.rows(case))


CONFIG = {
    "datasets": [{"csv": "heart.csv", "label": "y"}],
    "methods": [
        {"name": "naive-bayes"},
        {"name": "tcm-nn", "k": 3},
        {"name": "knn", "tune": {"k": [1, 9]}, "select-by": "cost"},
        {
            "name": "naive-bayes",
            "label": "split",
            "conformal": "split",
            "numeric": "bells",
            "tune": {"bandwidth": [1, 2]},
        },
    ],
    "protocol": {"kind": "holdout", "repeats": 2, "test-size": 0.4, "inner-folds": 3},
    "levels": [0.05],
    "baseline": False,
    "thresholds": [0.9],
    "costs": "costs.csv",
}


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({"matrix": {"1": {"2": -1}}}, "costs: the cost (row '1', '2') must be at least 0, got '-1'"),
        (
            {"matrix": {"1": {"2": math.nan}}},
            "costs: the cost (row '1', '2') must be a finite number, got 'nan'",
        ),
        ({"matrix": {"1": 3}}, "costs: the costs of true class '1' must be a mapping"),
        ({"matrx": {}}, "costs: expected a mapping with matrix and abstain"),
        ({"matrix": {}, "abstane": 1}, "costs: costs has no key 'abstane'"),
        ("none.csv", "none.csv: no such file"),
        ("empty.csv", "empty.csv: the file is empty"),
        ([1], "costs: expected a mapping with matrix and abstain, got [1]"),
    ],
)
def test_wrong_costs_of_a_config(costs, words, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ConfigErrors) as caught:
        make_config({**CONFIG, "datasets": ["iris"], "methods": ["knn"], "costs": costs}, folder=tmp_path)
    assert words in str(caught.value)


def test_select_by_cost_needs_costs():
    values = {**CONFIG, "datasets": ["iris"], "methods": CONFIG["methods"][2:3]}
    del values["costs"]
    with pytest.raises(ConfigErrors, match="select-by: cost needs the costs of mistakes"):
        make_config(values)


def heart_file(data_folder: Path, folder: Path) -> None:
    """Write the data set as a CSV file."""
    rows = [line.split() for line in (data_folder / "heart" / "heart.dat").read_text().splitlines() if line]
    names = [f"x{j}" for j in range(len(rows[0]) - 1)]
    with (folder / "heart.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*names, "y"], *rows])


def test_costs_of_a_run(needs_data, data_folder, tmp_path, monkeypatch):
    needs_data("heart")
    heart_file(data_folder, tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("costs.csv").write_text("true,1,2,abstain\n1,0,1,0.4\n2,5,0,0.4\n")
    Path("c.json").write_text(json.dumps(CONFIG))
    ran = CliRunner().invoke(cli, ["run", "c.json", "--out", "run", "--jobs", "1"])
    assert ran.exit_code == 0, ran.output
    assert "cost, abstaining" in ran.stdout and re.search(r"0\.\d+ \(0\.\d+ to \d\.\d+\)", ran.stdout)
    rows = list(csv.DictReader(Path("run/summary.csv").open()))
    costs = {(row["method"], row["view"]): float(row["mean"]) for row in rows if row["metric"] == "cost"}
    assert len(costs) == 4 and all(0 <= value <= 5 for value in costs.values())
    free = {row["method"] for row in rows if row["metric"] == "cost_with_abstaining"}
    assert free == {"naive-bayes"}
    # A prediction of class 2 for every row costs at most 1, and decisions by probabilities are better.
    assert costs["naive-bayes", "probability"] < 1
    chosen = list(csv.DictReader(Path("run/tables/tuning.csv").open()))
    assert {row["select_by"] for row in chosen if row["method"] == "knn"} == {"cost"}
    page = Path("run/report.html").read_text()
    assert "cost, abstaining" in page and re.search(r"0\.\d+ \(0\.\d+ to \d\.\d+\)", page)
    Path("costs.csv").write_text("true,1,2,abstain\n1,0,9,0.4\n2,9,0,0.4\n")
    again = CliRunner().invoke(cli, ["run", "c.json", "--out", "run", "--jobs", "1"])
    assert again.exit_code == 0 and "2 cells to compute" in again.stderr  # only the tuning depends on costs
    Path("costs.csv").write_text("true,1,3\n1,0,1\n3,5,0\n")
    wrong = CliRunner().invoke(cli, ["run", "c.json", "--out", "run"])
    assert isinstance(wrong.exception, ConfigError) or wrong.exit_code == 2
    assert "name class '3', which data set 'heart' does not have" in str(wrong.exception) + wrong.output
