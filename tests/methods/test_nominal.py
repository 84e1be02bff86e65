"""Nominal attributes through the runner: who gets codes and who dummy columns; steps and noise on them."""

import numpy as np
import pandas as pd
import pytest

from confml import KNN
from confml.config import make_config
from confml.report.run.stored import open_run
from confml.report.write import write_report
from confml.runner.plan import load_datasets
from confml.runner.run import Execution, run
from confml.runner.split_data import SplitData
from confml.runner.splits import outer_splits
from confml.runner.tasks import TaskContext
from confml.runner.workspace import Workspace


@pytest.fixture
def fruit(tmp_path):
    """A folder with 120 rows of two nominal and two numeric attributes."""
    rng = np.random.default_rng(1)
    apple = rng.random(120) < 0.5
    usual = rng.random((2, 120)) < 0.6
    columns = {
        "colour": np.where(usual[0] & apple, "red", rng.choice(["green", "red", "yellow"], 120)),
        "size": rng.normal(5, 1, 120).round(3),
        "shape": np.where(usual[1] & apple, "round", rng.choice(["long", "round"], 120)),
        "weight": rng.normal(100, 30, 120).round(1),
        "kind": np.where(apple, "apple", "pear"),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "fruit.csv", index=False)
    return tmp_path


def config_of(folder, *methods, **values):
    dataset = {"name": "fruit", "csv": "fruit.csv", "label": "kind", "nominal": ["colour", "shape"]}
    protocol = {"kind": "holdout", "test-size": 0.3, "repeats": 2, "inner-folds": 3}
    settings = {"datasets": [dataset], "methods": [*methods], "protocol": protocol, "seed": 3}
    return make_config({**settings, **values}, folder=folder)


def parts_of(folder, config, method, grid=({},)):
    data = load_datasets(config)["fruit"]
    workspace = Workspace.make(folder)
    context = TaskContext(
        run_folder=folder,
        work_folder=workspace.folder,
        data_file=workspace.put_dataset(data),
        checksum=data.checksum,
        protocol=config.protocol,
        split=outer_splits(config.protocol, data)[0],
        steps=tuple((step.name, dict(step.params)) for step in config.steps),
        noise=config.noise.as_dict() if config.noise else None,
        seed=config.seed,
        method=method,
    )
    return SplitData.of(context, grid)


@pytest.mark.parametrize(
    ("method", "point", "columns", "passed"),
    [
        ("knn", {"k": 3}, 4, {"k": 3, "nominal": [0, 2]}),
        ("knn", {"nominal": "dummy"}, 7, {"nominal": []}),
        ("linear-svm", {"C": 1.0}, 7, {"C": 1.0}),
    ],
)
def test_methods_get_codes_or_dummy_columns(fruit, method, point, columns, passed):
    parts = parts_of(fruit, config_of(fruit, "knn"), method, [point])
    assert parts.X.shape == (84, columns) and parts.with_nominal_columns([point]) == [passed]


@pytest.mark.parametrize("on", ["all", "train"])
def test_noise_is_the_same_on_codes_and_on_dummy_columns(fruit, on):
    noise = {"on": on, "attributes": 0.3, "labels": 0.2, "irrelevant": 2}
    config = config_of(fruit, "knn", noise=noise)
    codes = parts_of(fruit, config, "knn")
    dummies = parts_of(fruit, config, "linear-svm")
    assert codes.X.shape == (84, 6) and dummies.X.shape == (84, 9)
    assert np.array_equal(codes.y, dummies.y)
    assert np.array_equal(codes.X[:, [1, 3, 4, 5]], dummies.X[:, [3, 6, 7, 8]])
    assert np.array_equal(np.argmax(dummies.X[:, :3], axis=1), codes.X[:, 0])
    assert np.array_equal(codes.X_test[:, [1, 3]], dummies.X_test[:, [3, 6]])
    assert codes.with_nominal_columns([{}]) == [{"nominal": [0, 2]}]


def test_steps_of_an_inner_fold_are_learnt_on_its_training_part(fruit):
    steps = ["min-max", {"tomek-links": {"repeat": True}}]
    config = config_of(fruit, "knn", steps=steps, noise={"labels": 0.2, "on": "train"})
    outer = parts_of(fruit, config, "knn")
    validated = []
    for fold in range(3):
        parts = SplitData.of(outer.context, [{}], fold)
        assert set(parts.train_rows) | set(parts.test_rows) == set(outer.train_rows)
        assert not set(parts.train_rows) & set(parts.test_rows)
        validated += parts.test_rows.tolist()
        X, y = parts.untransformed
        at = np.searchsorted(outer.train_rows, parts.train_rows)
        assert np.array_equal(X, outer.untransformed[0][at]) and np.array_equal(y, outer.untransformed[1][at])
        low, high = X[:, [1, 3]].min(axis=0), X[:, [1, 3]].max(axis=0)
        np.testing.assert_allclose(parts.X[:, [1, 3]], (X[parts.kept][:, [1, 3]] - low) / (high - low))
        assert np.array_equal(parts.y, y[parts.kept]) and 1 < len(parts.y) < len(y)
        inner = np.searchsorted(outer.train_rows, parts.test_rows)
        assert np.array_equal(parts.y_test, outer.untransformed[1][inner])  # validated on noised labels
    assert sorted(validated) == outer.train_rows.tolist()


def test_a_run_with_both_forms(fruit):
    both = ["auto", "dummy"]
    methods = [
        {"name": "knn", "sweep": {"k": [1, 5], "nominal": both}},
        {"name": "naive-bayes", "tune": {"m": [0.5, 2]}},
        "linear-svm",
        {"name": "knn", "label": "refused", "tune": {"nominal": both}},
    ]
    config = config_of(fruit, *methods, steps=["min-max", "tomek-links"])
    out = fruit / "out"
    state = run(config, out, Execution(1, engine="serial"))
    assert len(state.done) == 12 and len(state.failed) == 2
    results = open_run(out)
    write_report(results, out)
    # knn with codes is the method fitted by hand on the coded parts.
    cell = next(cell for cell in results.cells if cell.params == {"k": 5, "nominal": "auto"})
    parts = parts_of(fruit, config, "knn", [cell.params])
    expected = KNN(5, nominal=[0, 2]).fit(parts.X, parts.y).predict_proba(parts.X_test)
    assert np.array_equal(results.results[cell.key].views["vote"].scores, expected)
    dropped = results.results[cell.key].dropped_rows
    removed = results.results[cell.key].views.fit_metrics["tomek-links.removed_rows"]
    assert len(dropped) == removed > 0
    rows = pd.read_csv(out / "tables/dropped.csv").query("params == @cell.variant and split == @cell.split")
    assert rows["name"].tolist() == list(dropped)
