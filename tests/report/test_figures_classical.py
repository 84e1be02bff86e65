"""Figures of the classical experiments: decision boundaries, metrics against parameters."""

import numpy as np
import pytest
from report.report_cases import computed

from confml.data import load
from confml.report.figures import DatasetResults
from confml.report.figures.decision_boundary import fitted_plane
from confml.report.run.stored import open_run
from confml.report.write import write_report

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


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return computed(tmp_path_factory.mktemp("plane"), CONFIG)


def test_every_figure_is_drawn_or_says_why_not(out):
    drawn = {path.stem for path in (out / "figures").glob("*.svg")}
    # No line parts the square: no fit there has presentations to no mistakes.
    assert drawn == {"decision-boundary-square", "error-against-at-least"}
    notes = (out / ".run/notes.txt").read_text()
    assert "decision-boundary of at-least is not drawn" in notes and "of square is not drawn" in notes


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


def test_a_report_without_the_data_says_so(tmp_path):
    rows = "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "own.csv").write_text(f"x,y,kind\n{rows}")
    config = "name: own\ndatasets: [{name: own, csv: own.csv, label: kind}]\nmethods: [knn]\n"
    computed(tmp_path, f"{config}protocol: {{kind: holdout}}\nfigures: [decision-boundary]\n")
    assert (tmp_path / "out" / "figures" / "decision-boundary-own.svg").is_file()
    (tmp_path / "own.csv").unlink()
    write_report(open_run(tmp_path / "out"), tmp_path / "out")
    assert "it fits again and needs the data" in (tmp_path / "out" / ".run/notes.txt").read_text()
