"""Tables and figure of probabilities: calibration beside chance, bounds of Venn predictors, reliability."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from report.report_cases import entry, figure, make_config, make_run, result_of

from confml.measures.bins import Bins
from confml.measures.prediction import Prediction
from confml.report.figures import NotApplicable, pictures
from confml.report.figures.style import style
from confml.report.write import write_report
from confml.runner.manifest import DatasetInfo

CLASSES = np.array(["a", "b"])
INFO = {"d": DatasetInfo(name="d", rows=400, attributes=2, classes=2)}


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def predict(cell):
    """A calibrated predictor in r0 and an overconfident one in r1, with bounds around it."""
    rng = np.random.default_rng(int(cell.split[1:]))
    p = rng.uniform(0.05, 0.95, 400)
    truth = CLASSES[(rng.random(400) < (p if cell.split == "r0" else 0.3 * p + 0.35)).astype(int)]
    scores = np.stack([1 - p, p], axis=1)
    bounds = {"lower": scores - 0.02, "upper": scores + 0.03}
    return result_of(cell, {"venn": Prediction(CLASSES, scores, "probability", extra=bounds)}, truth)


def run_of(splits=("r0", "r1"), **config):
    return make_run(
        make_config([entry("knn", {"k": 3, "venn": "inductive"})], **config), predict, INFO, list(splits)
    )


def test_calibration_of_each_view(tmp_path):
    run = run_of()
    write_report(run, tmp_path)
    (row,) = read(tmp_path / "tables/calibration.csv")
    assert (row["splits"], row["rows"], row["above"], row["slope_splits"]) == ("2", "800", "1", "2")
    errors = [
        Bins.of(one.views["venn"].scores.max(axis=1), one.views["venn"].labels == one.truth).error
        for one in run.finished()
    ]
    assert float(row["ece"]) == pytest.approx(np.mean(errors))
    assert 0.2 < float(row["slope"]) < 0.9


def test_bounds_beside_frequencies(tmp_path):
    run = run_of(["r0"])
    write_report(run, tmp_path)
    (result,) = run.finished()
    rows = read(tmp_path / "tables/venn-bounds.csv")
    assert [row["class"] for row in rows] == ["a", "b"]
    for j, row in enumerate(rows):
        assert row["rows"] == "400"
        assert float(row["frequency"]) == pytest.approx(np.mean(result.truth == CLASSES[j]))
        mean = result.views["venn"].scores[:, j].mean()
        assert float(row["lower"]) == pytest.approx(mean - 0.02)
        assert float(row["upper"]) == pytest.approx(mean + 0.03)
    (table,) = (tmp_path / "regions").rglob("*.csv")
    first = read(table)[0]
    assert float(first["upper[b]"]) - float(first["lower[b]"]) == pytest.approx(0.05)
    frame = result.views["venn"].to_frame()
    assert list(frame)[-4:] == ["lower[a]", "lower[b]", "upper[a]", "upper[b]"]


def test_reliability_counts_every_test_row_once():
    """Both splits have the same rows, so the second adds none."""
    run = run_of(figures=(figure("reliability"),))
    (picture,) = pictures(run)
    with style():
        drawn = picture.draw()
    titles = [axes.get_title("left") for axes in drawn.axes if axes.get_visible()]
    assert titles == ["knn k=3 venn=inductive, n = 400"]
    labels = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert {"isotonic fit", "90 % band of calibrated probabilities"} <= labels


def test_reliability_needs_probabilities():
    def margins(cell):
        return result_of(cell, {"margin": Prediction(CLASSES, np.eye(2), "margin")}, CLASSES)

    config = make_config([entry("ovo-svm")], figures=(figure("reliability"),))
    (picture,) = pictures(make_run(config, margins, INFO, ["r0"]))
    with pytest.raises(NotApplicable, match="no method has probabilities"):
        picture.draw()


def p_values(cell):
    """Class a is covered by its label alone, class b by both labels in one of two rows and never else."""
    p = np.concatenate([np.tile([0.9, 0.01], (60, 1)), np.tile([0.9, 0.9], (20, 1)), np.full((20, 2), 0.01)])
    truth = CLASSES[np.repeat([0, 1], [60, 40])]
    return result_of(cell, {"p-value": Prediction(CLASSES, p, "p-value")}, truth)


def test_conditional_coverage_by_class_and_size(tmp_path):
    """The second split tests the same rows, so it adds none."""
    config = make_config([entry("tcm-nn", {"k": 1})], levels=(0.1,))
    run = make_run(config, p_values, INFO, ["r0", "r1"])
    write_report(run, tmp_path)
    rows = read(tmp_path / "tables/conditional-coverage.csv")
    shown = [(row["by"], row["group"], row["rows"], row["covered"], row["few"]) for row in rows]
    assert shown == [
        ("class", "a", "60", "60", "0"), ("class", "b", "40", "20", "1"),
        ("size", "0", "20", "0", "1"), ("size", "1", "60", "60", "0"), ("size", "2", "20", "20", "1"),
    ]  # fmt: skip
    assert all(float(row["low"]) <= float(row["coverage"]) <= float(row["high"]) for row in rows)
    assert [bool(row["band_low"]) for row in rows] == [True, True, False, False, False]
    assert float(rows[1]["coverage"]) < float(rows[1]["band_low"])
