"""Reports of Bayesian transduction: curves linked by a threshold, the paper's numbers, version space."""

import numpy as np
import pandas as pd
import pytest
from report.report_cases import computed

from confml.report.figures import DatasetResults
from confml.report.figures.version_space import Sphere, toy_of
from confml.report.report import Report
from confml.report.run.stored import open_run
from confml.report.tables.published_tables import write_combined_tables

LINKED = """\
name: linked
datasets: [{name: heart, generate: two-gaussians, n: 60}]
methods:
  - {name: kernel-svm, label: SVM, sigma: 1, bias: false, C: 1e6}
  - {name: bayes-transduction, label: long, sigma: 1, n-bounces: 3000}
  - {name: bayes-transduction, label: chords, sigma: 1, n-bounces: 100, sampler: chord, chains: 1, burn-in: 0}
protocol: {kind: holdout, test-size: 0.4, repeats: 4}
levels: [0.05]
figures: [{accuracy-rejection: {by: threshold}}, version-space, joint-labelling]
paper: {table: transduction-figure2}
seed: 1
"""


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    return computed(tmp_path_factory.mktemp("linked"), LINKED)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    text = """\
name: toy
datasets: [{name: toy, generate: half-cube, d: 2, n: 9, test-n: 3, seed: 82}]
steps: [standardise]
methods: [{name: bayes-transduction, kernel: poly, degree: 1, coef0: 2, n-bounces: 40000}]
protocol: {kind: fixed-split}
levels: [0.05]
figures: [version-space, joint-labelling]
seed: 1
"""
    return computed(tmp_path_factory.mktemp("toy"), text)


def numbers(out):
    """Means of a method, sampled by chords or not, by metric and level."""
    table = pd.read_csv(out / "tables/threshold-curves.csv", dtype={"level": str}).fillna({"level": ""})
    table["chords"] = table["params"].str.contains("chord")
    return table.set_index(["method", "chords", "metric", "level"]).sort_index()["mean"]


def predictions(out, label, view):
    data = DatasetResults(open_run(out), "heart")
    shown = next(row for row in data.views.values() if row.label.startswith(label) and row.name == view)
    cells = [data.run.results[cell.key] for cell in shown.cells]
    results = [(cell.views[view], cell.truth) for cell in cells]
    return [p.confidence for p, _ in results], [p.labels == truth for p, truth in results]


@pytest.mark.parametrize("label, chords", [("long", False), ("chords", True)])
def test_numbers_of_linked_curves(linked, label, chords):
    rows = numbers(linked)

    def value(metric, level="", method="bayes-transduction"):
        return rows[method, chords and method != "kernel-svm", metric, level]

    p, right = predictions(linked, label, "probability")
    accepted = [2 * confidences - 1 >= 1 for confidences in p]
    rejected = np.mean([1 - flags.mean() for flags in accepted])
    assert value("rejection_at_one") == pytest.approx(rejected)
    errors = [1 - r[k].mean() for r, k in zip(right, accepted, strict=True) if k.any()]
    assert value("error_at_one") == pytest.approx(np.mean(errors))
    margins, svm_right = predictions(linked, "SVM", "margin")
    top = value("theta_max")
    assert np.mean([np.mean(values < top) for values in margins]) >= rejected - 1e-12
    lower = max(values[values < top].max() for values in margins)
    assert np.mean([np.mean(values < lower) for values in margins]) < rejected
    at_none = value("risk_at_rejection", "0.0")
    assert at_none == pytest.approx(np.mean([1 - values.mean() for values in right]))
    at_none = value("risk_at_rejection", "0.0", "kernel-svm")
    assert at_none == pytest.approx(np.mean([1 - values.mean() for values in svm_right]))


def test_the_papers_numbers_stand_beside_ours(linked, tmp_path):
    rows = numbers(linked)
    write_combined_tables(Report(open_run(linked), tmp_path), ["transduction-figure2"], [linked])
    for folder in (linked, tmp_path):
        table = pd.read_csv(folder / "tables" / "transduction-figure2.csv")
        table = table.set_index(["dataset", "run", "what"]).sort_index()
        for words, chords in (("1000 chord bounces", True), ("long", False)):
            lines, ours = table.loc["heart", words], rows["bayes-transduction", chords]
            assert lines["paper"]["error at theta = 1"] == 16.4
            assert lines["confml"]["error at theta = 1"] == pytest.approx(100 * ours["error_at_one", ""])
            assert lines["confml"]["theta_max"] == pytest.approx(ours["theta_max", ""])
        assert table["status"]["thyroid", "long", "theta_max"] == "not in this run"
        ours = rows["kernel-svm", False, "risk_at_rejection", "0.2"]
        assert table["confml"]["heart", "SVM", "error at 20 % rejection"] == pytest.approx(100 * ours)


def test_figures_are_drawn_or_say_why_not(linked, toy):
    drawn = {path.stem for path in (linked / "figures").glob("*.svg")}
    assert drawn == {"accuracy-rejection-heart", "joint-labelling-heart"}
    assert "version-space of heart is not drawn" in (linked / ".run/notes.txt").read_text()
    drawn = {path.stem for path in (toy / "figures").glob("*.svg")}
    assert drawn == {"version-space-toy", "joint-labelling-toy"}
    assert not (toy / "tables/threshold-curves.csv").exists()


def test_version_space_as_drawn_is_that_of_the_examples(toy):
    results = open_run(toy)
    fitted = toy_of(DatasetResults(results, "toy"), 3)
    sphere = Sphere(fitted)
    stored = results.results[results.cells[0].key].views["probability"]
    np.testing.assert_array_equal(stored.scores[:, 1], fitted.positive)  # the run's own fit
    outline, inside = sphere.outline(), sphere.inside()
    np.testing.assert_allclose((outline @ sphere.walls.T).min(axis=1), 0, atol=1e-9)
    shares = (inside @ sphere.working.T > 0).mean(axis=0)
    np.testing.assert_allclose(shares, fitted.positive, atol=0.03)
    # The circle of an example is as far from the centre as their angle says.
    example = sphere.working[0] / np.linalg.norm(sphere.working[0])
    nearest = np.nanmin(np.linalg.norm(sphere.circle(example), axis=1))
    assert nearest == pytest.approx(2 * np.sin(np.arcsin(abs(example @ sphere.centre)) / 2), abs=1e-3)
    # Areas in the plane are areas on the sphere: a cap of height h has 2 pi h.
    ring = np.cos(0.7) * sphere.centre + np.sin(0.7) * sphere.axes[0]
    radius = np.linalg.norm(sphere.project(ring[None]))
    assert np.pi * radius**2 == pytest.approx(2 * np.pi * (1 - np.cos(0.7)))
    assert list(fitted.joint.joint) != list(fitted.joint.labelwise)
