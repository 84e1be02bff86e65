"""Conformal risk control: its definition, its guarantee, and the table of a run."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from report.report_cases import dataset, entry, make_config, make_run, result_of

from confml.measures.prediction import Prediction
from confml.measures.risk_control import risk_controlled_threshold
from confml.report.numbers.certificates import halves
from confml.report.run.cells import DatasetInfo
from confml.report.sections.risk_control import _Splits
from confml.report.write import write_report


def literal(confidence, loss, thresholds, limit, bound=1.0):
    """Thresholds from wide to narrow; the first one that fits."""
    for threshold in sorted(set(thresholds)):
        total = sum(one for c, one in zip(confidence, loss, strict=True) if c >= threshold)
        if (total + bound) / (len(loss) + 1) <= limit:
            return threshold
    return None


def test_the_threshold_is_its_definition():
    rng = np.random.default_rng(0)
    for n in (0, 1, 7, 40, 41):
        for limit in (0.02, 0.1, 0.3):
            confidence = rng.integers(0, 6, n) / 5  # ties
            thresholds = rng.integers(0, 8, 5) / 5
            wrong = rng.random(n) < 0.4
            found = risk_controlled_threshold(confidence, wrong, thresholds, limit)
            assert found == literal(confidence.tolist(), wrong.tolist(), thresholds.tolist(), limit)
            costs = rng.integers(0, 4, n) / 2
            found = risk_controlled_threshold(confidence, costs, thresholds, limit, 1.5)
            assert found == literal(confidence.tolist(), costs.tolist(), thresholds.tolist(), limit, 1.5)
    with pytest.raises(ValueError, match="losses must be from 0 to 1"):
        risk_controlled_threshold([0.5], [2.0], [0.1], 0.1)


@pytest.mark.filterwarnings("error")
def test_infinite_thresholds_of_both_signs_have_no_mean():
    """A multiple of the posterior's standard deviation is infinite where the deviation is 0."""
    splits = _Splits()
    for threshold in (-np.inf, np.inf):
        splits.add(threshold, accepted=5, errors=0, rows=(10, 10))
    assert np.isnan(splits.row()[2]) and splits.row()[:2] == (2, 2)


def test_the_expected_loss_is_at_most_the_limit():
    """Error 0.4 (1 - confidence), grid of 20, 60 calibration rows: 4,000 draws, exact loss of a new row."""
    rng = np.random.default_rng(1)
    grid = np.arange(0, 1, 0.05)
    loss = []
    for _ in range(4000):
        confidence = rng.random(60)
        wrong = rng.random(60) < 0.4 * (1 - confidence)
        t = risk_controlled_threshold(confidence, wrong, grid, 0.1)
        loss.append(0.0 if t is None else 0.2 * (1 - t) ** 2)  # the integral of 0.4 (1 - c) from t to 1
    assert 0.08 < np.mean(loss) <= 0.1 + 4 * np.std(loss) / np.sqrt(4000)


def test_the_table_of_a_run(tmp_path):
    classes = np.array(["a", "b"])

    def predict(cell):
        rng = np.random.default_rng(int(cell.split[1:]))
        p = rng.uniform(0.5, 1, 600)
        right = rng.random(600) < p
        scores = np.stack([p, 1 - p], axis=1)
        return result_of(cell, {"reject": Prediction(classes, scores, "probability")}, classes[1 - right])

    run = make_run(make_config([entry("knn")]), predict, {"d": DatasetInfo("d", 600, 2, 2)}, ["r0", "r1"])
    write_report(run, tmp_path)
    with (tmp_path / "risk-control.csv").open(newline="") as file:
        rows = {float(row["expected"]): row for row in csv.DictReader(file)}
    assert {row["loss"] for row in rows.values()} == {"error"}
    assert sorted(rows) == [0.01, 0.05, 0.1] and "certified" not in rows[0.1]
    for limit, row in rows.items():
        thresholds, accepted, wrong = [], [], []
        for result in run.finished():
            view, (half, rest) = result.views["reject"], halves(result)
            bad = view.labels != result.truth
            t = literal(view.confidence[half].tolist(), bad[half], view.confidence[rest].tolist(), limit)
            if t is not None:
                thresholds.append(t)
            taken = view.confidence[rest] >= (np.inf if t is None else t)
            accepted.append(taken.mean())
            wrong.append((taken & bad[rest]).mean())
        assert int(row["found"]) == len(thresholds) and row["calibration_rows"] == "300"
        assert float(row["accepted"]) == pytest.approx(np.mean(accepted))
        assert float(row["accepted_and_wrong"]) == pytest.approx(np.mean(wrong))
        assert row["observed"] == row["accepted_and_wrong"] and row["mean_cost"] == ""
        if thresholds:
            assert float(row["threshold"]) == pytest.approx(np.mean(thresholds))
        assert "not a bound on the error rate of accepted rows" in row["guarantee"]


COSTS = {"matrix": {"a": {"b": 1.0}, "b": {"a": 4.0}}, "abstain": 0.4}


def test_costs_of_accepted_predictions_are_bounded(tmp_path):
    classes = np.array(["a", "b"])

    def predict(cell):
        rng = np.random.default_rng(3)
        p = rng.random(800)
        truth = classes[(rng.random(800) < p).astype(int)]
        return result_of(
            cell, {"reject": Prediction(classes, np.stack([1 - p, p], axis=1), "probability")}, truth
        )

    info = {"d": DatasetInfo("d", 800, 2, 2)}
    run = make_run(make_config([entry("knn")], costs=COSTS), predict, info, ["r0"])
    write_report(run, tmp_path)
    with (tmp_path / "risk-control.csv").open(newline="") as file:
        rows = {float(row["expected"]): row for row in csv.DictReader(file) if row["loss"] == "cost"}
    assert sorted(rows) == pytest.approx([0.1, 0.2, 0.3])
    (result,) = run.finished()
    view, (half, rest) = result.views["reject"], halves(result)
    pairs = zip(result.truth.tolist(), view.labels.tolist(), strict=True)
    cost = np.array([COSTS["matrix"][true].get(predicted, 0.0) for true, predicted in pairs])
    for limit, row in rows.items():
        t = literal(
            view.confidence[half].tolist(), cost[half].tolist(), view.confidence[rest].tolist(), limit, 4.0
        )
        taken = view.confidence[rest] >= t
        assert float(row["threshold"]) == t and float(row["accepted"]) == pytest.approx(taken.mean())
        assert float(row["observed"]) == pytest.approx((cost[rest] * taken).mean())
        assert float(row["mean_cost"]) == pytest.approx(np.where(taken, cost[rest], 0.4).mean())
        assert "the price of abstaining comes on top" in row["guarantee"]


def test_the_expected_cost_is_at_most_the_limit():
    """Costs of 1 and 4 with probability 0.2 (1 - confidence) each: 4,000 draws, exact loss of a new row."""
    rng = np.random.default_rng(2)
    loss = []
    for _ in range(4000):
        confidence, u = rng.random(80), rng.random(80)
        chance = 0.2 * (1 - confidence)
        cost = np.where(u < chance, 1.0, np.where(u < 2 * chance, 4.0, 0.0))
        t = risk_controlled_threshold(confidence, cost, np.arange(0, 1, 0.05), 0.2, 4.0)
        loss.append(0.0 if t is None else 0.5 * (1 - t) ** 2)
    assert 0.1 < np.mean(loss) <= 0.2 + 4 * np.std(loss) / np.sqrt(4000)


def test_data_with_groups_have_no_guarantee(tmp_path):
    """The rows of a group are alike, so the counts of a calibration half are not binomial."""
    classes = np.array(["a", "b"])

    def predict(cell):
        rng = np.random.default_rng(5)
        p = rng.uniform(0.5, 1, 300)
        truth = classes[(rng.random(300) > p).astype(int)]
        return result_of(
            cell, {"reject": Prediction(classes, np.stack([p, 1 - p], axis=1), "probability")}, truth
        )

    info = {name: DatasetInfo(name, 300, 2, 2) for name in ("grouped", "plain")}
    columns = (("grouped", "site"), ("plain", None))
    specs = [dataset(name, column) for name, column in columns]
    config = make_config([entry("knn")], costs=COSTS, datasets=specs)
    write_report(make_run(config, predict, info, ["r0"]), tmp_path)
    for name in ("risk-control.csv", "certified-jointly.csv"):
        with (tmp_path / name).open(newline="") as file:
            for row in csv.DictReader(file):
                assert row["guarantee"].startswith("None: the rows of a group") == (
                    row["dataset"] == "grouped"
                )
    notes = (tmp_path / "notes.txt").read_text()
    assert "grouped: the thresholds of certified.csv" in notes and "(groups: site)" in notes
    assert "plain: the thresholds" not in notes
