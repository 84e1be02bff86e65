"""Bands around the means of rates stay between 0 and 100 %; data with groups have no bands of rows."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from report.report_cases import entry, read, result_of, run_by_hand

import confml
from confml.measures.prediction import Prediction
from confml.report.figures import FIGURES, DatasetResults
from confml.report.figures.style import rate_band, style


def bands_of(figure) -> np.ndarray:
    """Heights of all corners of the bands of a figure."""
    bands = [band for axes in figure.axes for band in axes.collections if isinstance(band, PolyCollection)]
    return np.concatenate([path.vertices[:, 1] for band in bands for path in band.get_paths()])


def leave_one_out():
    """Runs of knn that are wrong on some of the splits, each of which has one test example."""

    def predict(cell):
        truth = np.array([int(cell.split[1:]) % 2 if cell.params["k"] == 1 else int(cell.split == "r1")])
        return result_of(cell, Prediction(np.arange(2), np.array([[0.8, 0.2]]), "vote"), truth)

    swept = entry("knn", sweep={"k": [1, 3]})
    return run_by_hand([swept], predict, splits=6, rows=6, thresholds=(0.5,))


def test_the_band_of_a_rate_by_hand():
    low, high = rate_band([0.02, 0.5, 0.9], [0.1, 0.1, 0.3], scale=1.0)
    assert low == pytest.approx([0.0, 0.4, 0.6]) and high == pytest.approx([0.12, 0.6, 1.0])
    assert np.isnan(rate_band([50.0], [np.nan])).all()


def test_bands_of_single_rows_stay_below_100_per_cent():
    """The sd of the errors 0 and 1 with mean 1/2 is 0.55 on six splits."""
    run = leave_one_out()
    with style():
        heights = bands_of(FIGURES["accuracy-rejection"].draw(DatasetResults(run, "d")))
    (error,) = [row for row in run.summary if row.metric == "error" and row.params["k"] == 3]
    assert heights.min() == 0.0 and heights.max() == pytest.approx(100 * (error.mean + error.sd))
    with style():
        heights = bands_of(FIGURES["error-against"].draw(DatasetResults(run, "d")))
    assert heights.min() == 0.0 < heights.max() <= 100.0


@pytest.mark.parametrize("groups", [True, False])
def test_rows_of_groups_have_no_intervals_as_if_independent(groups, tmp_path):
    """A file of 30 groups of 6 rows, with its groups or without, in splits and online."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 6)
    y, shift = person % 2, rng.normal(size=30)[person]
    frame = pd.DataFrame({"a": rng.normal(1.5 * y + shift), "b": rng.normal(y), "person": person})
    frame.assign(y=np.where(rng.random(180) < 0.9, y, 1 - y)).to_csv(tmp_path / "rows.csv", index=False)
    left_out = {"groups": "person"} if groups else {"id": ["person"]}
    weighted = {"name": "naive-bayes", "conformal": {"kind": "split", "shift": "label"}}
    config = {
        "name": "grouped",
        "datasets": [{"name": "rows", "csv": str(tmp_path / "rows.csv"), "label": "y", **left_out}],
        "methods": ["naive-bayes", weighted, "tcm-nn"],
        "protocol": {"kind": "holdout", "repeats": 3, "test-size": 0.3},
        "levels": [0.2],
        "figures": ["reliability"],
    }
    confml.run(config, out=tmp_path / "out", engine="serial")
    for row in read(tmp_path / "out" / "tables/shift-classes.csv"):
        assert (row["low"] == row["high"] == "") == groups and row["estimate"]
    drawn = (tmp_path / "out" / "figures" / "reliability-rows.svg").read_text(encoding="utf-8")
    assert ("90 % band of calibrated" in drawn) == (not groups)
    config |= {"methods": [{"name": "tcm-nn", "smoothed": True}], "protocol": "online"}
    confml.run(config | {"figures": ["online-errors"]}, out=tmp_path / "online", engine="serial")
    drawn = (tmp_path / "online" / "figures" / "online-errors-rows.svg").read_text(encoding="utf-8")
    assert ("95 % binomial band" in drawn) == (not groups)
    notes = (tmp_path / "online" / ".run/notes.txt").read_text()
    assert ("alarms and martingales have no guarantee" in notes) == groups
