"""The answer of a page: the best method, by how much, and what is indistinguishable from it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from report.report_cases import dataset, entry, make_config, make_run, result_of

from confml.measures.prediction import Prediction
from confml.report.answers.answer import run_answer
from confml.report.answers.standings import Standings
from confml.report.forms.short_table import short_table
from confml.report.page.answer import answer_of
from confml.report.report import Report
from confml.report.tables import certified, certified_jointly, rejection_curves
from confml.report.write import read_tables
from confml.runner.manifest import DatasetInfo

TABLES = (*(rejection_curves.TABLE, certified.TABLE, certified_jointly.TABLE),)


def run_with_errors(wrong, splits=("r0", "r1", "r2"), rows=50, **config):
    """A run whose methods make the given numbers of errors on the examples of each split."""

    def predict(cell):
        errors = wrong[cell.method][splits.index(cell.split)]
        truth = np.zeros(rows, dtype=int)
        scores = np.where(np.arange(rows)[:, None] < errors, [0.2, 0.8], [0.9, 0.1])
        scores = scores + np.arange(rows)[:, None] * [[0.05 / rows, -0.05 / rows]]
        prediction = Prediction(np.array([0, 1]), scores / scores.sum(axis=1, keepdims=True), "probability")
        return result_of(cell, {"probability": prediction}, truth, train_rows=100)

    config = make_config([entry(name) for name in wrong], **config)
    return make_run(
        config, predict, {"d": DatasetInfo(name="d", rows=rows + 100, attributes=2, classes=2)}, list(splits)
    )


def report_of(run, tmp_path):
    report = Report(run, tmp_path)
    read_tables(report, TABLES)
    return report


def answers(*reports):
    named = {"" if number == 0 else "second": report for number, report in enumerate(reports)}
    standings = Standings([(name, report.run) for name, report in named.items()])
    return answer_of(named, standings).answers


def headline(found, planned=()):
    """The sentences of answers without a run."""
    return run_answer(Standings([]), found, planned).sentences


def test_the_best_method_and_its_differences(tmp_path):
    wrong = {"a": [5, 6, 4], "b": [6, 6, 5], "c": [30, 31, 29]}
    (one,) = answers(report_of(run_with_errors(wrong), tmp_path))
    assert one.best == "a" and one.error == pytest.approx(0.1) and one.splits == 3
    assert [other.label for other in one.others] == ["b", "c"]
    assert one.others[0].difference.difference == pytest.approx(2 / 150)
    assert one.alike == ["b"] and one.others[1].worse and one.pairs == 3
    low, high = one.others[1].difference.interval(3)
    assert 0 < low < 0.5 < high
    assert "a has the lowest error, 10.0 ± 2.0 % over 3 splits" in one.sentence
    assert "1 of 2 others is shown" in one.sentence
    assert "Not shown to differ: b" in one.advice.head
    assert "This run could show differences of about" in one.advice.rest
    assert "3 splits: fewer than 5" in one.sentence


def test_one_split_is_tested_on_its_examples(tmp_path):
    (one,) = answers(report_of(run_with_errors({"a": [2], "b": [20]}, ("r0",)), tmp_path))
    (other,) = one.others
    low, high = other.difference.interval()
    assert other.difference.difference == pytest.approx(0.36) and 0 < low < 0.36 < high
    assert other.worse and "training again may differ" in one.sentence


def test_methods_with_the_same_errors(tmp_path):
    (one,) = answers(report_of(run_with_errors({"a": [2], "b": [2]}, ("r0",)), tmp_path))
    assert one.tied == ("a", "b") and one.alike == ["b"] and "b has the same" in one.sentence
    assert "The methods err on the same rows." in one.advice.rest


def test_runs_on_other_examples_are_not_compared(tmp_path):
    first = report_of(run_with_errors({"a": [2, 3, 4]}), tmp_path)
    other = run_with_errors({"b": [9, 9, 9]})
    moved = {key: replace(one, rows=one.rows + 1) for key, one in other.results.items()}
    second = report_of(replace(other, results=moved), tmp_path)
    (one,) = answers(first, second)
    assert [(other.label, other.reason) for other in one.others] == [
        ("b (second)", "different test examples")
    ]
    assert one.alike == [] and math.isnan(one.others[0].adjusted)


def test_an_interrupted_run_says_first_what_is_missing(tmp_path):
    """One of three splits is done for two methods: no lowest error, no comparison."""
    run = run_with_errors({"a": [5, 6, 4], "b": [9, 6, 5], "c": [9, 9, 9]})
    for key, one in list(run.results.items()):
        if one.cell.split != "r0" or one.cell.method == "c":
            del run.results[key]
    found = answers(report_of(run, tmp_path))
    assert found[0].compared == [] and found[0].missing == ("c",)
    (sentence,) = headline(found)
    assert sentence.startswith("So far 0 of 3 splits of d are complete; 7 cells are still to be computed")
    (alone,) = answers(report_of(run_with_errors({"a": [5, 6, 4]}), tmp_path))
    assert "nothing to compare with" in alone.sentence
    assert alone.not_compared == ""
    (first, _, _) = headline([found[0], replace(alone, dataset="other")])
    assert first.startswith("So far 1 of 2 data sets are complete") and first.endswith(
        "compared on d (0 of 3 splits)."
    )


def test_decided_predictions(tmp_path):
    report = report_of(run_with_errors({"a": [5, 5, 5]}), tmp_path)
    (one,) = answers(report)
    curve = {1 - row["rejection_rate"]: row["risk"] for row in report.dicts("rejection-curves.csv")}
    assert one.decided.observed == pytest.approx(max(x for x, risk in curve.items() if risk <= 0.01))
    assert f"{100 * one.decided.observed:.0f} %" in one.decided.sentence
    assert "chosen on these rows, so expect a higher risk" in one.decided.sentence


def test_the_share_names_its_method(tmp_path):
    """The method of the share is named; it need not be the one with the lowest error."""
    (one,) = answers(report_of(run_with_errors({"a": [5], "b": [0]}, ("r0",)), tmp_path))
    assert one.decided.observed_label == "b" and "b has a risk of at most 1 % on" in one.decided.sentence


def test_the_certified_share_allows_for_the_choice_of_the_method(tmp_path):
    """350 rows certify 1 % for one method (299 without an error), but not for the better of two (368)."""
    one_method = report_of(run_with_errors({"a": [0]}, ["r0"], 700), tmp_path)
    (alone,) = answers(one_method)
    assert alone.decided.certified == 1.0 and alone.decided.needed == 299
    assert "A certified threshold of a accepts 100 % of new predictions at" in alone.decided.sentence
    pair = report_of(run_with_errors({"a": [0], "b": [0]}, ["r0"], 800), tmp_path)
    assert "certified together for all 2 views" in answers(pair)[0].decided.sentence
    run = run_with_errors({"a": [0], "b": [0]}, ["r0"], 700)
    two_methods = report_of(run, tmp_path)
    (best,) = answers(two_methods)
    assert [row["coverage"] for row in two_methods.dicts("certified.csv") if row["risk"] == 0.01] == [
        1,
        1,
    ]
    assert best.decided.certified == 0.0 and best.decided.needed == 368
    assert (
        "needs 368 accepted rows without an error, and the calibration half of a test part has 350"
        in best.decided.sentence
    )
    # There is no certificate for groups.
    datasets = (dataset("d", "person"),)
    grouped = run_with_errors({"a": [0]}, ["r0"], 700, datasets=datasets)
    (found,) = answers(report_of(grouped, tmp_path))
    assert found.decided.certified is None


def test_a_certificate_on_some_of_the_splits(tmp_path):
    """The sentence spoke of a certified threshold where most splits have none."""
    (found,) = answers(report_of(run_with_errors({"a": [0, 90, 90]}, rows=700), tmp_path))
    assert "on average over all splits: 1 of 3 splits has one, 1 of these of a." in found.decided.sentence
    assert "accept 33 % of new predictions at a risk of at most 1 % with" in found.decided.sentence
    (none,) = answers(report_of(run_with_errors({"a": [90, 90, 90]}, rows=700), tmp_path))
    assert "the strictest thresholds accept have too many errors (a certificate" in none.decided.sentence


def test_advice_names_the_fastest(tmp_path):
    (one,) = answers(report_of(run_with_errors({"a": [5, 6, 4], "b": [6, 6, 5]}), tmp_path))
    assert one.advice.best == "a" and "Not shown to differ: b" in one.advice.sentence


def test_the_answer_names_tied_methods_and_data_sets_without_results(tmp_path):
    """Two methods make the same errors; one data set has no cell, and one split of three is done."""
    tied = run_with_errors({"a": [5, 6, 4], "b": [5, 6, 4], "c": [30, 31, 29]})
    (one,) = answers(report_of(tied, tmp_path))
    assert one.lowest == "a and b"
    (_, second, *_) = headline([one, replace(one, dataset="other")], ["d", "none", "other"])
    assert second.startswith("Lowest error: a and b on d (10.0 %) and other (10.0 %)")
    first = headline([one], ["d", "none"])[0]
    assert first == "There are no results on none."
    kept = {key: result for key, result in tied.results.items() if result.cell.split == "r0"}
    tied = replace(tied, results=kept)
    cells = [replace(cell, dataset="none", key=f"none {cell.key}") for cell in tied.cells]
    both = replace(tied, cells=[*tied.cells, *cells])
    legend = short_table(both).notes
    assert legend[:2] == [
        "d: so far 1 of 3 splits; no comparison before all are computed",
        "none: so far 0 of 3 splits; no comparison before all are computed",
    ]
