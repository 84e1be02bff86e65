"""``certified-jointly.csv``: thresholds certified together, recomputed from the arrays they come from."""

import numpy as np
import pytest
from reference import certified_paths as literal
from report.report_cases import dataset, read, result_of, run_by_hand
from scipy.stats import binom

from confml.measures.certified import threshold_grid
from confml.measures.prediction import Prediction
from confml.report.report import Report
from confml.report.tables.certified import halves
from confml.report.tables.certified_jointly import Candidate, chosen_threshold, limits_of, rows
from confml.report.write import write_report

ROWS, CLASSES = 4000, np.array(["a", "b", "c"])


def predict(cell, n=ROWS):
    """Method ``good`` is right with its probability, ``poor`` less often."""
    rng = np.random.default_rng(len(cell.method) + 10 * int(cell.split[1:]))
    confidence = rng.uniform(0.34, 1, n)
    predicted = rng.choice(3, n, p=[0.6, 0.39, 0.01])
    right = rng.random(n) < (1 - 0.2 * (1 - confidence) if cell.method == "good" else confidence)
    truth = np.where(right, predicted, (predicted + 1) % 3)
    scores = np.repeat((1 - confidence)[:, None] / 2, 3, axis=1)
    scores[np.arange(n), predicted] = confidence
    view = Prediction(CLASSES, scores, "probability", CLASSES[predicted])
    counts = {"a": 180, "b": 105, "c": 15}
    return result_of(cell, view, CLASSES[truth], train_rows=300, train_class_counts=counts)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jointly")
    run = run_by_hand(["good", "poor"], predict, ["three"], 2, rows=1500, classes=3, levels=())
    write_report(run, folder)
    return run, folder


def test_scope_all_is_the_literal_procedure(report):
    run, folder = report
    for row in read(folder / "tables/certified-jointly.csv"):
        limit, chosen, coverages, risks = float(row["limit"]), [], [], []
        for split in ("r0", "r1"):
            results = [result for result in run.finished() if result.cell.split == split]
            half, rest = halves("three", split, ROWS)
            p_values, accepted, grids = [], [], []
            for result in results:
                view = result.views["probability"]
                wrong = (view.labels != result.truth)[half]
                grids.append(threshold_grid(view.certainty[rest], len(half), limit, 0.01 / 2))
                masks = [view.certainty[half] >= threshold for threshold in grids[-1]]
                accepted.append([mask.sum() for mask in masks])
                p_values.append([binom.cdf(wrong[mask].sum(), mask.sum(), limit) for mask in masks])
            counts = literal.paths(p_values, 0.01, min)
            if not any(counts):
                coverages.append(0.0)
                continue
            best = -max((accepted[i][n - 1], -i) for i, n in enumerate(counts) if n)[1]
            result = results[best]
            view = result.views["probability"]
            mask = view.certainty[rest] >= grids[best][counts[best] - 1]
            chosen.append(result.cell.method)
            coverages.append(mask.mean())
            risks.append(np.mean((view.labels != result.truth)[rest][mask]))
        best = max(chosen, key=chosen.count, default="")
        assert (row["certified"], row["method"]) == (str(len(chosen)), best)
        assert row["chosen"] == str(chosen.count(best)) and float(row["coverage"]) == np.mean(coverages)
        assert not chosen or float(row["observed"]) == pytest.approx(np.mean(risks), abs=1e-15)


@pytest.mark.parametrize("risks", [(0.0501, 0.0501), (0.0501, 0.101), (0.0201, 0.0501)])
def test_the_smallest_certified_limit_keeps_its_guarantee(risks):
    """The risk is just above a limit for confident rows, and just above another one for all rows."""
    rng = np.random.default_rng(0)
    runs, rows, false = 200, 600, 0
    confident, overall = risks
    for run in range(runs):
        candidates = []
        for view in "ab":
            certainty = rng.random(rows)
            chance = np.where(certainty >= 0.7, confident, (overall - 0.3 * confident) / 0.7)
            correct = rng.random(rows) >= chance
            candidates.append(Candidate("d", f"r{run}", (view, "", ""), certainty, correct))
        limits = limits_of(rows // 2, 2)
        assert limits == (0.2, 0.1, 0.05, 0.02)
        for limit in reversed(limits):
            chosen = chosen_threshold(candidates, limit, 0.05 / len(limits))
            if chosen.threshold is not None:
                t = chosen.threshold
                risk = confident if t >= 0.7 else (0.3 * confident + (0.7 - t) * chance.max()) / (1 - t)
                false += risk > limit
                break
    assert false <= 0.05 * runs + 6  # two standard errors


def test_the_limits_that_rows_can_certify():
    """ceil(ln(0.05 / (views limits)) / ln(1 - limit)) rows without an error."""
    assert limits_of(458, 1) == (0.2, 0.1, 0.05, 0.02) and limits_of(459, 1)[-1] == 0.01
    assert limits_of(27, 5) == (0.2,) and limits_of(86, 5) == (0.2, 0.1) and limits_of(5, 5) == (0.2,)


def test_limits_that_the_rows_of_one_split_cannot_certify_are_not_tested():
    """60 rows can certify 0.2 alone, which spends all of delta on both splits."""

    def of_rows(cell):
        return predict(cell, 60 if cell.split == "r0" else ROWS)

    run = run_by_hand(["good"], of_rows, ["three"], 2, rows=1500, classes=3, levels=())
    assert limits_of(30, 1) == (0.2,)
    certified = {row[2]: row[6] for row in rows(Report(run, "."))}
    assert certified.pop(0.2) >= 1 and set(certified.values()) == {0}


def test_data_with_groups_have_no_guarantee(tmp_path):
    """The rows of a group are alike, so the counts of a calibration half are not binomial."""
    run = run_by_hand(["good"], predict, ["grouped", "plain"], classes=3)
    specs = [dataset("grouped", "site"), dataset("plain")]
    run.config = run.config.model_copy(update={"datasets": specs})
    write_report(run, tmp_path)
    for row in read(tmp_path / "tables/certified-jointly.csv"):
        assert row["guarantee"].startswith("None: the rows of a group") == (row["dataset"] == "grouped")
    notes = (tmp_path / ".run/notes.txt").read_text()
    assert "grouped: the thresholds of certified.csv" in notes and "(groups: site)" in notes
    assert "plain: the thresholds" not in notes
