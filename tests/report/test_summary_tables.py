"""Summary tables: the best method, and those that are significantly worse."""

import math

import numpy as np
import pytest
from report.report_cases import dataset, entry, read, result_of, run_by_hand

from confml.measures.prediction import Prediction
from confml.published import known_tables
from confml.report.answers.comparisons import Comparisons, Line, comparisons_of
from confml.report.forms.summary import shown_summary
from confml.report.report import Report
from confml.report.run.cells import Failure
from confml.report.tables.published_tables import write_tables
from confml.report.write import write_report

NAME = "a_b & 50 % #1 {x} ~^\\|"


def noisy_run(splits=6, methods=(0.1, 0.12, 0.4, 0.4), datasets=(NAME,), rows=60):
    """A run whose methods k = 1, 2, .. err with these probabilities; the last two err on equal examples."""

    def predict(cell):
        rng = np.random.default_rng(int(cell.split[1:]))
        truth = rng.integers(0, 2, rows)
        luck = rng.random((2, rows))[min(cell.params["k"], 2) - 1]
        wrong = luck < methods[cell.params["k"] - 1]
        p = np.column_stack([(truth ^ wrong) == 0, (truth ^ wrong) == 1]) * 0.9 + 0.05
        return result_of(cell, Prediction(np.arange(2), p, "p-value"), truth)

    swept = entry("tcm-nn", sweep={"k": list(range(1, len(methods) + 1))})
    return run_by_hand([swept], predict, datasets, splits, 2 * rows, levels=(0.1,))


@pytest.mark.parametrize("splits", [1, 2, 6])
def test_the_best_and_the_significantly_worse(splits):
    run = noisy_run(splits)
    comparisons = comparisons_of(run)
    of = {line.method: comparisons.estimate(line, "error") for line in comparisons.lines}
    assert [label for label, estimate in of.items() if estimate.best] == ["tcm-nn k=1"]
    assert of["tcm-nn k=3"].worse and not of["tcm-nn k=2"].worse
    assert of["tcm-nn k=3"].p_value == of["tcm-nn k=4"].p_value
    if splits < 3:  # no test of regions that share their calibration rows
        line = next(line for line in comparisons.lines if line.method == "tcm-nn k=2")
        assert math.isnan(comparisons.estimate(line, "mean_region_size", 0.1).p_value)


def test_an_interrupted_run_has_no_verdicts():
    run = noisy_run(splits=3)
    removed = next(cell for cell in run.cells if cell.params["k"] == 2)
    run.results.pop(removed.key)
    comparisons = Comparisons([("", run)])
    assert comparisons.unfinished == {NAME: "2 of 3 splits"} and comparisons.comparison(NAME) is None
    assert not any(comparisons.estimate(line, "error").best for line in comparisons.lines)
    assert f"{NAME}: so far 2 of 3 splits, no comparison." in shown_summary(run).notes


def test_a_method_that_failed_often_is_left_out():
    run = noisy_run(splits=4)
    failed = [cell for cell in run.cells if cell.params["k"] == 2][:2]
    for cell in failed:
        run.results.pop(cell.key)
    run.failures = [Failure(cell, "memory") for cell in failed]
    comparisons = Comparisons([("", run)])
    comparison = comparisons.comparison(NAME)
    ((line, reason),) = comparison.left_out.items()
    assert (line.method, reason) == ("tcm-nn k=2", "results on 2 of 4 splits")
    assert len(comparison.splits) == 4 and [line.method for line in comparison.best] == ["tcm-nn k=1"]


def test_rows_in_groups_are_not_independent():
    """With groups the splits are compared, and one split has no test; coverage has no verdict."""
    grouped = (dataset(NAME, "person"),)
    for splits, tested in ((1, False), (6, True)):
        run = noisy_run(splits, methods=(0.02, 0.4, 0.4))
        run.config = run.config.model_copy(update={"datasets": grouped})
        comparisons = Comparisons([("", run)])
        line = Line(NAME, "tcm-nn k=2", "p-value")
        assert math.isnan(comparisons.estimate(line, "error").p_value) != tested
        assert comparisons.low_coverage(line, 0.1) is None


def test_invalid_regions_are_never_the_best():
    """Two of four methods leave out the true label in 40 % of the cases; their regions are not smaller."""
    comparisons = Comparisons([("", noisy_run(methods=(0.02, 0.03, 0.4, 0.4), rows=200))])
    low = [line.method for line in comparisons.lines if comparisons.low_coverage(line, 0.1) is not None]
    assert low == ["tcm-nn k=3", "tcm-nn k=4"]
    for k in (3, 4):
        estimate = comparisons.estimate(Line(NAME, f"tcm-nn k={k}", "p-value"), "mean_region_size", 0.1)
        assert not estimate.best and math.isnan(estimate.p_value)


def test_no_table_rewards_empty_regions_invalid_regions_or_rejecting_everything(tmp_path):
    """Method 2 has empty regions, 3 invalid ones that are small, 4 accepts nothing and has all labels."""

    def predict(cell):
        rng, k = np.random.default_rng(int(cell.split[1:])), cell.params["k"]
        truth = rng.integers(0, 3, 300)
        p = rng.uniform(0.02, 0.08, (300, 3))
        p[np.arange(300), truth] = 0.6
        p[np.arange(300), (truth + 1) % 3] = np.where(rng.random(300) < 0.2, 0.3, 0.05)
        if k == 2:
            single = np.flatnonzero((p > 0.1).sum(axis=1) == 1)[:20]
            p[single] = rng.uniform(0.02, 0.08, (20, 3))
        if k == 3:
            p[:] = rng.uniform(0.02, 0.08, (300, 3))
            p[np.arange(300), np.where(rng.random(300) < 0.7, truth, (truth + 1) % 3)] = 0.6
        if k == 4:
            p[:] = 0.5 + rng.random((300, 3)) / 10
        return result_of(cell, Prediction(np.arange(3), p, "p-value"), truth)

    swept = entry("tcm-nn", sweep={"k": [1, 2, 3, 4]})
    run = run_by_hand([swept], predict, splits=5, rows=399, classes=3, levels=(0.1,))
    write_report(run, tmp_path)
    rows = (tmp_path / "tables/results.tex").read_text(encoding="utf-8").splitlines()
    for k in (2, 3, 4):
        (line,) = [row for row in rows if f"k={k} " in row]
        assert "textbf" not in line, line
    comparisons = comparisons_of(run)
    lines = {line.method[-1]: line for line in comparisons.lines}
    assert [k for k in lines if comparisons.low_coverage(lines[k], 0.1) is not None] == ["3"]
    sizes = {k: comparisons.estimate(line, "mean_region_size", 0.1) for k, line in lines.items()}
    assert min(sizes, key=lambda k: sizes[k].mean) == "3"
    assert sizes["2"].mean < sizes["1"].mean
    best = [row for row in read(tmp_path / "tables" / "results.csv") if row["best"] == "true"]
    assert {row["metric"] for row in best} <= {"error", "mean_region_size"}
    assert {row["method"] for row in best} == {"tcm-nn k=1"}


def test_a_published_table_without_numbers_of_the_run_says_so(tmp_path):
    for name, table in known_tables().items():
        report = Report(noisy_run(), tmp_path)
        write_tables(report, [name], noisy_run().summary)
        assert report.paths == [] and not list(tmp_path.iterdir())
        (note,) = report.notes
        assert note.startswith(f"table {name} is not written") and table.rows()[0]["dataset"] in note
