"""The answer: the best method, by how much, what does not differ from it, and which share is accepted."""

import re
from dataclasses import replace

from report.report_cases import dataset, errors_first, run_of

from confml.report.answers.answer import answer_of
from confml.report.answers.comparisons import Comparisons
from confml.report.forms.short_table import short_table
from confml.report.report import Report
from confml.report.tables import certified, certified_jointly, rejection_curves
from confml.report.write import read_cells

THREE = {"a": [5, 6, 4], "b": [6, 6, 5], "c": [30, 31, 29]}
TABLES = (rejection_curves.TABLE, certified.TABLE, certified_jointly.TABLE)


def run_with_errors(wrong, rows=50, datasets=("d",), **config):
    """A run whose methods make the given numbers of errors in each split."""
    methods = {name: errors_first(*counts) for name, counts in wrong.items()}
    splits = len(next(iter(wrong.values())))
    return run_of(methods, datasets, rows, splits, 100, **config)


def answer(run, folder="."):
    report = Report(run, folder)
    read_cells(report, TABLES)
    for table in TABLES:
        table.make(report)
    return answer_of(report, Comparisons([("", run)]))


def only(run):
    (result,) = answer(run).answers
    return result


def test_the_best_method_and_its_differences():
    result = only(run_with_errors(THREE))
    assert result.lowest == "a" and result.alike == ["b"]
    assert "a has the lowest error, 10.0 % over 3 splits. b has 1.3 points more." in result.sentence
    assert "1 of 2 other methods is significantly worse" in result.sentence
    assert "3 splits: fewer than 5" in result.sentence
    assert "No significant difference from b" in result.advice.head
    assert "would probably have been detected (80 % power)" in result.advice.rest


def test_sentences_have_at_most_two_numbers():
    for datasets in (("d",), ("d", "e")):
        result = answer(run_with_errors(THREE, rows=100, datasets=datasets, levels=(0.05,)))
        for text in " ".join([*result.sentences, *result.short]).split(". "):
            assert len(re.findall(r"\d+(?:\.\d+)?", text)) <= 2, text


def test_one_split_is_tested_on_its_examples():
    result = only(run_with_errors({"a": [2], "b": [20]}))
    assert "on 50 test examples. b has 36.0 points more." in result.sentence
    assert result.alike == [] and "other training rows may give other results" in result.sentence


def test_methods_with_the_same_errors():
    result = only(run_with_errors({"a": [2], "b": [2]}))
    assert result.lowest == "a and b" and result.alike == ["b"] and "b has the same." in result.sentence
    assert "The methods are wrong on the same rows" in result.advice.rest


def test_an_interrupted_run_says_first_what_is_missing():
    """One of three splits is done for two methods: no lowest error, no comparison."""
    run = run_with_errors({"a": [5, 6, 4], "b": [9, 6, 5], "c": [9, 9, 9]}, datasets=("d", "e"))
    for key, result in list(run.results.items()):
        if result.cell.dataset == "d" and (result.cell.split != "r0" or result.cell.method == "c"):
            del run.results[key]
    first, *_ = answer(run).sentences
    assert first == "So far 1 of 2 data sets are complete; no method is compared on d (0 of 3 splits)."
    assert "d: so far 0 of 3 splits; no comparison before all are computed" in short_table(run).notes
    cells = [cell for cell in run.cells if cell.dataset == "d"]
    done = {key: result for key, result in run.results.items() if result.cell.dataset == "d"}
    (sentence,) = answer(replace(run, cells=cells, results=done)).sentences
    assert sentence == "So far 0 of 3 splits of d are complete. No method is compared before all are."


def test_the_answer_names_tied_methods_and_data_sets_without_results():
    run = run_with_errors(THREE | {"b": THREE["a"]}, datasets=("d", "e", "none"))
    done = {key: result for key, result in run.results.items() if result.cell.dataset != "none"}
    first, *rest = answer(replace(run, results=done)).sentences
    assert first == "There are no results on none."
    assert any(text.startswith("Lowest error: a and b on d and e.") for text in rest)


def test_the_observed_share_names_its_method():
    """It need not be the one with the lowest error."""
    accepted = only(run_with_errors({"a": [5], "b": [0]})).accepted
    assert accepted.observed == 1.0 and "b accepts 100 % of the test rows" in accepted.sentence
    assert "chosen on these rows, so expect a higher risk" in accepted.sentence


def test_the_smallest_certified_limit_is_stated():
    """350 rows without an error certify 2 % with four limits, and 1 % takes 459 with five."""
    alone = only(run_with_errors({"a": [0]}, 700)).accepted
    assert alone.certified == 1.0
    assert "accepts 100 % of new predictions at a risk of at most 2 %." in alone.certificate
    assert alone.certificate.endswith("needs 459 held-out rows without an error. A split has 350.")
    enough = only(run_with_errors({"a": [0]}, 1000)).accepted
    assert enough.certificate.endswith("at a risk of at most 1 %.")
    pair = only(run_with_errors({"a": [0], "b": [0]}, 1000)).accepted  # the choice of the method
    assert pair.certificate.endswith("needs 528 held-out rows without an error. A split has 500.")
    errors = only(run_with_errors({"a": [60]}, 1000)).accepted
    assert "at a risk of at most 2 %. The most confident predictions have too many" in errors.certificate
    # There is no certificate for groups.
    grouped = run_with_errors({"a": [0]}, 700)
    grouped.config = grouped.config.model_copy(update={"datasets": (dataset("d", "person"),)})
    assert only(grouped).accepted.certified is None


def test_a_certificate_on_some_of_the_splits():
    most = only(run_with_errors({"a": [0, 0, 350]}, rows=700)).accepted
    assert "most often of a, accept 67 % of new predictions at a risk of at most 2 %." in most.certificate
    none = only(run_with_errors({"a": [690, 690, 690]}, rows=700)).accepted
    assert none.certificate.startswith("No threshold is certified. A risk of 1 % needs ")
