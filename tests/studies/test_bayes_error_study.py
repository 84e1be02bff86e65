"""Studies of the Bayes error of a data set."""

from __future__ import annotations

import numpy as np
import pytest

from confml.bayes_error import bayes_errors
from confml.data import load
from confml.errors import ConfigError
from confml.studies.bayes_error.study import ClassifierErrors


def test_errors_of_a_classifier_by_hand():
    errors = ClassifierErrors("none", np.array([[3, 1, 0], [2, 4, 0], [0, 0, 0]]))
    assert errors.errors == 3 and errors.error == pytest.approx(0.3)
    # the class's false positives and negatives, over all ten rows
    assert errors.confusion_rate.tolist() == [0.3, 0.3, 0.0]
    assert errors.class_error[:2].tolist() == [0.25, pytest.approx(1 / 3)] and np.isnan(errors.class_error[2])
    assert errors.symmetric[0, 1] == errors.symmetric[1, 0] == 3 and np.isnan(errors.symmetric[0, 0])


def test_scaling_and_estimates_come_from_the_training_part(tmp_path):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    for name, rows in (("train", slice(0, 60, 2)), ("test", slice(1, 60, 2))):
        lines = [f"{u:.6f},{v:.6f},{k}" for (u, v), k in zip(X[rows], y[rows], strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["u,v,y", *lines]) + "\n")
    from confml.studies.bayes_error.study import Request, study

    data = load({"csv": tmp_path / "train.csv", "label": "y", "test": tmp_path / "test.csv"})
    found = study(data, Request(classifier="knn"), lambda text: None)
    part = data.X[data.train_rows]
    scaled = (part - part.min(axis=0)) / np.ptp(part, axis=0)
    expected = bayes_errors(scaled, data.y[data.train_rows]).pairwise.estimate
    np.testing.assert_allclose(found.assessment.errors.pairwise.estimate, expected)
    assert found.test.confusion.sum() == 30
    with pytest.raises(ConfigError, match="training part, not the test part"):
        study(data, Request(classifier="knn", part="test"), lambda text: None)


def test_every_declared_column_is_printed(capsys):
    """A misspelt key of ``printed.yaml`` would omit its column."""
    import importlib.resources

    import yaml

    from confml.studies.bayes_error import print_study
    from confml.studies.bayes_error.study import Request, study
    from confml.studies.bayes_error.tables import TABLES

    request = Request(
        intervals=0.9, permutations=2, select=2, transforms=True, classifier="knn", noise=(0.1,), repeats=1
    )
    found = study(load({"generate": "two-gaussians", "n": 80}), request, lambda text: None)
    print_study(found)
    printed = capsys.readouterr().out
    text = importlib.resources.files("confml.studies.bayes_error").joinpath("printed.yaml").read_text("utf-8")
    for name, table in yaml.safe_load(text).items():
        title = table["title"].format(name="two-gaussians", criterion="mean")
        header = printed[printed.index(title) :].splitlines()[1]
        for column in table["columns"]:
            ((heading, form),) = column.items()
            assert {*form.split()[1:]} <= TABLES[name](found)[0].keys()
            assert heading.format(level="95", intervals="90") in header
