"""Steps that validate inside keep the rows of a group together, or are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import confml
from confml.config import make_config
from confml.errors import ConfigError
from confml.runner.plan import load_datasets, make_plan
from confml.steps.registry import build_pipeline, step_class

SELECTOR = "sklearn.feature_selection.RFECV"
SUBJECTS, EACH = 50, 6


def subjects(seed=0):
    """Rows of subjects: two features identify the subject, two others are informative of its class."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(SUBJECTS), EACH)
    label = rng.permutation(np.arange(SUBJECTS) % 2)[group]
    identity = rng.normal(size=(SUBJECTS, 2))[group] + 1e-3 * rng.normal(size=(len(group), 2))
    informative = 1.2 * label[:, None] + rng.normal(size=(len(group), 2))
    return np.column_stack([identity, informative]), label, group


@pytest.mark.parametrize(
    ("name", "params"),
    [("select-attributes", {}), ("select-by-bayes-error", {"attributes": 2})],
)
def test_features_that_identify_a_group_are_not_selected(name, params):
    X, y, groups = subjects()
    kept = []
    for given in (None, groups):
        chain = build_pipeline([("standardise", {}), (name, params)])
        chain.fit_training(X, y, np.random.default_rng(1), None, given)
        kept.append(set(chain.columns_.tolist()))
        assert "groups" not in vars(chain.steps[-1])  # training rows do not stay in a fitted step
    alone, together = kept
    assert alone == {0, 1} and together >= {2, 3}


def test_accuracy_of_the_inner_folds_is_that_of_new_groups():
    X, y, groups = subjects()
    step = build_pipeline([("select-attributes", {})])
    step.fit_training(X, y, np.random.default_rng(1))
    assert step.fit_metrics_["select-attributes.score_after"] == 1
    step.fit_training(X, y, np.random.default_rng(1), None, groups)
    assert 0.6 < step.fit_metrics_["select-attributes.score_after"] < 0.85


def test_one_group_per_class_leaves_all_features():
    """Nothing can be held out, so nothing can be scored."""
    X, y, _ = subjects()
    step = build_pipeline([("select-attributes", {})])
    step.fit_training(X, y, np.random.default_rng(1), None, y)
    assert step.columns_.tolist() == [0, 1, 2, 3]
    assert step.fit_metrics_["select-attributes.score_before"] == 0


@pytest.mark.parametrize("method", [{"name": "knn"}, {"name": "knn", "conformal": "split"}])
def test_a_run_gives_its_groups_to_the_steps(tmp_path, method, monkeypatch):
    X, y, groups = subjects()
    table = pd.DataFrame(X, columns=list("abcd")).assign(label=y, subject=groups)
    table.to_csv(tmp_path / "t.csv", index=False)
    config = {
        "name": "grouped",
        "datasets": [{"name": "t", "csv": str(tmp_path / "t.csv"), "label": "label", "groups": "subject"}],
        "steps": ["select-attributes"],
        "methods": [method],
        "protocol": {"kind": "holdout", "test-size": 0.3},
        "baseline": False,
        "seed": 1,
    }
    run = confml.run(config, out=tmp_path / "out", jobs=1, engine="serial")
    metrics = run.metrics.set_index("metric")["value"]
    assert 0.5 < metrics["select-attributes.score_after"] < 0.9


def test_selectors_with_folds_of_their_own_are_refused(tmp_path):
    X, y, groups = subjects()
    params = {"estimator": "sklearn.tree.DecisionTreeClassifier"}
    assert step_class(SELECTOR).divides_groups(params)
    assert not step_class("sklearn.feature_selection.SelectKBest").divides_groups({"k": 2})
    assert not step_class("sklearn.preprocessing.TargetEncoder").divides_groups({})
    chain = build_pipeline([(SELECTOR, params)])
    with pytest.raises(ConfigError, match=r"RFECV' cross-validates inside and would divide the groups"):
        chain.fit_training(X, y, np.random.default_rng(1), None, groups)
    pd.DataFrame(X).assign(label=y, subject=groups).to_csv(tmp_path / "t.csv", index=False)
    dataset = {"name": "t", "csv": str(tmp_path / "t.csv"), "label": "label", "groups": "subject"}
    config = make_config(
        {
            "name": "refused",
            "datasets": [dataset],
            "steps": [{SELECTOR: params}],
            "methods": ["knn"],
            "protocol": {"kind": "holdout", "test-size": 0.3},
        }
    )
    with pytest.raises(ConfigError, match="would divide the groups"):
        make_plan(config, load_datasets(config))
