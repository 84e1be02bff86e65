"""A metric for each value of a swept parameter, with the published number."""

from __future__ import annotations

import csv
import json

import pytest

from confml.errors import ConfmlError
from confml.studies.reproduction.by_parameter import write_by_parameter


def summary(folder, *rows):
    """Write the summary of a run with (method, params, view, mean, sd, n) on the data set flare."""
    names = ("method", "params", "view", "mean", "sd", "n")
    lines = [
        {"dataset": "flare", "metric": "ari", "level": None, **dict(zip(names, row, strict=True))}
        for row in rows
    ]
    folder.mkdir()
    text = json.dumps({"summary": [*lines, {**lines[0], "metric": "error", "mean": 9.0}]})
    (folder / "summary.json").write_text(text, encoding="utf-8")
    return folder


def test_values_are_rows_and_published_numbers_are_marked(tmp_path):
    """The paper has .4084 for one-vs-rest and .6496 for one-vs-one on flare, means over 5 splits."""
    run = summary(
        tmp_path / "run",
        ("ovr-svm", {"solver": "primal", "C": 3}, "margin", 0.6123, 0.01, 5),
        ("ovr-svm", {"solver": "primal", "C": 0.25}, "margin", 0.3955, 0.0102, 5),
        ("ovr-svm", {"solver": "primal", "C": 0.5}, "margin", 0.3955, 0.0101, 5),
        ("ovo-svm", {"C": 0.25}, "vote", 0.6496, None, 1),
        ("ovo-svm", {"C": 0.25}, "margin", 0.9, 0.01, 5),
        ("ovo-svm", {"C": 0.5}, "vote", 0.65, None, 1),
        ("smart-svm", {"C": 0.5}, "margin", 0.7, 0.01, 5),  # a single value
        ("knn", {"k": 1}, "vote", 0.8, 0.01, 5),
        ("svc", {"C": 1}, "margin", 0.5, 0.01, 5),  # not in the paper
        ("svc", {"C": 2}, "margin", 0.6, 0.01, 5),
    )
    table = write_by_parameter([run], tmp_path / "out", "ari", "C")
    assert table.name == "ari-by-C.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [(row["method"], float(row["C"]), float(row["mean"]), row["paper"]) for row in rows]
    assert found == [
        ("ovo-svm", 0.25, 0.6496, "0.6496"),
        ("ovo-svm", 0.5, 0.65, "0.6496"),
        ("ovr-svm solver=primal", 0.25, 0.3955, "0.4084"),
        ("ovr-svm solver=primal", 0.5, 0.3955, "0.4084"),
        ("ovr-svm solver=primal", 3.0, 0.6123, "0.4084"),
        ("svc", 1.0, 0.5, ""),
        ("svc", 2.0, 0.6, ""),
    ]
    # Two standard errors, 2 sd sqrt(1/5 + 1/5), are 0.01290 for sd .0102 and 0.01278 for sd .0101.
    chance = [row["within_chance"] for row in rows]
    assert chance == ["false", "false", "true", "false", "false", "", ""]


def test_a_run_without_the_parameter_is_refused(tmp_path):
    run = summary(tmp_path / "run", ("knn", {"k": 1}, "vote", 0.8, 0.01, 5))
    with pytest.raises(ConfmlError, match="no method has the metric ari at two or more values of C"):
        write_by_parameter([run], tmp_path / "out", "ari", "C")
    assert not (tmp_path / "out").exists()


def test_a_run_without_a_report_is_refused(tmp_path):
    with pytest.raises(ConfmlError, match="the run has no report"):
        write_by_parameter([tmp_path / "run"], tmp_path / "out", "ari", "C")
