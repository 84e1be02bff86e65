"""Probabilities: bounds of Venn predictors, and the reliability diagram."""

import numpy as np
import pytest
from report.report_cases import entry, figure, read, result_of, run_by_hand

from confml.measures.prediction import Prediction
from confml.report.figures import pictures
from confml.report.figures.style import style
from confml.report.write import write_report

CLASSES = np.array(["a", "b"])


def predict(cell):
    """A calibrated predictor in r0 and an overconfident one in r1, with bounds around it."""
    rng = np.random.default_rng(int(cell.split[1:]))
    p = rng.uniform(0.05, 0.95, 400)
    truth = CLASSES[(rng.random(400) < (p if cell.split == "r0" else 0.3 * p + 0.35)).astype(int)]
    scores = np.stack([1 - p, p], axis=1)
    bounds = {"lower": scores - 0.02, "upper": scores + 0.03}
    return result_of(cell, {"venn": Prediction(CLASSES, scores, "probability", extra=bounds)}, truth)


def run_of(splits, **config):
    method = entry("knn", {"k": 3, "venn": "inductive"})
    return run_by_hand([method], predict, splits=splits, rows=400, **config)


def test_bounds_are_columns_of_the_region_table(tmp_path):
    run = run_of(1)
    write_report(run, tmp_path)
    (result,) = run.finished()
    (table,) = (tmp_path / "regions").rglob("*.csv")
    first = read(table)[0]
    assert float(first["upper[b]"]) - float(first["lower[b]"]) == pytest.approx(0.05)
    frame = result.views["venn"].to_frame()
    assert list(frame)[-4:] == ["lower[a]", "lower[b]", "upper[a]", "upper[b]"]


def test_reliability_counts_every_test_row_once():
    """Both splits have the same rows, so the second adds none."""
    run = run_of(2, figures=(figure("reliability"),))
    (picture,) = pictures(run)
    with style():
        drawn = picture.draw()
    titles = [axes.get_title("left") for axes in drawn.axes if axes.get_visible()]
    assert titles == ["knn k=3 venn=inductive, n = 400"]
    labels = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert {"isotonic fit", "90 % band of calibrated probabilities"} <= labels
