"""Mean cost of the decisions of a run: the measure, the config, and a run from the command line."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

from confml.config import make_config
from confml.errors import ConfigErrors
from confml.measures import Case, Context
from confml.measures.costs import MEASURE, costs_of, row_costs
from confml.measures.prediction import Prediction

ABC = np.array(["a", "b", "c"])
COSTS = {
    "matrix": {"a": {"b": 1, "c": 2}, "b": {"a": 5, "c": 1}, "c": {"a": 3, "b": 4, "c": 0.5}},
    "abstain": {"a": 0.9, "b": 1.1, "c": 0.2},
}


CONTEXT = Context(costs=costs_of(COSTS))


def literal(prediction, truth, threshold):
    """The metrics row by row: without abstaining, with abstaining, and at a threshold."""
    matrix, abstain = COSTS["matrix"], COSTS["abstain"]
    plain, free, at = [], [], []
    for row, true in enumerate(truth.tolist()):
        p = dict(zip("abc", prediction.scores[row].tolist(), strict=True))
        decision = label = prediction.labels[row].item()
        if prediction.kind == "probability":
            expected = {d: sum(p[y] * matrix[y].get(d, 0.0) for y in "abc") for d in "abc"}
            decision = min("abc", key=lambda d: (expected[d], d))
            abstains = sum(p[y] * abstain[y] for y in "abc") < expected[decision]
            free.append(abstain[true] if abstains else matrix[true].get(decision, 0.0))
        plain.append(matrix[true].get(decision, 0.0))
        accepted = prediction.accepted(threshold)[row]
        at.append(matrix[true].get(label, 0.0) if accepted else abstain[true])
    return plain, free, at


@pytest.mark.parametrize("kind", ["probability", "vote", "p-value", "margin"])
def test_the_measure_is_its_definition(kind):
    rng = np.random.default_rng(8)
    for n in (1, 7, 40, 40):
        prediction = Prediction(ABC, rng.dirichlet(np.ones(3), n), kind)
        case = Case(prediction, ABC[rng.integers(0, 3, n)], context=CONTEXT)
        metrics = {row.metric: row.value for row in MEASURE.rows(replace(case, thresholds=[0.6]))}
        assert ("cost_with_abstaining" in metrics) == (kind == "probability")
        plain, free, at = literal(case.prediction, case.truth, 0.6)
        assert metrics["cost"] == pytest.approx(np.mean(plain))
        assert metrics["cost_at_threshold"] == pytest.approx(np.mean(at))
        if free:
            assert metrics["cost_with_abstaining"] == pytest.approx(np.mean(free))


def test_rows_without_probabilities_have_no_cost_of_decisions():
    """They are not decided as the first class, whose cost is finite."""
    scores = np.array([[0.2, 0.3, 0.5], [math.nan, math.nan, math.nan]])
    prediction = Prediction(ABC, scores, "probability", ABC[[2, 0]])
    costs = row_costs(Case(prediction, ABC[[2, 2]], context=CONTEXT))
    assert np.isnan(costs.plain).tolist() == np.isnan(costs.with_abstaining).tolist() == [False, True]


def test_an_absent_class_without_costs_is_undefined():
    case = Case(Prediction(ABC, np.eye(3), "vote"), np.array(["a", "b", "z"]), context=CONTEXT)
    assert all(np.isnan(row.value) for row in MEASURE.rows(case))


CONFIG = {
    "name": "costs",
    "datasets": [{"name": "two", "generate": "two-gaussians", "n": 120}],
    "methods": ["naive-bayes", {"name": "knn", "tune": {"k": [1, 9]}, "select-by": "cost"}],
    "protocol": {"kind": "holdout", "repeats": 2, "test-size": 0.4, "inner-folds": 3},
    "levels": [0.05],
    "baseline": False,
    "costs": "costs.csv",
}


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({"matrix": {"1": {"2": -1}}}, "costs: the cost (row '1', '2') must be at least 0, got '-1'"),
        ({"matrix": {"1": {"2": math.nan}}}, "must be a finite number, got 'nan'"),
        ({"matrix": {"1": 3}}, "costs: the costs of true class '1' must be a mapping"),
        ({"matrx": {}}, "costs: expected a mapping with matrix and abstain"),
        ({"matrix": {}, "abstane": 1}, "costs: costs has no key 'abstane'"),
        ("none.csv", "none.csv: no such file"),
        ("empty.csv", "empty.csv: the file is empty"),
    ],
)
def test_wrong_costs_of_a_config(costs, words, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ConfigErrors) as caught:
        make_config({**CONFIG, "methods": ["knn"], "costs": costs}, folder=tmp_path)
    assert words in str(caught.value)


def test_costs_of_a_run(tmp_path, monkeypatch):
    with pytest.raises(ConfigErrors, match="select-by: cost needs the costs of mistakes"):
        make_config({name: value for name, value in CONFIG.items() if name != "costs"})
    monkeypatch.chdir(tmp_path)
    Path("costs.csv").write_text("true,1,2,abstain\n1,0,1,0.4\n2,5,0,0.4\n")
    Path("c.json").write_text(json.dumps(CONFIG))
    run = ("run", "c.json", "--out", "run", "--engine", "serial")
    ran = command(*run)
    interval = r"0\.\d+ \(0\.\d+ to \d\.\d+\)"
    page = Path("run/report.html").read_text()
    for text in (ran.stdout, page):
        assert "cost, abstaining" in text and re.search(interval, text)
    costs = pd.read_csv("run/summary.csv").set_index(["method", "metric"])["mean"]
    assert "cost" in costs["knn"] and "cost_with_abstaining" not in costs["knn"]
    # A prediction of class 2 for every row costs half, and decisions by probabilities are better.
    assert costs["naive-bayes"]["cost"] < 0.5 and "cost_with_abstaining" in costs["naive-bayes"]
    assert set(pd.read_csv("run/tables/tuning.csv")["select_by"]) == {"cost"}
    Path("costs.csv").write_text("true,1,2,abstain\n1,0,9,0.4\n2,9,0,0.4\n")
    assert "2 fits to compute" in command(*run).stderr  # only the tuning depends on costs
    Path("costs.csv").write_text("true,1,3\n1,0,1\n3,5,0\n")
    assert "name class '3', which data set 'two' does not have" in str(refusal(*run))
