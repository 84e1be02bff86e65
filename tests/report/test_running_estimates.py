"""The figure of running estimates along the chains of Bayesian k-NN."""

from __future__ import annotations

import numpy as np
import pytest

from confml.config import load_config
from confml.errors import ConfmlError
from confml.methods.bayes_knn import BayesKNN
from confml.report.figures import check_figure
from confml.report.figures.running_estimates import running_means
from confml.report.run.stored import open_run
from confml.report.write import write_report
from confml.runner.run import Execution, run

CONFIG = """\
name: chains
datasets: [{generate: five-gaussians, n: 40, test-n: 20}, wine-sklearn]
methods: [{name: bayes-knn, label: standard}]
protocol: {kind: holdout, test-size: 0.5, repeats: 1}
figures: [{running-estimates: {points: [[0.4, 0.8], [0.343, 0.471], [0.3, 0.15]], draws: 50}}]
seed: 2
"""


def test_it_is_drawn_of_two_classes_in_the_plane(tmp_path):
    (tmp_path / "chains.yaml").write_text(CONFIG)
    run(load_config(str(tmp_path / "chains.yaml")), tmp_path / "out", Execution(1, engine="serial"))
    write_report(open_run(tmp_path / "out"), tmp_path / "out")
    drawn = {path.stem for path in (tmp_path / "out" / "figures").glob("*.svg")}
    assert drawn == {"running-estimates-five-gaussians"}
    svg = (tmp_path / "out" / "figures" / "running-estimates-five-gaussians.svg").read_text()
    for words in ("exact integration", "true Bayes boundary", "reject, 4 chains", "point C (0.3, 0.15)"):
        assert words in svg
    assert "it needs two features and two classes" in (tmp_path / "out" / "notes.txt").read_text()


@pytest.mark.parametrize("points", [[[0, 1]], [[0, 1], [1, 1], [2, np.inf]], "three", None])
def test_points_are_three_pairs_of_numbers(points):
    with pytest.raises(ConfmlError, match="three points"):
        check_figure("running-estimates", {"points": points})


def test_means_equal_those_of_a_literal_loop():
    """Also at rows of the training set and with equal distances."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(30, 2)).astype(float), rng.integers(0, 3, 30)
    points = np.array([[0.0, 0.0], [1.5, 2.0], [3.0, 1.0]])
    model = BayesKNN(inference="mcmc", chains=2, samples=25, thin=3, burn_in=20, random_state=1).fit(X, y)
    found = running_means(model, points, 1)
    traces = model.diagnostics_.traces
    counts = model.posterior_.training.class_counts(points, len(model.k_posterior_))
    for chain in range(2):
        for place in range(3):
            reject, envelope = [], []
            for k, beta in zip(traces["k"][chain], traces["beta"][chain], strict=True):
                shares = counts[int(k) - 1, place] / k
                weights = np.exp(beta * (shares - shares.max()))
                reject.append(weights[1] / weights.sum())
                most = np.isclose(shares, shares.max())  # shares at equal distances are thirds
                envelope.append(most[1] / most.sum())
            for view, values in (("reject", reject), ("envelope", envelope)):
                expected = [np.mean(values[: n + 1]) for n in range(25)]
                np.testing.assert_allclose(found[view][chain, :, place], expected, rtol=1e-10)
