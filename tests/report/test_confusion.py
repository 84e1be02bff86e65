"""Confusion matrices of a run, counted by hand and from its region tables."""

import numpy as np
import pandas as pd
import pytest
from report.report_cases import entry, result_of, run_by_hand

from confml.measures.prediction import Prediction
from confml.report.write import write_report


def test_counts_over_all_splits_and_the_measures_of_each_class(tmp_path):
    classes = np.array([1, 2, 10])
    truths = {"r0": [1, 1, 2, 2], "r1": [1, 2, 10, 12]}  # 12 is an absent class, 10 is never predicted
    predicted = {"r0": [1, 2, 2, 2], "r1": [1, 1, 2, 2]}

    def predict(cell):
        scores = (np.array(predicted[cell.split])[:, None] == classes).astype(float)
        return result_of(cell, Prediction(classes, scores, "vote"), truths[cell.split])

    run = run_by_hand([entry("knn", {"k": 1})], predict, splits=2, rows=8, classes=4)
    write_report(run, tmp_path)
    counts = pd.read_csv(tmp_path / "tables/confusion.csv")[["label", "prediction", "count"]]
    expected = [[1, 1, 2], [1, 2, 1], [2, 1, 1], [2, 2, 2], [10, 2, 1], [12, 2, 1]]
    assert counts.to_numpy().tolist() == expected
    table = pd.read_csv(tmp_path / "tables/class-metrics.csv")
    assert table["class"].tolist() == [1, 2, 10, 12]
    expected = [[3, 3, 2], [3, 5, 2], [1, 0, 0], [1, 0, 0]]
    assert table[["rows", "predicted", "correct"]].to_numpy().tolist() == expected
    assert table["precision"].tolist() == pytest.approx([2 / 3, 2 / 5, 0, 0])
    assert table["recall"].tolist() == pytest.approx([2 / 3, 2 / 3, 0, 0])
    assert table["f1"].tolist() == pytest.approx([2 / 3, 1 / 2, 0, 0])
    assert set(table["params"]) == {"k=1"} and set(table["params.k"]) == {1}
