"""`best_of` of `Conformal`, against its definition."""

import numpy as np
import pytest
from reference.promises import best_of_p_value
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from trials import blobs

from confml import KNN, Conformal
from confml.config import make_config
from confml.errors import ConfmlError
from confml.methods.conformal.best_of import smallest_regions
from confml.methods.registry import build, version_of


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("level", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("score", [None, "lac"])
def test_best_of_is_its_definition(ties, level, score):
    (X, y), (T, _) = blobs(int(100 * level), 70), blobs(3, 25)
    if ties:
        X, T = X.round(), T.round()
    candidates = [KNN(k=5), LogisticRegression()] if score else [KNN(k=5), LinearSVC()]
    settings = {"nonconformity": score, "random_state": 1}
    model = Conformal(GaussianNB(), best_of=candidates, best_of_level=level, **settings).fit(X, y)
    view = model.confident_predict(T)["p-value"]
    (rows,) = model._calibration_parts(y, None, model._generator("fit"))
    labels, u = y[rows], np.zeros(len(rows))
    calibrated = [model._scores(part, X[rows], u)[0].round(9).tolist() for part in model.fitted_]
    new = [model._scores(part, T, np.zeros(len(T)))[0].round(9) for part in model.fitted_]
    for i in range(len(T)):
        for j in range(3):
            p, number = best_of_p_value(calibrated, labels, [scores[i].tolist() for scores in new], j, level)
            assert (view.scores[i, j], view.extra["chosen"][i, j]) == (pytest.approx(p), number)
    shares = [model.fit_metrics_[f"chosen_{number + 1}"] for number in range(3)]
    np.testing.assert_allclose(shares, [(view.extra["chosen"] == number).mean() for number in range(3)])


def test_the_choice_treats_all_examples_alike():
    """The test example can change places with a calibration example."""
    rng = np.random.default_rng(4)
    scores = rng.random((3, 21, 4)).round(1)
    labels = rng.integers(0, 4, 21)
    chosen = set()
    for new in range(21):
        rest = np.delete(np.arange(21), new)
        observed = [np.sort(table[rest, labels[rest]]) for table in scores]
        every = [np.sort(table[rest], axis=None) for table in scores]
        smallest = smallest_regions(observed, every, [1.0] * 3, [table[[new]] for table in scores], 0.2)
        chosen.add(int(smallest[0, labels[new]]))
    assert len(chosen) == 1


def test_methods_of_a_config():
    candidates = ["knn", {"name": "sklearn.ensemble.RandomForestClassifier", "n-estimators": 20}]
    params = {"conformal": "split", "conformal__best_of": candidates}
    model = build("naive-bayes", params)
    assert isinstance(model.best_of[0], KNN)
    assert isinstance(model.best_of[1].estimator, RandomForestClassifier)
    assert "scikit-learn" in version_of("naive-bayes", params)


def test_the_level_is_the_first_of_the_config():
    method = {"name": "naive-bayes", "conformal": {"kind": "split", "best-of": [{"name": "knn", "k": 5}]}}
    values = {"datasets": ["iris"], "methods": [method], "protocol": "holdout", "levels": [0.2, 0.05]}
    (entry,) = make_config(values).methods
    assert entry.given["conformal__best_of_level"] == 0.2
    method["sweep"] = {"conformal__best_of": [["knn"]]}
    with pytest.raises(ConfmlError, match="methods cannot be swept"):
        make_config(values)
