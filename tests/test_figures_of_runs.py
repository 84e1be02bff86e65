"""Figures of several runs: a metric against a key of their configs."""

from __future__ import annotations

import numpy as np
import pytest
from programs.figures_of_runs import combined_curves, plot_across_runs

from confml.config import load_config
from confml.errors import ConfmlError
from confml.report.run.stored import open_run
from confml.runner.run import Execution, run

CONFIG = """\
name: plane
datasets:
  - {name: square, generate: unit-square, n: 120}
  - {generate: at-least, n: 60}
noise: {labels: 0.1}
steps: [tomek-links]
methods: [{name: knn, sweep: {k: [1, 5]}}]
protocol: {kind: holdout, test-size: 0.4, repeats: 2}
seed: 1
"""


def computed(folder, config, *overrides):
    """Return the folder of the finished run of a config with overrides."""
    (folder / "config.yaml").write_text(config)
    out = folder / f"out-{len(list(folder.iterdir()))}"
    run(load_config(str(folder / "config.yaml"), overrides), out, Execution(1, engine="serial"))
    return out


def test_runs_combined_against_what_they_differ_in(tmp_path):
    noise = "noise.labels=0.3"
    changes = ((), (noise,), (noise, "steps=[]"), ("seed=2",))
    folders = [computed(tmp_path, CONFIG, *overrides) for overrides in changes]
    runs = [open_run(folder) for folder in folders]
    curves = combined_curves(runs, "noise.labels", "error", ["knn k=5"])
    assert set(curves) == {
        (name, "knn k=5", steps) for name in ("square", "at-least") for steps in ("no steps", "tomek-links")
    }
    cleaned = curves["square", "knn k=5", "tomek-links"]
    assert [(point.x, point.n) for point in cleaned] == [(0.1, 4), (0.3, 2)]  # two seeds at 0.1
    (mean,) = (
        row.mean
        for row in runs[1].summary
        if (row.dataset, row.variant, row.metric) == ("square", "k=5", "error")
    )
    assert cleaned[1].mean == pytest.approx(mean)
    rows = combined_curves(runs[2:3], "train-rows", "error", ["knn k=5"])
    assert {label: [point.x for point in curve] for label, curve in rows.items()} == {
        ("square", "knn k=5"): [72],
        ("at-least", "knn k=5"): [36],
    }
    paths = plot_across_runs(folders[:2], "k", "error", tmp_path / "combined", ["knn"])
    endings = ("svg", "png", "csv")
    assert [path.name for path in paths] == [f"error-against-k.{ending}" for ending in endings]


ARCS = """\
name: arcs
datasets: [{name: arcs, generate: arcs, classes: 5, n: 200, test-n: 200}]
methods: [knn]
protocol: fixed-split
"""


def noised(folder, share, part="all"):
    return open_run(computed(folder, ARCS, f"noise.labels={share}", f"noise.on={part}"))


def test_the_bayes_error_has_the_label_noise_of_the_test_part(tmp_path):
    """Classes without overlap: the Bayes error is the noise, and 1-NN has the limit of Cover and Hart."""
    runs = [noised(tmp_path, share) for share in (0.0, 0.2, 0.5)]
    curves = combined_curves(runs, "bayes-error", "error")
    assert list(curves) == [("knn",), ("e (2 - 5/4 e)",), ("Bayes error e",)]
    np.testing.assert_allclose([point.x for point in curves["knn",]], [0.0, 0.2, 0.5])
    np.testing.assert_allclose([point.mean for point in curves["e (2 - 5/4 e)",]], [0.0, 0.35, 0.6875])
    # Noise of the training part alone does not change the labels that are predicted.
    (point,) = combined_curves([noised(tmp_path, 0.2, "train")], "bayes-error", "error")["knn",]
    assert point.x == 0.0
    with pytest.raises(ConfmlError, match="up to 80 %"):
        combined_curves([noised(tmp_path, 0.9)], "bayes-error", "error")
