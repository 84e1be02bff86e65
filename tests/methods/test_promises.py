"""`best_of` of `Conformal`, against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from reference.promises import best_of_p_value
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from confml import KNN, Conformal
from confml.config import load_config
from confml.errors import ConfmlError
from confml.methods.conformal.best_of import smallest_regions
from confml.methods.registry import build, version_of


def sample(rng, rows, classes=3, ties=False):
    y = rng.integers(0, classes, rows)
    X = rng.normal(size=(rows, 2)) + 1.3 * np.column_stack([y % 2, y // 2])
    return (X.round() if ties else X), y


def calibration(model, X, y):
    """Scores (n, c) of the calibration part under each classifier, and their labels."""
    (rows,) = model._calibration_parts(y, None, model._generator("fit"))
    return [model._scores(part, X[rows], np.zeros(len(rows)))[0] for part in model.fitted_], y[rows]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("level", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("score", [None, "lac"])
def test_best_of_is_its_definition(ties, level, score):
    rng = np.random.default_rng(3 * ties + int(100 * level))
    X, y = sample(rng, 70, ties=ties)
    T, _ = sample(rng, 25, ties=ties)
    others = [KNN(k=5), LogisticRegression()] if score else [KNN(k=5), LinearSVC()]
    settings = {"nonconformity": score, "random_state": 1}
    model = Conformal(GaussianNB(), best_of=others, best_of_level=level, **settings).fit(X, y)
    view = model.confident_predict(T)["p-value"]
    known, labels = calibration(model, X, y)
    known = [scores.round(9).tolist() for scores in known]
    new = [model._scores(part, T, np.zeros(len(T)))[0].round(9) for part in model.fitted_]
    for i in range(len(T)):
        for j in range(3):
            p, place = best_of_p_value(known, labels, [one[i].tolist() for one in new], j, level)
            assert (view.scores[i, j], view.extra["chosen"][i, j]) == (pytest.approx(p), place)
    shares = [model.fit_metrics_[f"chosen_{place + 1}"] for place in range(3)]
    np.testing.assert_allclose(shares, [(view.extra["chosen"] == place).mean() for place in range(3)])
    assert "chosen_4" not in model.fit_metrics_


def test_the_choice_treats_all_examples_alike():
    """The test example can change places with a calibration example."""
    rng = np.random.default_rng(4)
    scores = rng.random((3, 21, 4)).round(1)
    labels = rng.integers(0, 4, 21)
    chosen = set()
    for new in range(21):
        rest = np.delete(np.arange(21), new)
        own = [np.sort(one[rest, labels[rest]]) for one in scores]
        every = [np.sort(one[rest], axis=None) for one in scores]
        found = smallest_regions(own, every, [1.0] * 3, [one[[new]] for one in scores], 0.2)
        chosen.add(int(found[0, labels[new]]))
    assert len(chosen) == 1


def test_methods_of_a_config():
    others = ["knn", {"name": "sklearn.ensemble.RandomForestClassifier", "n-estimators": 20}]
    params = {"conformal": "split", "conformal__best_of": others}
    model = build("naive-bayes", params)
    assert isinstance(model.best_of[0], KNN)
    assert isinstance(model.best_of[1].estimator, RandomForestClassifier)
    assert (
        version_of("naive-bayes", params).count(",")
        == 1 + version_of("sklearn.ensemble.RandomForestClassifier").count(",") + 2
    )


CONFIG = """\
name: x
datasets: [iris]
methods:
  - name: naive-bayes
    conformal: {kind: split, best-of: [{name: knn, k: 5}]}
protocol: {kind: holdout}
levels: [0.2, 0.05]
seed: 1
"""


def test_the_level_is_the_first_of_the_config(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(CONFIG)
    (entry,) = load_config(path).methods
    assert entry.given["conformal__best_of_level"] == 0.2
    path.write_text(CONFIG.replace("protocol", "    sweep: {conformal__best_of: [[knn]]}\nprotocol"))
    with pytest.raises(ConfmlError, match="methods cannot be swept"):
        load_config(path)
