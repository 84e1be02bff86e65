"""The public names of confml: lazy, documented, and usable without any other import."""

import inspect

import numpy as np
import processes
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import confml
from confml import _threads
from confml.errors import ConfmlError
from confml.methods.registry import known_methods

CONFIG = {
    "name": "small",
    "datasets": [{"generate": "five-gaussians", "n": 60}],
    "methods": [{"name": "tcm-nn", "k": 1}, {"name": "knn", "tune": {"k": [1, 3]}}],
    "protocol": {"kind": "holdout", "repeats": 2, "inner-folds": 3},
    "levels": [0.05, 0.1],
}


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    return confml.run(CONFIG, out=tmp_path_factory.mktemp("runs") / "small", jobs=1, engine="serial")


def test_every_public_name_is_there_and_documented():
    for name in set(confml.__all__) - {"__version__"}:
        value = getattr(confml, name)
        assert inspect.getdoc(value), name
    assert set(confml.__all__) <= set(dir(confml))
    with pytest.raises(AttributeError, match="no attribute 'TCMN'"):
        confml.TCMN  # noqa: B018


def test_every_method_is_a_public_name():
    in_python = {cls for cls in known_methods().values() if not cls.takes_rows}
    assert in_python <= {getattr(confml, name) for name in confml.__all__}


def test_methods_without_kernels_do_not_import_the_compiler():
    program = (
        "import sys, confml.predictions.training, confml.runner.run\n"
        "from confml.methods.registry import method_class\n"
        "method_class('naive-bayes')\n"
        "assert 'numba' not in sys.modules\n"
        "method_class('knn')\n"
        "assert 'numba' in sys.modules\n"
    )
    processes.assert_program(program)


def test_tables_of_a_run(small_run):
    run = confml.load_run(small_run.folder)
    assert run.answer["sentences"][0] in (run.folder / "summary.md").read_text()
    assert run.answer["datasets"] and run.answer["aim"] == "error"
    assert run.name == "small" and run.manifest["config"]["name"] == "small"
    assert run.metrics["value"].dtype == float and run.metrics["level"].dtype == float
    errors = run.metrics.query("metric == 'error' and method == 'knn'")["value"]
    summary = run.summary.query("metric == 'error' and method == 'knn'")
    assert len(errors) == 2 and summary["n"].item() == 2
    np.testing.assert_allclose(errors.mean(), summary["mean"].item())
    assert (run.timings["fit_seconds"] >= 0).all() and run.tuning["chosen"].sum() == 2
    assert set(run.curves["method"]) == {"knn", "majority-class", "tcm-nn"} and run.failures.empty
    assert "tcm-nn" in repr(run) and "<table" in run._repr_html_()
    assert (run.table()["method"] != "").all()


def test_regions_of_a_run(small_run):
    frame = small_run.regions(method="tcm-nn")
    assert set(frame["view"]) == {"p-value"} and set(frame["split"]) == {"r0", "r1"}
    contained = frame.filter(regex=r"^p\[").gt(0.1)
    assert [len(labels) for labels in frame["region@0.1"]] == contained.sum(axis=1).tolist()
    coverage = small_run.metrics.query("method == 'tcm-nn' and metric == 'coverage' and level == 0.1")
    inside = [label in region for label, region in zip(frame["label"], frame["region@0.1"], strict=True)]
    np.testing.assert_allclose(coverage["value"].mean(), np.mean(inside))
    assert len(small_run.regions()) == 3 * len(frame)
    with pytest.raises(ConfmlError, match="no method 'tcm'; did you mean one of tcm-nn, "):
        small_run.regions(method="tcm")
    with pytest.raises(ConfmlError, match="no view 'votes'"):
        small_run.regions(method="knn", view="votes")


def test_label_sets_and_frames():
    scores = np.array([[0.9, 0.04, 0.2], [0.01, 0.02, 0.03]])
    prediction = confml.Prediction(np.array(["a", "b", "c"]), scores, "p-value")
    assert prediction.label_sets(0.05) == [("a", "c"), ()]
    frame = prediction.to_frame([0.05], index=["x", "y"])
    assert " ".join(frame) == "prediction confidence credibility p[a] p[b] p[c] region@0.05"
    assert frame.loc["x", "region@0.05"] == ("a", "c") and frame.loc["y", "credibility"] == 0.03
    margins = confml.Prediction(np.array([0, 1]), np.array([[-1.0, 1.0]]), "margin")
    assert list(margins.to_frame().columns) == ["prediction", "confidence", "margin[0]", "margin[1]"]
    with pytest.raises(ValueError, match="no prediction regions"):
        margins.to_frame([0.05])


def test_confident_predict_of_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    scaler = StandardScaler().fit(X[::2])
    alone = confml.TCMNN(k=1).fit(scaler.transform(X[::2]), y[::2])
    expected = alone.predict_p_values(scaler.transform(X[1::2]))
    pipeline = make_pipeline(StandardScaler(), confml.TCMNN(k=1))
    for model in (GridSearchCV(pipeline, {"tcmnn__k": [1]}, cv=3), pipeline):
        with pytest.raises(NotFittedError):
            confml.confident_predict(model, X[1::2])
        model.fit(X[::2], y[::2])
        views = confml.confident_predict(model, X[1::2])
        np.testing.assert_array_equal(views["p-value"].scores, expected)
    with pytest.raises(ConfmlError, match="DummyClassifier has no confident_predict"):
        confml.confident_predict(DummyClassifier().fit(X, y), X)


def test_fits_from_python_limit_blas():
    """Every fit and prediction that a method defines runs on one BLAS thread, and the limit ends with it."""
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    seen = []

    class Watching(confml.KNN):
        def check_fit_data(self, X, y):
            seen.append(threads())
            return super().check_fit_data(X, y)

    X, y = load_iris(return_X_y=True)
    with threadpool_limits(2, user_api="blas"):
        assert set(threads()) == {2}
        Watching(k=1).fit(X, y)
        assert seen and set(seen[0]) == {1} and set(threads()) == {2}
        with pytest.raises(ZeroDivisionError), _threads.one_blas_thread():
            1 / 0  # noqa: B018
        assert set(threads()) == {2}
    for cls in known_methods().values():
        for name in ("fit", "predict", "confident_predict"):
            assert getattr(getattr(cls, name), "limits_blas", name == "predict"), (cls, name)
