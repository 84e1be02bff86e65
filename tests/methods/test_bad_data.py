"""Every method on every kind of bad data: a right answer or a clear error, never NaN, a hang or a traceback.

A kind of bad data is a function that returns a training set and test examples. Shapes and types that
scikit-learn refuses are in its own checks (tests/methods/test_methods_contract.py). An answer must pass the
checks of the runner, and must be right where the classes are far apart. An error is a ValueError (as every
ConfmlError) with a sentence.
"""

import traceback
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression

from confml import Conformal
from confml.measures.prediction import Prediction
from confml.methods import registry
from confml.methods.base import Views
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.runner.check_views import check_views

OWN = {name: cls for name, cls in registry.methods.known().items() if not cls.takes_rows}
# Few draws: this file is not about how good an estimate is.
CHEAP = {
    "bayes-discriminant": {"draws": 20},
    "bayes-knn": {"burn_in": 10, "samples": 20, "thin": 1, "chains": 1},
    "bayes-point-machine": {"n_bounces": 200, "chains": 2},
    "bayes-transduction": {"n_bounces": 200, "chains": 2},
    "perceptron": {"epochs": 50},
    "winnow": {"epochs": 50},
}
# Parameters under which a method computes with the data in another way.
VARIANTS = {
    "bayes-knn, adaptive": ("bayes-knn", {"model": "adaptive"}),
    "bayes-knn, mcmc": ("bayes-knn", {"inference": "mcmc"}),
    "kernel-svm poly": ("kernel-svm", {"kernel": "poly", "degree": 3}),
    "knn, nominal": ("knn", {"nominal": [0]}),
    "linear-svm, dual": ("ovr-svm", {"solver": "dual"}),
    "naive-bayes, bins": ("naive-bayes", {"numeric": "bins"}),
    "naive-bayes, kernels": ("naive-bayes", {"numeric": "bells"}),
    "naive-bayes, nominal": ("naive-bayes", {"nominal": [0, 1]}),
    "polynomial, order 3": ("polynomial", {"order": 3}),
    "tcm-nn within classes": ("tcm-nn", {"mondrian": True}),
    "tcm-svm linear": ("tcm-svm", {"kernel": "linear"}),
}
WRAPPED = {
    "split conformal": lambda: Conformal(OWN["knn"](), random_state=0),
    "cross conformal": lambda: Conformal(OWN["naive-bayes"](), "cross", folds=2, random_state=0),
    "scikit-learn": lambda: SklearnMethod(LogisticRegression()),
}
NAMES = [*OWN, *VARIANTS, *WRAPPED]


def new(name, **params):
    """A method with few draws, a fixed seed, and those of ``params`` that it has."""
    if name in WRAPPED:
        return WRAPPED[name]()
    name, variant = VARIANTS.get(name, (name, {}))
    params = CHEAP.get(name, {}) | {"random_state": 0} | params | variant
    return OWN[name](**{key: params[key] for key in params.keys() & OWN[name].parameters})


# ---- kinds of bad data


def far_apart(rows=18, d=2, scale=1.0):
    """Three classes far apart, in turn, and three test examples, one of each class."""
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 3
    centres = np.zeros((3, d))
    centres[:, :2] = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]]
    X = centres[y] + 0.2 / d * rng.uniform(-1, 1, (rows, d))
    X_test = centres.copy()
    X_test[:, :2] += 0.05
    return X * scale, y, X_test * scale


def with_last(value, X):
    """The rows, of which the last number is ``value``."""
    return np.vstack([X[:-1], [[0.0, value]]])


def with_column(column):
    """One more feature, which is the same number for all rows, or one for each sort of row."""

    def case():
        X, y, X_test = far_apart()
        values = np.broadcast_to(np.asarray(column, dtype=float), 2)[np.arange(len(X)) % 2]
        return np.column_stack([X, values]), y, np.column_stack([X_test, values[: len(X_test)]])

    return case


def changed(change):
    """`far_apart` after ``change(X, y, X_test)``."""
    return lambda: change(*far_apart())


def one_value_apart(X, y, X_test):
    X = np.full_like(X, 0.3)
    X[0, 0] = np.nextafter(0.3, 1)
    return X, y, X_test


def strided(X, y, X_test):
    return np.repeat(X, 2, axis=0)[::2], np.repeat(y, 2)[::2], np.repeat(X_test, 2, axis=1)[:, ::2]


def read_only(X, y, X_test):
    for array in (X, y, X_test):
        array.flags.writeable = False
    return X, y, X_test


LABELS = {
    "unicode": ["\u00fcber", "\u732b", "\U0001f600"],
    "fractions": [0.5, 1.25, 2.75],
    "mixed": np.array(["a", 1, 2.5], dtype=object),
    "nan": [np.nan, 1.0, 2.0],
    "dates": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]"),
}


def labelled(name):
    return changed(lambda X, y, X_test: (X, np.asarray(LABELS[name])[y], X_test))


CASES = {
    "nothing wrong": far_apart,
    # numbers
    "NaN": changed(lambda X, y, X_test: (with_last(np.nan, X), y, X_test)),
    "NaN in the test part": changed(lambda X, y, X_test: (X, y, with_last(np.nan, X_test))),
    "one huge value": changed(lambda X, y, X_test: (with_last(1e300, X), y, X_test)),
    "one huge value in the test part": changed(lambda X, y, X_test: (X, y, with_last(1e300, X_test))),
    **{
        f"scale {scale:g}": partial(far_apart, scale=scale)
        for scale in (1e100, 1e154, 1e300, 1e-154, 1e-300, 1e-320)
    },
    "both ends of the range": with_column([-1.7e308, 1.7e308]),
    "a huge column": with_column(1e200),
    "mixed scales": with_column([1e-200, 1e200]),
    "far from 0": changed(lambda X, y, X_test: (X + 1e15, y, X_test + 1e15)),
    "test examples far away": changed(lambda X, y, X_test: (X, y, X_test * 1e160)),
    "all constant": changed(lambda X, y, X_test: (np.full_like(X, 0.3), y, np.full_like(X_test, 0.3))),
    "one value apart": changed(one_value_apart),
    "one constant column": with_column(5.0),
    # rows and classes
    "one row": changed(lambda X, y, X_test: (X[:1], y[:1], X_test)),
    "one class": changed(lambda X, y, X_test: (X, 0 * y, X_test)),
    "a class of one row": changed(lambda X, y, X_test: (X[:-4], np.r_[y[:-5] % 2, 2], X_test)),
    "every row a class": changed(lambda X, y, X_test: (X, np.arange(len(X)), X_test)),
    "duplicates": changed(lambda X, y, X_test: (np.tile(X[:6], (3, 1)), np.tile(y[:6], 3), X[:3])),
    "contradictory duplicates": changed(
        lambda X, y, X_test: (np.tile(X[:6], (3, 1)), np.r_[y[:6], y[:6], (y[:6] + 1) % 3], X_test)
    ),
    "no test rows": changed(lambda X, y, X_test: (X, y, X_test[:0])),
    "k above the rows": far_apart,
    # shapes
    "one feature": changed(lambda X, y, X_test: (X[:, :1], y, X_test[:, :1])),
    "more features than rows": lambda: far_apart(d=40),
    "2000 features": lambda: far_apart(rows=6, d=2000),
    # types
    "integers": changed(lambda X, y, X_test: ((9 * X).astype(int), y, (9 * X_test).astype(int))),
    "bool": changed(lambda X, y, X_test: (X > 0, y, X_test > 0)),
    "float32": changed(lambda X, y, X_test: (X.astype("f4"), y, X_test.astype("f4"))),
    "big endian": changed(lambda X, y, X_test: (X.astype(">f8"), y.astype(">i8"), X_test.astype(">f8"))),
    "Fortran order": changed(lambda X, y, X_test: (np.asfortranarray(X), y, np.asfortranarray(X_test))),
    "not contiguous": changed(strided),
    "read only": changed(read_only),
    "lists": changed(lambda X, y, X_test: (X.tolist(), y.tolist(), X_test.tolist())),
    "data frames": changed(lambda X, y, X_test: (pd.DataFrame(X), pd.Series(y), pd.DataFrame(X_test))),
    "numbers as objects": changed(lambda X, y, X_test: (X.astype(object), y, X_test.astype(object))),
    **{f"labels: {name}": labelled(name) for name in LABELS},
}

# Data that say nothing else than `far_apart` does: whoever takes them must find the three classes.
SAME = ("nothing wrong", "one constant column", "float32", "big endian", "Fortran order", "not contiguous")
SAME += ("read only", "lists", "data frames", "numbers as objects")
# The cases in which `predict`, the names of the views and the metrics of the fit are checked, too.
PREDICTED = ("nothing wrong", "one class", "labels: unicode", "labels: fractions")
# The same for data on another scale, where a penalty or a width has no fixed scale of its own.
SCALES = tuple(case for case in CASES if case.startswith("scale 1e") and "-" not in case)
SMALL_SCALES = tuple(case for case in CASES if case.startswith("scale") and "-" in case)
SCALE_FREE = (
    "bayes-knn", "bayes-point-machine", "bayes-transduction", "knn", "naive-bayes", "naive-bayes, bins",
    "naive-bayes, kernels", "perceptron", "split conformal", "cross conformal", "tcm-nn",
    "tcm-nn within classes", "weighted-knn", "winnow",
)  # fmt: skip
# Columns of real numbers as codes of categories, and a classifier of scikit-learn: any valid answer is right.
OTHER = ("knn, nominal", "naive-bayes, nominal", "scikit-learn", "majority-class")
# Their cost grows with a power of the number of features.
FEW_FEATURES = ("polynomial, order 3", "bayes-knn, adaptive")


def answer(name, case):
    """The views (or the error that refuses the data), the fitted method (or None), and the test examples."""
    X, y, X_test = CASES[case]()
    params = {"k above the rows": {"k": 500, "k_max": 500}, "2000 features": {"order": 1}}.get(case, {})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            method = new(name, **params).fit(X, y)
            return method.confident_predict(X_test, np.random.default_rng(0)), method, X_test
    except (ValueError, TypeError) as error:
        return error, None, X_test


def numbered(views):
    """The views with the numbers of the classes as labels: the runner has no objects and dates as labels."""
    for name, view in views.items():
        codes = np.searchsorted(view.classes, view.labels)
        assert np.array_equal(view.classes[codes], view.labels)
        yield name, Prediction(np.arange(len(view.classes)), view.scores, view.kind, codes, view.extra)


@pytest.mark.parametrize("name", NAMES)
def test_a_right_answer_or_a_clear_error(name):
    """All cases in one test: thousands of tests would need more time than their fits."""
    wrong = {}
    for case in CASES:
        try:
            check_answer(name, case)
        except Exception:
            wrong[case] = traceback.format_exc(limit=-3)
    assert not wrong, "\n\n".join(f"{case}: {trace}" for case, trace in wrong.items())


def check_answer(name, case):
    if name in FEW_FEATURES and case == "2000 features":
        case = "more features than rows"
    views, method, X_test = answer(name, case)
    if isinstance(views, Exception):
        assert isinstance(views, ValueError) or name == "scikit-learn", repr(views)
        assert len(str(views)) > 20 and " " in str(views), "an error says what is wrong"
        assert case not in SAME, f"refused: {views}"
        return
    classes = np.unique(CASES[case]()[1])
    assert is_classifier(method) and np.array_equal(method.classes_, classes)
    first = next(iter(views.values()))
    if case in PREDICTED:
        predicted = method.predict(X_test)
        assert np.array_equal(predicted, first.labels) and predicted.dtype == classes.dtype
        assert name not in OWN or list(views) == registry.views_of(OWN[name])
        assert all(isinstance(value, float) for value in method.fit_metrics_.values())
    check_views(Views(numbered(views)), name, len(X_test), np.arange(len(method.classes_)))
    for view in views.values():
        assert not np.isnan(view.confidence).any()
    if name not in OTHER and (case in SAME + SCALES or (case in SMALL_SCALES and name in SCALE_FREE)):
        assert first.labels.tolist() == [0, 1, 2]
