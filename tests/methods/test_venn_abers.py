"""Venn-Abers predictors: tables against the max-min definition, bounds, folds, classes, configs."""

import numpy as np
import pytest
from reference.venn import cross_venn_abers, inductive_venn_abers
from sklearn.naive_bayes import GaussianNB
from trials import blobs

import confml
from confml import KNN, Conformal, VennAbers
from confml.errors import ConfigError, ConfmlError
from confml.measures.prediction import Prediction
from confml.methods import registry
from confml.methods.venn_abers.venn_abers import VennAbersTable, score_view


@pytest.mark.parametrize("seed", range(12))
def test_tables_equal_the_max_min_definition(seed):
    """Scores full of ties, few distinct values, one label only, and new scores at, between and beyond."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(0, 25))
    scores = rng.integers(0, [2, 5, 40][seed % 3], m) / 4 - 1
    labels = rng.random(m) < [0.5, 0.15, 1.0, 0.0][seed % 4]
    table = VennAbersTable.of(scores, labels)
    new = np.unique(np.concatenate([scores, scores + 0.1, [-9.0, 0.0, 99.0]]))
    p1, rest = table.probabilities(new)
    bounds = [inductive_venn_abers(scores.tolist(), labels, score) for score in new.tolist()]
    assert p1.tolist() == [float(upper) for _, upper in bounds]
    assert rest.tolist() == [float(1 - lower) for lower, _ in bounds]


def test_infinite_scores_are_the_ends_of_the_order():
    table = VennAbersTable.of(np.array([-np.inf, -np.inf, 0.0, np.inf]), np.array([False, True, True, True]))
    p1, rest = table.probabilities(np.array([-np.inf, 0.0, np.inf]))
    assert p1.tolist() == [2 / 3, 1.0, 1.0]
    np.testing.assert_allclose(rest, [2 / 3, 1 / 2, 1 / 3])


@pytest.mark.parametrize("seed", range(8))
def test_scores_that_differ_by_rounding_are_equal(seed):
    """The table of exact scores, for scores with a relative error of 1e-14, calibration and new ones."""
    rng = np.random.default_rng(seed)
    scores, labels = rng.integers(1, 6, 30) / 7, rng.random(30) < 0.5
    new = np.concatenate([np.arange(7) / 7, np.arange(7) / 7 + 0.05])
    exact = VennAbersTable.of(scores, labels, 1e-3).probabilities(new)
    noisy = VennAbersTable.of(scores * (1 + 1e-14 * rng.normal(size=30)), labels, 1e-3)
    assert len(noisy.with_one) == len(np.unique(scores)) + 1
    probabilities = noisy.probabilities(new * (1 + 1e-14 * rng.normal(size=14)))
    np.testing.assert_array_equal(probabilities, exact)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", ["inductive", "cross"])
def test_equals_the_definition_on_the_classifiers_scores(c, kind):
    """Calibration scores and labels are read off the fitted parts; every class has a predictor of its own."""
    X, y = blobs(2, 60, c)
    X, X_new = np.round(X), np.round(blobs(3, 8, c)[0])
    method = VennAbers(GaussianNB(), kind=kind, folds=4, random_state=5).fit(X, y)
    parts = method._calibration_parts(y, None, method._generator("fit"))
    assert len(parts) == (4 if kind == "cross" else 1)
    view = method.confident_predict(X_new)["venn"]
    assert view.kind == "probability"
    for j in range(c):
        folds, new = [], []
        for rows in parts:
            rest = np.setdiff1d(np.arange(len(y)), rows)
            # Only the order matters: that of the second of two classes is that of the first, reversed.
            classifier = GaussianNB().fit(X[rest], y[rest])
            column = 1 if c == 2 else j
            sign = -1 if c == 2 and j == 0 else 1
            folds.append((sign * classifier.predict_proba(X[rows])[:, column], y[rows] == j))
            new.append(sign * classifier.predict_proba(X_new)[:, column])
        expected = [cross_venn_abers(folds, scores) for scores in np.transpose(new)]
        bounds = np.column_stack([view.extra["lower"][:, j], view.extra["upper"][:, j]])
        np.testing.assert_allclose(bounds, expected, atol=1e-12)
    points = view.extra["upper"] / (1 - view.extra["lower"] + view.extra["upper"])
    np.testing.assert_allclose(view.scores, points / points.sum(axis=1, keepdims=True), atol=1e-12)


def test_decision_values_are_preferred_to_votes():
    views = {kind: Prediction(np.array([0, 1]), np.array([[0.5, 0.5]]), kind) for kind in ("vote", "margin")}
    assert score_view(views, "svm").kind == "margin"
    with pytest.raises(ConfmlError, match="svm has no scores"):
        score_view({}, "svm")


@pytest.mark.parametrize("kind", ["inductive", "cross"])
def test_one_row_one_class_and_rare_classes(kind):
    view = VennAbers(KNN(3), kind=kind, random_state=0).fit([[0.0]], ["a"]).confident_predict([[1.0]])["venn"]
    assert [view.scores.tolist(), view.extra["lower"].tolist()] == [[[1.0]], [[0.0]]]
    X, y = blobs(5, 30)
    y[0] = 7  # in one part only
    view = VennAbers(KNN(3), kind=kind, random_state=0).fit(X, y).confident_predict(X)["venn"]
    assert view.scores.shape == (30, 4) and np.isfinite(view.scores).all()


@pytest.mark.parametrize("groups", [None, np.arange(80) // 4])
def test_calibration_part_groups_and_seeds_are_those_of_conformal(groups):
    X, y = blobs(6, 80)
    venn, again = (VennAbers(GaussianNB(), random_state=3).fit(X, y, groups=groups) for _ in range(2))
    assert venn.fit_metrics_ == Conformal(GaussianNB(), random_state=3).fit(X, y, groups=groups).fit_metrics_
    assert venn.fit_metrics_["calibration_rows"] == 24
    np.testing.assert_array_equal(venn.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"venn__folds": 3}, "venn"),
        ({"venn": "split"}, "inductive"),
        ({"venn": "inductive", "venn__folds": 3}, "folds needs kind: cross"),
        ({"venn": "inductive", "conformal": "split"}, "settings of conformal and venn"),
    ],
)
def test_settings_that_cannot_be(params, message):
    with pytest.raises(ConfigError, match=message):
        registry.build("knn", params)


def test_a_config_is_checked_and_run(tmp_path):
    tuned = {"name": "knn", "venn": {"kind": "cross", "folds": 3}, "tune": {"k": [1, 3]}}
    config = {"datasets": [{"generate": "five-gaussians", "n": 150, "name": "five"}], "baseline": False}
    config |= {"methods": [{"name": "naive-bayes", "venn": "inductive"}, tuned], "protocol": "holdout"}
    with pytest.raises(ConfigError, match="venn: cross has no proper training part"):
        confml.run(config, out=tmp_path / "out")
    tuned["venn"] = "inductive"
    run = confml.run(config, out=tmp_path / "out", engine="serial")
    assert set(run.metrics["view"].dropna()) - {""} == {"venn"}
    assert {"prob[1]", "prob[2]", "lower[1]", "lower[2]", "upper[1]", "upper[2]"} <= {*run.regions().columns}
