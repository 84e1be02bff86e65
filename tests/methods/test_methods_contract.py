"""What holds for every method: scikit-learn's own checks, the contract of `Method`, and its description."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from skops.io import dumps, loads
from trials import is_variant_with_files

from confml._seeds import derived_generator
from confml.errors import ConfmlError
from confml.measures.prediction import KINDS, Prediction
from confml.methods import registry
from confml.methods._template import NearestMean
from confml.methods.base import Views
from confml.methods.conformal import Conformal
from confml.methods.samples import Samples
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.methods.venn_abers import VennAbers
from confml.plugins.parameters import Integer
from confml.predictions.trusted import trusted_types

# A method with `takes_rows` predicts from a file: tests/methods/test_external.py.
FITTED = {name: cls for name, cls in registry.methods.built_in.items() if not cls.takes_rows}
CLASSES = {**FITTED, NearestMean.name: NearestMean}
NAMES = list(CLASSES)
every_method = pytest.mark.parametrize("name", NAMES)


# Fewer draws of methods that sample: what is held here does not depend on how many there are.
FEWER = {name: {"n_bounces": 3000} for name in ("bayes-transduction", "bayes-point-machine")}


def unseeded(name):
    """A method with default parameters, but for `FEWER`."""
    return CLASSES[name](**FEWER.get(name, {}))


def new(name):
    """The same, and a seed where it has one."""
    method = unseeded(name)
    if "random_state" in method.get_params():
        method.set_params(random_state=3)
    return method


def blobs(rows=60, seed=1):
    """Three overlapping classes in four attributes, and 15 test examples."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    y[:3] = 0, 1, 2
    centres = rng.normal(scale=2.0, size=(3, 4))
    X_test = centres[rng.integers(0, 3, 15)] + rng.normal(size=(15, 4))
    return centres[y] + rng.normal(size=(rows, 4)), y, X_test


def one_class():
    X, y, X_test = blobs()
    return X, np.full_like(y, 7), X_test


def class_of_one_row():
    X, y, X_test = blobs()
    y = y % 2
    y[17] = 9
    return X, y, X_test


def constant_columns():
    X, y, X_test = blobs()
    X[:, 1] = 0.1
    X_test[:, 1] = 0.1
    X_test[0, 1] = 5.0
    return X, y, X_test


def duplicates_with_contradictory_labels():
    X, y, X_test = blobs(20)
    return np.concatenate([X, X, X]), np.concatenate([y, y, (y + 1) % 3]), np.concatenate([X[:5], X_test])


def string_labels():
    X, y, X_test = blobs()
    return X, np.array(["zebra", "ant", "über-cat"])[y], X_test


def three_rows():
    X, y, X_test = blobs()
    return X[:3], y[:3], X_test


def one_row():
    X, y, X_test = blobs()
    return X[:1], y[:1], X_test


CASES = [
    blobs,
    one_class,
    class_of_one_row,
    constant_columns,
    duplicates_with_contradictory_labels,
    string_labels,
    three_rows,
    one_row,
]

# Training sets that a method cannot learn from, and refuses with advice.
NO_VERSION_SPACE = (one_class, one_row, duplicates_with_contradictory_labels)
REFUSED = {"bayes-transduction": NO_VERSION_SPACE, "bayes-point-machine": NO_VERSION_SPACE}


def grid_of(name):
    """Points of a grid: the default, and other values of the whole-number parameters, alone and together."""
    numbers = {}
    for parameter, rule in CLASSES[name].parameters.items():
        default = getattr(unseeded(name), parameter)
        if parameter != "random_state" and isinstance(rule, Integer) and isinstance(default, int):
            if rule.accepts(default + 1):
                numbers[parameter] = default + 1
    return [{}, *({parameter: value} for parameter, value in numbers.items()), numbers]


def assert_same_views(one, other):
    assert list(one) == list(other)
    for view in one:
        for field in ("classes", "scores", "labels"):
            expected, got = getattr(other[view], field), getattr(one[view], field)
            assert np.array_equal(got, expected), (view, field)
        assert one[view].kind == other[view].kind
        assert list(one[view].extra) == list(other[view].extra)
        for key, values in one[view].extra.items():
            assert np.array_equal(values, other[view].extra[key], equal_nan=True), (view, key)


# ---- scikit-learn's checks


# Each class of wrappers, both kinds of conformal prediction, and a pipeline. The checks are about parameters,
# input and what a fit leaves behind, which wrappers share.
WRAPPERS = [
    Conformal(LogisticRegression(), nonconformity="raps", random_state=1),
    Conformal(CLASSES["naive-bayes"](), "cross", folds=2, mondrian=True),
    VennAbers(LogisticRegression()),
    Samples(CLASSES["naive-bayes"](), draws=50),
    SklearnMethod(LogisticRegression()),
    make_pipeline(StandardScaler(), CLASSES["knn"]()),
]


def expected_failures(estimator):
    """Checks that must fail, with the reason."""
    if isinstance(estimator, Pipeline):
        reason = (
            "Pipeline replaces its steps by fitted ones, with any classifier; scikit-learn expects it too"
        )
        return {"check_estimators_overwrite_params": reason, "check_dont_overwrite_parameters": reason}
    if isinstance(estimator, SklearnMethod):
        return {
            "check_parameters_default_constructible": "there is no default classifier to wrap",
            "check_do_not_raise_errors_in_init_or_set_params": "the check wraps a number, and the parameters "
            "are those of the wrapped classifier",
        }
    return {}


@parametrize_with_checks(
    [unseeded(name) for name in CLASSES] + WRAPPERS, expected_failed_checks=expected_failures
)
def test_scikit_learns_own_checks(estimator, check, exhaustive):
    trains_many = isinstance(estimator, CLASSES["tcm-svm"]) and "check_classifiers_train" in str(check)
    if not exhaustive and (trains_many or is_variant_with_files(check)):
        pytest.skip("make test-all: the check of read-only files, or of 1,800 machines of tcm-svm")
    check(estimator)


# ---- predictions


@every_method
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_views_and_labels(name, case):
    X, y, X_test = case()
    before = X.copy(), y.copy(), X_test.copy()
    if case in REFUSED.get(name, ()):
        with pytest.raises(ConfmlError) as refusal:
            new(name).fit(X, y)
        assert refusal.value.hint
        return
    method = new(name).fit(X, y)
    assert is_classifier(method)
    assert np.array_equal(method.classes_, np.unique(y))
    views = method.confident_predict(X_test)
    assert views and list(views) == registry.views_of(CLASSES[name])
    for view in views.values():
        assert isinstance(view, Prediction) and view.kind in KINDS
        assert np.array_equal(view.classes, method.classes_)
        assert view.scores.shape == (len(X_test), len(method.classes_))
        assert np.isfinite(view.scores).all()
        assert view.labels.shape == (len(X_test),) and np.isin(view.labels, method.classes_).all()
        assert not np.isnan(view.confidence).any()
    first = next(iter(views.values()))
    assert np.array_equal(method.predict(X_test), first.labels)
    assert method.predict(X_test).dtype == np.unique(y).dtype
    assert all(isinstance(value, float) for value in method.fit_metrics_.values())
    assert all(np.array_equal(*pair) for pair in zip(before, (X, y, X_test), strict=True))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "majority-class"])
def test_it_learns_what_can_be_learnt(name):
    """Far apart classes, not in a row, so that a plane parts each from the rest, are told apart."""
    X, y, _ = blobs(60)
    X[:, :3] += 100.0 * np.eye(3)[y]
    assert (new(name).fit(X[:40], y[:40]).predict(X[40:]) == y[40:]).all()


@every_method
def test_a_second_fit_forgets_the_first(name):
    X, y, X_test = blobs()
    other, labels, _ = blobs(30, seed=2)
    again = new(name).fit(other, labels % 2).fit(X, y)
    assert_same_views(again.confident_predict(X_test), new(name).fit(X, y).confident_predict(X_test))


@every_method
@pytest.mark.parametrize(
    "case", [blobs, string_labels, one_class, constant_columns], ids=lambda case: case.__name__
)
def test_a_fit_survives_a_model_file(name, case):
    if case in REFUSED.get(name, ()):
        return
    X, y, X_test = case()
    method = new(name).fit(X, y)
    found = loads(dumps(method), trusted=[*trusted_types(), "confml.methods._template.NearestMean"])
    rng = np.random.default_rng
    assert_same_views(found.confident_predict(X_test, rng(0)), method.confident_predict(X_test, rng(0)))


@pytest.mark.parametrize("name", ["tcm-nn", "knn", "naive-bayes"])
def test_one_example_at_a_time(name):
    X, y, X_test = blobs()
    method = new(name).fit(X, y)
    together = method.confident_predict(X_test)
    for row in range(len(X_test)):
        alone = method.confident_predict(X_test[row : row + 1])
        assert_same_views(alone, {view: found.take([row]) for view, found in together.items()})


# ---- paths and states


@every_method
@pytest.mark.parametrize("case", [blobs, string_labels, three_rows], ids=lambda case: case.__name__)
def test_a_path_gives_what_fits_of_its_points_give(name, case):
    X, y, X_test = case()
    grid = grid_of(name)
    path = list(new(name).evaluate_path(X, y, X_test, grid, np.random.default_rng(5)))
    assert [point for point, _ in path] == grid
    for point, views in path:
        assert isinstance(views, Views)
        assert views.fit_seconds >= 0 and views.predict_seconds >= 0
        method = new(name).set_params(**point).fit(X, y)
        rng = derived_generator(np.random.default_rng(5), point)
        assert_same_views(views, method.confident_predict(X_test, rng))
        assert views.fit_metrics == method.fit_metrics_


@every_method
def test_a_point_of_a_path_does_not_depend_on_the_others(name):
    X, y, X_test = blobs()
    grid = grid_of(name)
    together = list(unseeded(name).evaluate_path(X, y, X_test, grid, np.random.default_rng(5)))
    backwards = list(unseeded(name).evaluate_path(X, y, X_test, grid[::-1], np.random.default_rng(5)))
    for (point, views), (other, other_views) in zip(together, backwards[::-1], strict=True):
        assert point == other
        assert_same_views(views, other_views)
    alone = list(unseeded(name).evaluate_path(X, y, X_test, grid[-1:], np.random.default_rng(5)))
    assert_same_views(alone[0][1], together[-1][1])


# ---- parameters and descriptions


@every_method
def test_parameters_are_complete(name):
    cls = CLASSES[name]
    signature = inspect.signature(cls).parameters
    assert list(signature) == list(cls.parameters)
    for parameter, rule in cls.parameters.items():
        assert rule.about.strip() and rule.expected().strip()
        rule.check(parameter, signature[parameter].default)
