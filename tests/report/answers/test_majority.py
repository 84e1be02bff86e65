"""The majority class, regions without a promised coverage, and intervals of mean costs in every output."""

import numpy as np
import pytest
from report.answers.test_advice import p_values, probabilities, run_of
from report.report_cases import entry, make_config, make_run, result_of

from confml import KNN, Conformal
from confml.config.schema import NoiseSpec, StepSpec
from confml.measures import Case, Context
from confml.measures.prediction import Prediction
from confml.report.answers.advice import advise, unpromised
from confml.report.answers.differences import SplitLosses, mean_interval
from confml.report.answers.majority import beats_majority, majority_of
from confml.report.answers.promises import promised
from confml.report.answers.standings import Standings, standings_of
from confml.report.answers.thresholds import Decided
from confml.report.forms.short_table import short_table
from confml.report.forms.summary import csv_rows, summary_tables
from confml.runner.manifest import DatasetInfo


def test_the_majority_class_is_a_row_of_tables_and_no_method():
    run = run_of({"a": probabilities(10), "b": p_values(0.01, 40)})
    (one,) = majority_of(standings_of(run), "d")
    assert (
        one.error.mean == 0.5 and one.error.n == 5 and one.classes == ("0",) and one.label == "majority class"
    )
    assert beats_majority(standings_of(run), standings_of(run).lines[0]) == ("0", True)
    table = next(table for table in summary_tables(run) if table.kind.name == "results")
    *methods, last = table.grid.texts()
    assert last[1] == "majority class" and "50.00 ± 0.00" in last and len(methods) == len(table.rows)
    assert {row[1] for row in csv_rows(table)} == {"a", "b"}
    assert short_table(run).rows[-1][1] == "majority class"


def test_the_majority_class_of_two_runs():
    run = run_of({"a": probabilities(10)})
    (same,) = majority_of(Standings([("r", run), ("s", run)]), "d")
    assert same.run == ""
    other = run_of({"a": probabilities(10)}, rows=99)
    both = majority_of(Standings([("r", run), ("s", other)]), "d")
    assert [one.label for one in both] == ["majority class (r)", "majority class (s)"]
    assert [one.error.mean for one in both] == [0.5, pytest.approx(49 / 99)]


def test_regions_without_a_promised_coverage_are_named():
    run = run_of({"a": probabilities(10), "b": p_values(0.01, 2)})
    sentence = "No coverage of 1 - level is promised for the regions of a."
    assert unpromised(standings_of(run), 0.05) == sentence
    assert sentence in short_table(run).legend
    assert all(sentence in table.notes for table in summary_tables(run) if table.kind.name == "results")
    assert unpromised(standings_of(run_of({"b": p_values(0.01, 2)})), 0.05) == ""


def test_interval_of_a_mean_is_that_of_the_rows():
    """Five folds of 40 rows have nearly the interval of 200 rows, not that of 40 (2.2 times as wide)."""
    values = np.random.default_rng(3).exponential(size=200)
    folds = [SplitLosses(np.arange(k, 200, 5), values[k::5], 160) for k in range(5)]
    low, high = mean_interval(folds)
    assert (low + high) / 2 == pytest.approx(values.mean())
    plain = 1.972 * values.std(ddof=1) / np.sqrt(200)
    assert plain < (high - low) / 2 < 1.7 * plain
    none = [SplitLosses(np.arange(50), np.zeros(50), 100)]
    low, high = mean_interval(none, bound=4.0)
    assert low == 0.0 and 4 / 50 < high < 4 * 4 / 50


def test_mean_costs_have_an_interval():
    matrix = {"matrix": {0: {1: 1.0}, 1: {0: 5.0}}}

    def predict(cell):
        truth = np.arange(40) % 2
        scores = np.where((truth ^ (np.arange(40) % 7 == 0))[:, None] == [0, 1], 0.9, 0.1)
        found = result_of(cell, {"probability": Prediction(np.array([0, 1]), scores, "probability")}, truth)
        return found

    infos = {"d": DatasetInfo(name="d", rows=120, attributes=2, classes=2)}
    run = make_run(make_config([entry("a")], costs=matrix), predict, infos, ("r0", "r1"))
    standings = standings_of(run)
    found = standings.of(standings.lines[0], "cost")
    assert found.interval[0] < found.mean < found.interval[1]
    (table,) = [table for table in summary_tables(run) if table.kind.name == "results"]
    text = f"{found.mean:.3f} ({found.interval[0]:.3f} to {found.interval[1]:.3f})"
    assert text in table.grid.texts()[0]
    ends = {row[3]: row[5] for row in csv_rows(table)}
    assert (ends["cost_low"], ends["cost_high"]) == found.interval


@pytest.mark.parametrize(
    ("conformal", "reasons"),
    [
        ({"kind": "split"}, []),
        ({"kind": "cross", "folds": 3}, None),
        ({"kind": "split", "best_of": [KNN(k=1)]}, []),
        ({"kind": "split", "shift": "covariate"}, ["weights are estimated"]),
    ],
)
def test_what_p_values_promise(conformal, reasons):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 2)) + y[:, None]
    method = Conformal(KNN(k=3), **conformal).fit(X[:80], y[:80])
    prediction = method.confident_predict(X[80:])["p-value"]
    case = Case(prediction, y[80:], context=Context(80, {0: 40, 1: 40}, {"conformal": conformal["kind"]}))
    assert promised(case, make_config([])) == reasons
    assert promised(case, make_config([]), grouped=True) is None


@pytest.mark.parametrize(
    ("config", "broken"),
    [
        ({}, ""),
        ({"steps": [StepSpec(name="standardise")]}, ""),
        ({"steps": [StepSpec(name="tomek-links")]}, "b"),
        ({"steps": [StepSpec(name="standardise"), StepSpec(name="select-attributes")]}, "b"),
        ({"noise": NoiseSpec(labels=0.1, on="all")}, ""),
        ({"noise": NoiseSpec(labels=0.1, on="train")}, "b"),
    ],
)
def test_every_sentence_names_the_regions_whose_promise_is_broken(config, broken):
    """A method whose p-values are counted among the rows that the steps are fitted to."""
    run = run_of({"b": p_values(0.01, 2)}, **config)
    standings = standings_of(run)
    sentence = f"No coverage of 1 - level is promised for the regions of {broken}." if broken else ""
    assert unpromised(standings, 0.05) == sentence
    assert (standings.promise(standings.lines[0], 0.05) is None) == bool(broken)
    (cell,), (evidence,) = zip(*standings.cells_of(standings.lines[0])[:1], strict=True)
    parts = evidence.coverage(cell.cell, "p-value", 0.05).parts
    assert (parts is None) == bool(broken)  # the beta-binomial distribution is that of the promise
    if broken:
        assert sentence in short_table(run).legend
        answer = advise(standings, "d", "regions", Decided())
        assert "have no guarantee" in answer.guarantee or answer.reason
