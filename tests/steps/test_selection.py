"""Attributes selected by accuracy and by the Bayes error, with and without groups."""

import numpy as np
import pandas as pd
import pytest

import confml
from confml.bayes_error.selection import sample_by_class, select_attributes
from confml.config import make_config
from confml.errors import ConfigError
from confml.runner.plan import load_datasets, make_plan
from confml.steps.registry import build_pipeline, build_step

SELECTOR = "sklearn.feature_selection.RFECV"
BY_ERROR = "select-by-bayes-error"

# ---- select-attributes


def test_irrelevant_attributes_go():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([rng.random((120, 4)), y + 0.1 * rng.random(120)])
    step = build_step("select-attributes").fit(X, y, rng)
    assert step.kept_columns_.tolist() == [4]
    counts = {"removed_attributes": 4, "kept_attributes": 1}
    assert step.fit_metrics_ == {**counts, "score_before": 1, "score_after": 1}
    useless = build_step("select-attributes", {"least": 3}).fit(np.zeros((20, 5)), np.arange(20) % 2, rng)
    assert useless.kept_columns_.tolist() == [2, 3, 4]


# ---- select-by-bayes-error


def test_the_step_keeps_what_the_selection_takes():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, size=120)
    X = rng.normal(size=(120, 5))
    X[:, 3] += 4 * y
    X[:, 1] += 3 * (y == 1)
    step = build_step(BY_ERROR, {"attributes": 2, "trees": 1}).fit(X, y)
    expected = select_attributes(X, y, 2, trees=1)
    assert step.kept_columns_.tolist() == sorted(expected.attributes.tolist()) and 3 in step.kept_columns_
    counts = {"kept_attributes": 2.0, "removed_attributes": 3.0}
    assert step.fit_metrics_ == {**counts, "criterion": expected.criterion[-1]}
    assert "criterion" not in build_step(BY_ERROR, {"attributes": 9}).fit(X, y).fit_metrics_
    sampled = build_step(BY_ERROR, {"attributes": 1, "rows": 60}).fit(X, y, np.random.default_rng(1))
    assert sampled.kept_columns_.tolist() == [3]


def test_the_step_reads_codes_as_categories():
    """Codes 0, 1, 2 in an order that says nothing: as 0/1 columns they tell the class, as numbers less."""
    y = np.tile([0, 1, 0], 30)
    X = np.column_stack([np.tile([0.0, 1.0, 2.0], 30), np.random.default_rng(0).normal(size=90)])
    step = build_step(BY_ERROR, {"attributes": 1})
    step.nominal = np.array([True, False])
    assert step.fit(X, y).kept_columns_.tolist() == [0]
    order = sample_by_class(y, None, np.random.default_rng(0))  # the three codes are equally far apart
    dummies = (X[order][:, [0]] == [0, 1, 2]).astype(float)
    expected = select_attributes(dummies, y[order], 1, groups=[[0, 1, 2]])
    assert step.criterion_ == pytest.approx(expected.criterion[0])


def test_rows_sorted_by_class_do_not_decide_ties_in_the_step():
    """A useless attribute of two values: the tree joins equal rows to the first of them, so with the larger
    class first only rows of the smaller one cross, always; in random order either may come first."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [150, 50])
    X = np.column_stack([rng.integers(0, 2, size=200), np.zeros(200)])
    step = build_step(BY_ERROR, {"attributes": 1})
    criteria = [step.fit(X, y, np.random.default_rng(seed)).criterion_ for seed in range(12)]
    assert min(criteria) < 0.95 and max(criteria) > select_attributes(X, y, 1).criterion[0] + 0.05


# ---- groups


def subjects():
    """Rows of 50 subjects: two features identify the subject, two others are informative of its class."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(50), 6)
    label = rng.permutation(np.arange(50) % 2)[group]
    identity = rng.normal(size=(50, 2))[group] + 1e-3 * rng.normal(size=(300, 2))
    return np.hstack([identity, 1.2 * label[:, None] + rng.normal(size=(300, 2))]), label, group


def config_of(folder, **values):
    """Return a config of the rows of `subjects`, which are written to a file."""
    X, y, groups = subjects()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, subject=groups)
    frame.to_csv(folder / "t.csv", index=False)
    dataset = {"name": "t", "csv": str(folder / "t.csv"), "label": "label", "groups": "subject"}
    protocol = {"kind": "holdout", "repeats": 4, "test-size": 0.3, "inner-folds": 3}
    return {"name": "grouped", "datasets": [dataset], "protocol": protocol, "seed": 1, **values}


@pytest.mark.parametrize(("name", "params"), [("select-attributes", {}), (BY_ERROR, {"attributes": 2})])
def test_features_that_identify_a_group_are_not_selected(name, params):
    X, y, groups = subjects()
    columns, metrics = [], []
    for each in (None, groups):
        chain = build_pipeline([("standardise", {}), (name, params)])
        chain.fit_training(X, y, np.random.default_rng(1), None, each)
        columns.append(set(chain.columns_.tolist()))
        metrics.append(chain.fit_metrics_)
        assert "groups" not in vars(chain.steps[-1])  # training rows do not stay in a fitted step
    assert columns[0] == {0, 1} and columns[1] >= {2, 3}
    if name == "select-attributes":
        alone, together = (metric["select-attributes.score_after"] for metric in metrics)
        assert alone == 1 and 0.6 < together < 0.85
        # With one group per class nothing can be held out and scored.
        chain.fit_training(X, y, np.random.default_rng(1), None, y)
        assert chain.fit_metrics_["select-attributes.score_after"] == 0 and len(chain.columns_) == 4


def test_a_run_gives_its_groups_to_the_steps_and_to_calibration(tmp_path):
    method = {"name": "knn", "conformal": "split", "tune": {"k": [1, 3]}}
    steps = [{"select-attributes": {"least": 4}}]
    config = config_of(tmp_path, steps=steps, methods=[method], baseline=False)
    run = confml.run(config | {"levels": [0.2]}, out=tmp_path / "out", engine="serial")
    metrics = run.metrics.groupby("metric")["value"].mean()
    assert 0.5 < metrics["select-attributes.score_after"] < 0.9 and metrics["coverage"] > 0.9


def test_selectors_with_folds_of_their_own_are_refused(tmp_path):
    X, y, groups = subjects()
    params = {"estimator": "sklearn.tree.DecisionTreeClassifier"}
    with pytest.raises(ConfigError, match=r"RFECV' cross-validates inside and would divide the groups"):
        build_pipeline([(SELECTOR, params)]).fit_training(X, y, np.random.default_rng(1), None, groups)
    config = make_config(config_of(tmp_path, steps=[{SELECTOR: params}], methods=["knn"]))
    with pytest.raises(ConfigError, match="would divide the groups"):
        make_plan(config, load_datasets(config))
