"""Very many categories are coded sparsely; expected values are those of scikit-learn and of dense columns."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from confml.data import coding, load, memory
from confml.data.coding import code_columns
from confml.data.memory import is_sparse
from confml.steps.scaling import Standardise

LEVELS = 1200


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    levels = np.concatenate([np.arange(LEVELS), rng.integers(0, LEVELS, 1800)])
    x = rng.normal(size=len(levels)).round(3)
    y = np.where(rng.normal(size=LEVELS)[levels] + x > 0, "yes", "no")
    frame = pd.DataFrame({"x": x, "shop": [f"s{level:04d}" for level in levels], "y": y})
    return frame.sample(frac=1, random_state=0)


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "shops.csv", index=False)
    return tmp_path / "shops.csv"


@pytest.mark.parametrize("kind", ["dummy", "dummy-drop-first"])
def test_sparse_columns_are_the_dense_ones(kind, monkeypatch):
    rng = np.random.default_rng(0)
    categories = [None, tuple(f"c{code}" for code in range(1500))]
    codes = rng.integers(-1, 1500, 400).astype(float)
    codes[7] = np.nan
    table = np.column_stack([rng.integers(-1, 2, 400), codes])
    table[5, 0], table[6, 0] = np.nan, -0.0
    X, names = code_columns(table, ["x", "c"], categories, kind)
    monkeypatch.setattr(coding, "FEWEST_SPARSE", 10**9)
    dense, of_dense = code_columns(table, ["x", "c"], categories, kind)
    assert is_sparse(X) and not is_sparse(dense) and names == of_dense
    np.testing.assert_array_equal(X.toarray(), dense)
    np.testing.assert_array_equal(np.signbit(memory.dense(X)), np.signbit(dense))


def test_the_checksum_is_that_of_dense_columns(path):
    data = load({"csv": path, "label": "y"})
    assert is_sparse(data.X) and data.X.shape == (3000, LEVELS + 1)
    assert dataclasses.replace(data, X=memory.dense(data.X)).checksum == data.checksum


@pytest.fixture
def config(path, tmp_path):
    """A function that writes a config with methods."""

    def written(*methods):
        values = {"datasets": [{"csv": str(path), "label": "y"}], "methods": methods}
        values["protocol"] = {"kind": "k-fold", "folds": 3}
        (tmp_path / "shops.json").write_text(json.dumps(values))
        return tmp_path / "shops.json"

    return written


def test_a_run_gives_what_a_script_with_sparse_columns_gives(config, frame, tmp_path):
    names = "sklearn.linear_model.LogisticRegression", "sklearn.naive_bayes.BernoulliNB"
    command("run", config(*names, "naive-bayes", "knn"), "--out", tmp_path / "run", "--engine", "serial")
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv")
    errors = metrics[metrics.metric == "error"].groupby("method").value.mean()
    dummies = (OneHotEncoder(handle_unknown="ignore"), ["shop"])
    encoder = make_column_transformer(dummies, remainder="passthrough")
    for name, classifier in zip(names, (LogisticRegression(), BernoulliNB()), strict=True):
        pipeline = make_pipeline(encoder, classifier)
        script = cross_val_predict(pipeline, frame[["x", "shop"]], frame.y, cv=StratifiedKFold(3))
        assert errors[name] == pytest.approx((script != frame.y).mean(), abs=0.03)
    assert len(errors) == 5  # with majority-class


def test_predictions_with_sparse_rows_are_those_with_dense_rows(path, frame, tmp_path, monkeypatch):
    new = frame.head(200).drop(columns="y").assign(shop=["new", *frame.shop[1:200]])
    new.to_csv(tmp_path / "new.csv", index=False)
    fitted_to = []
    fit = LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda self, X, y: fitted_to.append(X) or fit(self, X, y))

    def predicted(*options):
        fit = ["predict", "--train", path, "--label", "y", tmp_path / "new.csv", "--explain", "1"]
        fit += ["--method", "sklearn.linear_model.LogisticRegression"]
        fit += ["--param", "tol=1e-10", "--param", "max_iter=9999"]
        command(*fit, *options, "--out", tmp_path / "out.csv")
        return pd.read_csv(tmp_path / "out.csv")

    for options in ([], ["--conformal", "split"]):
        sparse = predicted(*options)
        with monkeypatch.context() as patch:
            patch.setattr(coding, "FEWEST_SPARSE", 10**9)
            dense = predicted(*options)
        assert [is_sparse(X) for X in fitted_to[-2:]] == [True, False]
        assert (sparse.prediction == dense.prediction).all()
        numbers = dense.select_dtypes("number").columns.difference(["line"])
        np.testing.assert_allclose(sparse[numbers], dense[numbers], atol=2e-3)


def test_standardised_sparse_rows_are_the_dense_ones_without_the_mean_of_sparse_columns():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(5, 2, 60), rng.integers(0, 9, (60, 3)) == 0, np.zeros(60)]).astype(float)
    new = np.vstack([X[:5], [[1.0, 1, 0, 1, 1]]])
    step = Standardise().fit(csr_matrix(X), None)
    expected = Standardise().fit(X, None)
    offset = np.where(expected.sd_ > 0, expected.mean_ / np.maximum(expected.sd_, 1e-9), 0) * [0, 1, 1, 1, 0]
    standardised = step.transform(csr_matrix(new)).toarray()
    np.testing.assert_allclose(standardised, expected.transform(new) + offset, atol=1e-12)


def test_a_method_that_needs_dense_rows_is_refused_before_it_takes_memory(config, tmp_path, monkeypatch):
    monkeypatch.setattr("confml.data.memory.available_memory", lambda: 3 * 10**7)
    monkeypatch.setattr("confml.data.memory.SMALL", 0)
    method = "sklearn.ensemble.HistGradientBoostingClassifier"
    error = refusal("run", config(method), "--out", tmp_path / "run")
    assert "1201 columns ('shop' has 1200 categories)" in str(error) and "ignore: [shop]" in error.hint
