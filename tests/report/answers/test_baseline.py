"""The baseline and constant decisions, regions without a promised coverage, intervals of mean costs."""

import types

import numpy as np
import pytest
from report.answers.test_advice import p_values, probabilities
from report.report_cases import make_config, run_of

from confml import KNN, Conformal
from confml.config.schema import NoiseSpec, StepSpec
from confml.measures import Case, Context
from confml.report.answers.accepted import Accepted
from confml.report.answers.advice import advise, better_than_baselines, overall, unpromised
from confml.report.answers.answer import answer_of
from confml.report.answers.comparisons import Line, comparisons_of
from confml.report.answers.datasets import ranking
from confml.report.answers.differences import LossTable, SplitLosses, compare_lines
from confml.report.answers.promises import promised
from confml.report.forms.short_table import short_table
from confml.report.forms.summary import csv_rows, shown_summary, summary_of
from confml.report.report import Report
from confml.report.tables.certified_jointly import rows


def costs_of(false_1, false_0, abstain):
    """Costs of both kinds of errors and of abstaining."""
    return {"matrix": {"0": {"1": false_1}, "1": {"0": false_0}}, "abstain": abstain}


def constant(cell, truth):
    """The class frequencies of training, 70 and 30 %, as `majority-class` predicts them."""
    return np.tile([0.7, 0.3], (len(truth), 1)), "probability"


METHODS = {"a": probabilities(10), "b": probabilities(25), "weak": probabilities(47)}
WITH_BASELINE = {**METHODS, "majority-class": constant}


def test_the_baseline_is_a_row_that_changes_no_other():
    """Its p-value is corrected over the comparisons of the three methods with it."""
    plain, both = run_of(METHODS), run_of(WITH_BASELINE)
    rows = list(csv_rows(summary_of(both)))
    assert [row for row in rows if row[1] != "majority-class"] == list(csv_rows(summary_of(plain)))
    notes = shown_summary(both).notes
    assert shown_summary(plain).notes == [note for note in notes if "majority" not in note]
    comparisons = comparisons_of(both)
    comparison = comparisons.comparison("d")
    (baseline,) = comparison.baselines
    truth = np.tile(np.arange(100) % 2, 5).astype(float)
    p_values = []
    for line in comparison.lines:
        losses = [cell.of(line.view, "error") for cell in comparisons.losses[line].values()]
        of_baseline = [part._replace(values=truth[:100]) for part in losses]
        p_values.append(LossTable([losses, of_baseline], bound=1.0).pair(0, 1).p_value)
    p_values.sort()
    assert comparisons.estimate(baseline, "error").p_value == pytest.approx(3 * p_values[0])
    by_holm = np.maximum.accumulate(np.array([3, 2, 1]) * p_values)
    assert comparison.baselines[baseline].tolist() == pytest.approx(by_holm.tolist())
    assert comparisons.estimate(baseline, "error").worse and not comparisons.estimate(baseline, "error").best
    sentence = "d: not shown to be better than majority-class (error 50.00 %): weak"
    assert comparisons.not_above_baseline("d") == sentence and sentence in short_table(both).notes


def test_the_baseline_is_neither_ranked_nor_certified_with_the_methods(tmp_path):
    runs = [run_of(methods, ("d", "e")) for methods in (METHODS, WITH_BASELINE)]
    plain, both = (ranking(run, "error") for run in runs)
    assert both.labels == plain.labels and both.comparison.f_p_value == plain.comparison.f_p_value
    first, second = (overall(comparisons_of(run), "error") for run in runs)
    assert first == second
    certified = [[*map(repr, rows(Report(run, tmp_path)))] for run in runs]
    assert certified[0] == certified[1] and len(certified[0]) == 2 * 5


@pytest.mark.parametrize(("wrong", "is_better"), [(30, True), (47, False)])
def test_no_advice_where_the_best_method_is_not_shown_to_be_better(wrong, is_better):
    run = run_of({"a": probabilities(wrong), "b": probabilities(49), "majority-class": constant})
    advice = advise(comparisons_of(run), "d", "error", Accepted())
    assert advice.best == "a" and (advice.recommended is not None) == is_better
    assert advice.sentence.endswith("not shown to be better than majority-class.") != is_better


@pytest.mark.parametrize(("abstain", "is_better"), [(0.9, True), (0.11, False)])
def test_constant_decisions_are_rows_with_costs(abstain, is_better):
    """A false 1 costs 1, a false 0 costs 5; without a method that costs less, abstaining is the answer."""
    methods = {"a": probabilities(4, 0.99), "b": probabilities(9, 0.99), "majority-class": constant}
    run = run_of(methods, costs=costs_of(1.0, 5.0, abstain))
    means = {(row.method, row.view, row.metric): row.mean for row in run.summary}
    always = [means["majority-class", f"always-{label}", "cost"] for label in (0, 1)]
    assert always == [2.5, 0.5]  # half of the test rows are of class 0
    assert means["majority-class", "always-abstain", "cost_with_abstaining"] == pytest.approx(abstain)
    rows = {row[2]: row for row in csv_rows(summary_of(run)) if row[3] == "cost_with_abstaining_low"}
    assert {"always-0", "always-1"} <= {*rows} and "always-abstain" not in rows  # which costs the same always
    bounds = comparisons_of(run).estimate(Line("d", "majority-class", "always-1"), "cost").interval
    # 50 costs of 0, 50 of 1 and two more rows with the largest difference from the mean: 1
    assert bounds == pytest.approx((0.394, 0.606), abs=0.005)
    advice = advise(comparisons_of(run), "d", "cost", Accepted())
    assert advice.best == "a" and (advice.recommended is not None) == is_better
    if not is_better:
        assert "lowest cost: always-abstain (cost 0.11). No method is shown to cost less" in advice.reason
        assert "the lowest cost of the methods is that of a, 0." in advice.reason


def test_another_method_may_be_better_than_the_constant_decisions():
    """Few large costs have the lowest mean, 0.45, and are not shown to be below 0.6; many small ones are."""

    def wrong(label, n):
        def predict(cell, truth):
            errors = np.flatnonzero(truth == label)[:n]
            predicted = truth.copy()
            predicted[errors] ^= 1
            return np.where(predicted[:, None] == [0, 1], 0.9999, 0.0001), "probability"

        return predict

    methods = {"few": wrong(1, 15), "many": wrong(0, 306), "majority-class": constant}
    run = run_of(methods, costs=costs_of(1.5, 30.0, 0.6), rows=1000)
    advice = advise(comparisons_of(run), "d", "cost", Accepted())
    assert advice.recommended == "many" and advice.value == "cost 0.459" and advice.best == "few"
    assert "many (cost 0.459). No significant difference from few (cost 0.45)" in advice.head
    assert advice.head.endswith("many is shown to cost less than always-abstain.")


def test_one_method_is_compared_with_the_constant_decisions():
    methods = {"a": probabilities(9, 0.99), "majority-class": constant}
    run = run_of(methods, costs=costs_of(1.0, 5.0, 0.11))
    answer = answer_of(Report(run, "."), comparisons_of(run))
    for text in (answer.short, answer.sentences):
        assert "always-abstain (cost 0.11). No method is shown" in text[0]


@pytest.mark.parametrize(
    ("abstain", "shown"), [(0.9, ""), (0.25, "cost less than every constant decision on 1 of 2 data sets")]
)
def test_constant_decisions_over_data_sets(abstain, shown):
    methods = {"a": probabilities({"d": 4, "e": 24}, 0.99), "b": probabilities(30, 0.99)}
    methods |= {"majority-class": constant, "p": p_values(0.01)}
    run = run_of(methods, ("d", "e"), costs=costs_of(1.0, 1.0, abstain))
    advice = overall(comparisons_of(run), "cost")
    assert advice.recommended == "a" and "a (mean rank 1.00" in advice.sentence
    assert (f"a is shown to {shown}." in advice.sentence) == bool(shown)
    assert advice.sentence.endswith("p has no probabilities, so it is not recommended for cost.")


def test_no_advice_where_no_method_is_better_than_a_constant_on_any_data_set():
    methods = {"a": probabilities(22, 0.99), "b": probabilities(30, 0.99), "majority-class": constant}
    run = run_of(methods, ("d", "e"), costs=costs_of(1.0, 1.0, 0.2))
    sentence = overall(comparisons_of(run), "cost").sentence
    assert sentence.endswith("not shown to cost less than every constant decision on any data set.")
    methods = {"a": probabilities(47), "b": probabilities(49), "majority-class": constant}
    advice = overall(comparisons_of(run_of(methods, ("d", "e"))), "error")
    assert advice.recommended is None
    assert advice.reason.endswith("It is not shown to be better than majority-class on any data set.")


@pytest.mark.parametrize(("number", "is_better"), [(1, True), (8, False)])
def test_better_than_a_constant_decision_is_corrected_over_data_sets(number, is_better):
    """The p-value is 0.02 on each data set: a loss of 1 in 45 of 200 rows, and one of 0.3 in every row."""
    rows, comparisons = np.arange(200), {}
    losses = [[SplitLosses(rows, values, 400)] for values in ((rows < 45) * 1.0, np.full(200, 0.3))]
    lines = [Line(f"d{at}", "a", "probability") for at in range(number)]
    for line in lines:
        table = LossTable(losses, bound=1.0, rare=True)
        comparisons[line.dataset] = compare_lines(table, [line], ["c"])
    of_run = types.SimpleNamespace(comparison=lambda name, *_: comparisons[name])
    assert list(better_than_baselines(of_run, lines, "cost").values()) == [is_better] * number


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
    ("config", "is_kept"),
    [
        ({}, True),
        ({"steps": [StepSpec(name="standardise")]}, True),
        ({"steps": [StepSpec(name="tomek-links")]}, False),
        ({"steps": [StepSpec(name="standardise"), StepSpec(name="select-attributes")]}, False),
        ({"noise": NoiseSpec(labels=0.1, on="all")}, True),
        ({"noise": NoiseSpec(labels=0.1, on="train")}, False),
    ],
)
def test_regions_whose_promise_is_broken_or_that_have_none_are_named(config, is_kept):
    """The p-values of b are computed from the rows that the steps are fitted to; a has probabilities."""
    run = run_of({"a": probabilities(10), "b": p_values(0.01, 2)}, **config)
    comparisons = comparisons_of(run)
    sentence = f"The regions of {'a' if is_kept else 'a and b'} have no guarantee of coverage."
    assert unpromised(comparisons, 0.05) == sentence
    assert sentence in short_table(run).notes and sentence in shown_summary(run).notes
    line = next(line for line in comparisons.lines if line.method == "b")
    assert (comparisons.promise(line, 0.05) is not None) == is_kept
    cell = next(iter(comparisons.losses[line].values()))
    parts = cell.region_errors("p-value", 0.05).parts
    assert (parts is not None) == is_kept  # the beta-binomial distribution is that of the promise
    reason = advise(comparisons, "d", "regions", Accepted()).reason
    assert ("No method guarantees the coverage" in reason) != is_kept


def test_regions_with_a_promise_are_not_named():
    assert unpromised(comparisons_of(run_of({"b": p_values(0.01, 2)})), 0.05) == ""
