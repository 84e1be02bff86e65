"""Bands around the means of rates stay between 0 and 100 %."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from report.report_cases import entry, make_config, make_run, result_of

from confml.bayes_error.trials import gaussian_trials
from confml.measures.prediction import Prediction
from confml.report import DatasetInfo, known_figures
from confml.report.figures import Subject
from confml.report.figures.bands import rate_band
from confml.report.figures.curves import Point, draw_curves
from confml.report.figures.style import style
from confml.studies.bayes_error.trials import draw_bias


def bands_of(figure) -> np.ndarray:
    """Heights of all corners of the bands of a figure."""
    found = [one for axes in figure.axes for one in axes.collections if isinstance(one, PolyCollection)]
    return np.concatenate([path.vertices[:, 1] for one in found for path in one.get_paths()])


def leave_one_out():
    """Runs of knn that are wrong on some of the splits, each of which has one test example."""

    def predict(cell):
        truth = np.array([int(cell.split[1:]) % 2 if cell.params["k"] == 1 else int(cell.split == "r1")])
        return result_of(cell, {"vote": Prediction(np.arange(2), np.array([[0.8, 0.2]]), "vote")}, truth)

    config = make_config([entry("knn", sweep={"k": [1, 3]})], thresholds=(0.5,))
    splits = [f"r{number}" for number in range(6)]
    return make_run(config, predict, {"d": DatasetInfo("d", 6, 1, 2)}, splits)


def test_the_band_of_a_rate_by_hand():
    low, high = rate_band([0.02, 0.5, 0.9], [0.1, 0.1, 0.3], scale=1.0)
    assert low == pytest.approx([0.0, 0.4, 0.6]) and high == pytest.approx([0.12, 0.6, 1.0])
    assert np.isnan(rate_band([50.0], [np.nan])).all()


@pytest.mark.parametrize("name", ["error-against-k", "metric-against", "accuracy-rejection"])
def test_bands_of_single_rows_stay_below_100_per_cent(name):
    """The sd of the errors 0 and 1 with mean 1/2 is 0.55 on six splits."""
    with style():
        heights = bands_of(known_figures()[name].draw(Subject(leave_one_out(), "d", {})))
    assert heights.min() == 0.0 and heights.max() == pytest.approx(100.0)


def test_only_rates_are_clipped():
    points = {("knn",): [Point(1.0, 0.6, 0.7, 3), Point(2.0, 0.5, 0.1, 3)]}
    with style():
        rates = bands_of(draw_curves(points, key="k", metric="error", title=""))
        counts = bands_of(draw_curves(points, key="k", metric="presentations", title=""))
    assert (rates.min(), rates.max()) == (0.0, 100.0)
    assert (counts.min(), counts.max()) == pytest.approx((-0.1, 1.3))


def test_bands_of_estimated_bayes_errors_start_at_0():
    trials = gaussian_trials([0.5], [3.0, 5.0], [1], rows=20, trials=8, seed=1, jobs=1)
    estimate = np.zeros_like(trials.estimate)
    estimate[..., 0] = 0.5  # mean 6 %, sd 18 %
    with style():
        assert bands_of(draw_bias(replace(trials, estimate=estimate))).min() == 0.0
