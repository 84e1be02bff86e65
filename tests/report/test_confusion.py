"""Confusion matrices of a run, counted by hand and from its region tables."""

import numpy as np
import pytest
from report.report_cases import entry, infos, make_config, make_run, read, result_of

from confml.measures.prediction import Prediction
from confml.report.write import write_report


def test_counts_over_all_splits_and_the_measures_of_each_class(tmp_path):
    classes = np.array([1, 2, 10])
    truths = {"r0": [1, 1, 2, 2], "r1": [1, 2, 10, 12]}  # 12 is an absent class, 10 is never predicted
    predicted = {"r0": [1, 2, 2, 2], "r1": [1, 1, 2, 2]}

    def predict(cell):
        scores = (np.array(predicted[cell.split])[:, None] == classes).astype(float)
        return result_of(cell, {"vote": Prediction(classes, scores, "vote")}, truths[cell.split])

    info = infos("d", rows=8, classes=4)
    write_report(make_run(make_config([entry("knn", {"k": 1})]), predict, info, ["r0", "r1"]), tmp_path)
    pairs = [
        (row["label"], row["prediction"], row["count"]) for row in read(tmp_path / "tables/confusion.csv")
    ]
    assert pairs == [
        ("1", "1", "2"), ("1", "2", "1"), ("2", "1", "1"), ("2", "2", "2"), ("10", "2", "1"), ("12", "2", "1")
    ]  # fmt: skip
    rows = read(tmp_path / "tables/class-metrics.csv")
    assert [row["class"] for row in rows] == ["1", "2", "10", "12"]
    assert [(row["rows"], row["predicted"], row["correct"]) for row in rows] == [
        ("3", "3", "2"), ("3", "5", "2"), ("1", "0", "0"), ("1", "0", "0")
    ]  # fmt: skip
    assert [float(row["precision"]) for row in rows] == pytest.approx([2 / 3, 2 / 5, 0, 0])
    assert [float(row["recall"]) for row in rows] == pytest.approx([2 / 3, 2 / 3, 0, 0])
    assert [float(row["f1"]) for row in rows] == pytest.approx([2 / 3, 1 / 2, 0, 0])
    assert {(row["params"], row["params.k"]) for row in rows} == {("k=1", "1")}
