"""Classes whose coverage is shown to be too low: false alarms, power, and the sentences."""

import numpy as np
import pytest
from report.report_cases import result_of, run_by_hand

from confml.measures.prediction import Prediction
from confml.report.answers.answer import answer_of
from confml.report.answers.comparisons import Comparisons
from confml.report.answers.coverage import per_class_remedy
from confml.report.report import Report
from confml.report.tables.notes import notes_of

LEVEL = 0.05


def view_of(calibration, scores, truth, classes):
    """p-values of true labels, numbers of classes, among calibration scores; those of others are low."""
    counts = len(calibration) - np.searchsorted(np.sort(calibration), scores)
    p_values = np.full((len(truth), len(classes)), 0.001)
    p_values[np.arange(len(truth)), truth] = (1 + counts) / (len(calibration) + 1)
    return Prediction(classes, p_values, "p-value")


def run_of(frequencies, harder, calibration=300, rows=600, datasets=1, splits=1):
    """A run of one method with simulated scores; those of the last class are ``harder`` by so much."""
    classes = np.array([f"c{number}" for number in range(len(frequencies) - 1)] + ["yes"])

    def predict(cell):
        rng = np.random.default_rng([sum(map(ord, cell.split)), int(cell.dataset[1:])])
        of_calibration, truth = (rng.choice(len(classes), n, p=frequencies) for n in (calibration, rows))
        scores = rng.standard_normal(calibration) + harder * (of_calibration == len(classes) - 1)
        new = rng.standard_normal(rows) + harder * (truth == len(classes) - 1)
        view = view_of(scores, new, truth, classes)
        return result_of(cell, view, classes[truth], train_rows=calibration)

    names = [f"d{number}" for number in range(datasets)]
    return run_by_hand(["nn"], predict, names, splits, rows, len(classes), levels=(LEVEL, 0.1, 0.2))


def low_classes(run):
    """Names of the classes of each line, tested at all levels of the run."""
    comparisons = Comparisons([("", run)])
    lines = [[(line, level) for level in run.config.levels] for line in comparisons.lines]
    return [[low.label for low in comparisons.low_classes(of_line)] for of_line in lines]


@pytest.mark.parametrize(
    "frequencies, calibration, rows",
    [([0.5, 0.5], 100, 300), ([0.2] * 5, 300, 500), ([0.88, 0.12], 300, 600)],
)
def test_a_class_that_is_not_harder_is_seldom_named(frequencies, calibration, rows):
    """0.8 % of 2,000 runs with 100 or 300 calibration rows; a binomial test would name 8.2 and 2.8 %."""
    low = low_classes(run_of(frequencies, 0.0, calibration, rows, datasets=300))
    assert np.mean([bool(classes) for classes in low]) <= 0.02


@pytest.mark.parametrize("splits", [10, 30])
def test_a_class_of_repeated_splits_is_seldom_named(splits):
    """Fixed rows that no class is harder in; without the test of each row once 9 and 16 % of 100 runs."""
    n, n_test, frequency = 300, 100, 0.1
    classes, named = np.array(["no", "yes"]), 0
    for draw in range(60):
        rng = np.random.default_rng(draw)
        truth, scores = (rng.random(n) < frequency).astype(int), rng.standard_normal(n)

        def predict(cell, truth=truth, scores=scores, draw=draw):
            order = np.random.default_rng([draw, int(cell.split[1:])]).permutation(n)
            new, old = order[:n_test], order[n_test:]
            view = view_of(scores[old], scores[new], truth[new], classes)
            return result_of(cell, view, classes[truth[new]], train_rows=len(old), rows=new)

        run = run_by_hand(["nn"], predict, ["d0"], splits, n, levels=(LEVEL,))
        named += low_classes(run) != [[]]
    assert named <= 1


def test_a_rare_class_that_is_harder_is_named():
    """12 % of the rows, with scores that are one sd higher: 97 % of the runs, 72 % at level 0.05 alone."""
    low = low_classes(run_of([0.88, 0.12], 1.0, datasets=200))
    assert np.mean([classes == ["yes"] for classes in low]) >= 0.93
    assert not any("c0" in classes for classes in low)


def test_the_answer_names_the_costly_class():
    run = run_of([0.88, 0.12], 2.0)
    answer = answer_of(Report(run, "."), Comparisons([("", run)]))
    *_, sentence, remedy = answer.short
    assert sentence.startswith("Class yes: the regions of nn cover ") and "too low for 95 %" in sentence
    coverage = float(sentence.partition("cover ")[2].partition(" %")[0])
    assert coverage < 80 and {sentence, remedy} <= {*answer.sentences}
    assert remedy.startswith("mondrian: true") and "needs 19 rows of the class" in remedy
    assert answer.as_dict()["datasets"]["d0"]["classes"] == [sentence, remedy]
    (note,) = notes_of(run)
    assert "at level 0.05 the regions of nn contain the true label too rarely for some classes: yes; " in note


@pytest.mark.parametrize(
    "params, remedy",
    [
        ({}, ", and needs 19 rows of the class."),
        ({"conformal": "split"}, ", and needs 19 calibration rows of the class."),
        ({"conformal": "split", "conformal__mondrian": True}, None),
    ],
)
def test_the_remedy_counts_the_rows_that_p_values_are_counted_among(params, remedy):
    text = "mondrian: true guarantees the coverage of each class"
    assert per_class_remedy(params, 0.05, "mondrian: true") == ("" if remedy is None else text + remedy)
    assert per_class_remedy(params, 0.0, "mondrian: true") == ("" if remedy is None else f"{text}.")


def test_classes_of_several_lines_are_tested_together(monkeypatch):
    """Holm's correction over lines, levels and classes."""
    tests = {"d0": [("a", 0.9, 0.004), ("b", 0.93, 0.6)], "d1": [("a", 0.91, 0.5), ("b", 0.94, 0.7)]}
    run = run_of([0.5, 0.5], 0.0, datasets=2)
    comparisons = Comparisons([("", run)])
    monkeypatch.setattr(comparisons, "_class_tests", lambda line, level: tests[line.dataset])
    first, second = comparisons.lines
    assert comparisons.low_classes([(first, LEVEL)]) == [(first, "a", 0.9, LEVEL)]  # 2 * 0.004
    assert comparisons.low_classes([(first, LEVEL), (second, LEVEL)]) == []  # 4 * 0.004
    assert comparisons.low_classes([(first, LEVEL), (first, 0.1)]) == []  # 4 * 0.004


def test_several_splits_and_data_sets_are_named():
    run = run_of([0.88, 0.12], 2.0, datasets=2, splits=3)
    first, second, remedy = answer_of(Report(run, "."), Comparisons([("", run)])).short
    assert first.startswith("d0, class yes: ") and second.startswith("d1, class yes: ")
    assert remedy.startswith("mondrian")


def test_fewer_than_20_rows_of_a_class_are_not_tested():
    assert low_classes(run_of([0.97, 0.03], 4.0, rows=300)) == [[]]
