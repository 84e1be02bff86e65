"""Figures of the classical experiments: decision boundaries, metrics against parameters, runs combined."""

from __future__ import annotations

import csv
import math
import os
import shutil

import numpy as np
import pytest

from confml.config import load_config
from confml.data import load
from confml.errors import ConfmlError
from confml.report.across import combined_curves, plot_across_runs
from confml.report.figures import DatasetResults
from confml.report.figures.curves import metric_curves
from confml.report.figures.decision_boundary import fitted_plane
from confml.report.run.stored import open_run
from confml.report.write import write_report
from confml.runner.run import Execution, run

CONFIG = """\
name: plane
datasets:
  - {name: square, generate: unit-square, n: 120}
  - {generate: at-least, n: 60}
noise: {labels: 0.1}
steps: [tomek-links]
methods:
  - {name: knn, sweep: {k: [1, 5]}}
  - {name: perceptron, sweep: {rate: [0.1, 1]}, epochs: 20}
protocol: {kind: holdout, test-size: 0.4, repeats: 2}
figures:
  - decision-boundary
  - {error-against: {parameter: rate, metric: presentations, log: true}}
seed: 1
"""


def computed(folder, *overrides, name="out"):
    (folder / "plane.yaml").write_text(CONFIG)
    config = load_config(str(folder / "plane.yaml"), overrides)
    run(config, folder / name, Execution(1, engine="serial"))
    return folder / name


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = computed(tmp_path_factory.mktemp("plane"))
    write_report(open_run(folder), folder)
    return folder


def test_every_figure_is_drawn_or_says_why_not(out):
    drawn = {path.stem for path in (out / "figures").glob("*.svg")}
    assert drawn == {
        "decision-boundary-square",
        "error-against-at-least",  # no line parts the square: no fit there has presentations to no mistakes
    }
    notes = (out / ".run/notes.txt").read_text()
    assert "decision-boundary of at-least is not drawn: it has 5 features, not 2" in notes
    assert "of square is not drawn: no method has a metric presentations" in notes


def test_a_plane_is_the_run_s_own_fit(out):
    """What the refit says at the test examples is what was stored of them."""
    results = open_run(out)
    square = DatasetResults(results, "square")
    view = next(view for view in square.views.values() if view.params == {"k": 5})
    data = load(results.config.datasets[0].as_dict())
    plane = fitted_plane(square, view, 60)
    stored = results.results[view.cells[0].key]
    assert plane.kept.sum() == stored.train_rows < len(plane.kept) == 72
    assert len(stored.dropped_rows) == (~plane.kept).sum()
    # The nearest place of the grid says nearly always the same as the stored prediction.
    X = data.X[stored.rows]
    nearest = [np.abs(axis[:, None] - X[:, i]).argmin(axis=0) for i, axis in enumerate((plane.x, plane.y))]
    labels = data.classes[plane.regions[nearest[1], nearest[0]]]
    assert np.mean(labels == stored.views["vote"].labels) > 0.9


def test_a_report_without_the_data_says_so(tmp_path, monkeypatch):
    (tmp_path / "own.csv").write_text(
        "x,y,kind\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
    )
    (tmp_path / "own.yaml").write_text(
        "name: own\ndatasets: [{name: own, csv: own.csv, label: kind}]\nmethods: [knn]\n"
        "protocol: {kind: holdout}\nfigures: [decision-boundary]\n"
    )
    run(load_config(str(tmp_path / "own.yaml")), tmp_path / "out", Execution(1, engine="serial"))
    write_report(open_run(tmp_path / "out"), tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "decision-boundary-own.svg").is_file()
    os.remove(tmp_path / "own.csv")
    write_report(open_run(tmp_path / "out"), tmp_path / "out")
    assert "it fits again and needs the data" in (tmp_path / "out" / ".run/notes.txt").read_text()


def test_metric_curves_are_means_of_the_metrics(out):
    results = open_run(out)
    (curve,) = metric_curves(DatasetResults(results, "at-least"), "rate", "presentations")[0].values()
    assert [point.x for point in curve] == [0.1, 1] and all(point.n == 2 for point in curve)
    with open(out / "metrics.csv", newline="") as file:
        values = [
            float(row["value"])
            for row in csv.DictReader(file)
            if row["dataset"] == "at-least"
            and row["metric"] == "presentations"
            and "rate=1;" in row["params"] + ";"
        ]
    assert curve[1].mean == pytest.approx(np.mean(values))


def test_runs_combined_against_what_they_differ_in(out, tmp_path):
    shutil.copy(out.parent / "plane.yaml", tmp_path)
    other = computed(tmp_path, "noise.labels=0.3", name="noisy")
    plain = computed(tmp_path, "noise.labels=0.3", "steps=[]", name="plain")
    again = computed(tmp_path, "seed=2", name="again")
    runs = [open_run(folder) for folder in (out, other, plain, again)]
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
    paths = plot_across_runs([out, other], "k", "error", tmp_path / "combined", ["knn"])
    endings = ("svg", "png", "csv")
    assert [path.name for path in paths] == [f"error-against-k.{ending}" for ending in endings]
    with pytest.raises(ConfmlError, match="no metric 'eror'"):
        combined_curves(runs, "noise.labels", "eror")
    with pytest.raises(ConfmlError, match="has no key protocol.foo"):
        combined_curves(runs, "protocol.foo", "error")


def test_the_bayes_error_goes_with_its_own_lines(tmp_path):
    (tmp_path / "two.yaml").write_text(
        "name: two\ndatasets: [{name: two, generate: two-gaussians, n: 100, test-n: 100, distance: 2.0}]\n"
        "methods: [knn]\nprotocol: fixed-split\n"
    )
    folders = []
    for distance in (1.0, 2.0):
        config = load_config(str(tmp_path / "two.yaml"), [f"datasets.0.distance={distance}"])
        run(config, tmp_path / str(distance), Execution(1, engine="serial"))
        folders.append(open_run(tmp_path / str(distance)))
    curves = combined_curves(folders, "bayes-error", "error")
    assert list(curves) == [("knn",), ("2 e (1 - e)",), ("Bayes error e",)]
    expected = [0.5 * math.erfc(distance / 2 / math.sqrt(2)) for distance in (2.0, 1.0)]
    np.testing.assert_allclose([point.x for point in curves["knn",]], expected)
    np.testing.assert_allclose([point.mean for point in curves["Bayes error e",]], expected)


def noised(folder, share, on="all"):
    (folder / "arcs.yaml").write_text(
        "name: arcs\ndatasets: [{name: arcs, generate: arcs, classes: 5, n: 200, test-n: 200}]\n"
        "methods: [knn]\nprotocol: fixed-split\n"
    )
    config = load_config(str(folder / "arcs.yaml"), [f"noise.labels={share}", f"noise.on={on}"])
    run(config, folder / f"{share}-{on}", Execution(1, engine="serial"))
    return open_run(folder / f"{share}-{on}")


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
    with pytest.raises(ConfmlError, match="with 90 % label noise is not known; it is known up to 80 %"):
        combined_curves([noised(tmp_path, 0.9)], "bayes-error", "error")
