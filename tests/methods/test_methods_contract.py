"""What holds for every method: scikit-learn's own checks, the contract of `Method`, and invariances."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from skops.io import dumps, loads
from trials import checks_of, clouds

from confml import Conformal, Samples, VennAbers
from confml.methods import registry
from confml.methods._template import NearestMean
from confml.methods.base import Method, Views
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.parameters import Integer
from confml.predictions.trusted import trusted_types

# A method with `takes_rows` predicts from a file: tests/methods/test_external.py.
CLASSES = {name: cls for name, cls in registry.methods.known().items() if not cls.takes_rows}
CLASSES[NearestMean.name] = NearestMean
every_method = pytest.mark.parametrize("name", CLASSES)

# Fewer draws of methods that sample: no test here depends on their number.
FEWER = {name: {"n_bounces": 3000} for name in ("bayes-transduction", "bayes-point-machine")}


def new(name, seed=None):
    """A method with default parameters, but for `FEWER` and the seed where it has one."""
    method = CLASSES[name](**FEWER.get(name, {}))
    return method.set_params(random_state=seed) if "random_state" in method.get_params() else method


def blobs(rows=60, seed=1):
    """Three overlapping classes in four attributes, and 15 test examples."""
    X, y, X_test = clouds(rows, 3, seed=seed)
    return X, y, X_test[:15]


PENALTIES = [{"C": 2.0**power, "solver": solver} for power in (-18, 5, 18) for solver in ("primal", "dual")]
GRIDS = {
    **dict.fromkeys(["ovo-svm", "ovr-svm", "dag-svm", "smart-svm"], PENALTIES),
    "gen-svm": [{"ridge": ridge, "kappa": 0.5, "p": 1.5} for ridge in (2.0**12, 3.0, 2.0**-17)],
    "knn": [
        *({"k": k} for k in (20, 2, 500)),
        *({"k": k, "teacher": 2, "teacher_weight": weight} for k in (1, 5) for weight in (1.0, 4.0)),
        *({"distance": "minkowski", "power": power, "k": 3} for power in (1, 3, "max")),
    ],
    "tcm-nn": [{"k": 5, "mondrian": True}, {"k": 400}, {"k": 2, "smoothed": True, "mondrian": True}],
}


def grid_of(name):
    """Points of a grid: the default, other values of the whole-number parameters, alone and together, and
    those of `GRIDS`."""
    numbers = {}
    for parameter, rule in CLASSES[name].parameters.items():
        default = getattr(new(name), parameter)
        if parameter != "random_state" and isinstance(rule, Integer) and isinstance(default, int):
            if rule.accepts(default + 1):
                numbers[parameter] = default + 1
    alone = [{parameter: value} for parameter, value in numbers.items()]
    return [{}, *alone, numbers, *GRIDS.get(name, [])]


def assert_same_views(views, expected):
    assert list(views) == list(expected)
    for name, view in views.items():
        for field in ("classes", "scores", "labels"):
            assert np.array_equal(getattr(view, field), getattr(expected[name], field)), (name, field)
        assert view.kind == expected[name].kind
        assert list(view.extra) == list(expected[name].extra)
        for key, values in view.extra.items():
            assert np.array_equal(values, expected[name].extra[key], equal_nan=True), (name, key)


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
    CLASSES["tcm-nn"](k=3, mondrian=True),
    CLASSES["tcm-nn"](smoothed=True, random_state=0),
]


# Checks that must fail, with the reason.
EXPECTED_FAILURES = {
    Pipeline: dict.fromkeys(
        ("check_estimators_overwrite_params", "check_dont_overwrite_parameters"),
        "Pipeline replaces its steps by fitted ones; scikit-learn expects it too",
    ),
    SklearnMethod: dict.fromkeys(
        ("check_parameters_default_constructible", "check_do_not_raise_errors_in_init_or_set_params"),
        "the checks wrap a number; the parameters are those of a classifier",
    ),
}


@pytest.mark.parametrize(
    ("estimator", "check"), checks_of([*map(new, CLASSES), *WRAPPERS], EXPECTED_FAILURES)
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# ---- fits and predictions (tests/methods/test_bad_data.py has the views of every kind of data)


def stored(method):
    """The method after a way through a model file."""
    return loads(dumps(method), trusted=[*trusted_types(), "confml.methods._template.NearestMean"])


@every_method
def test_a_second_fit_forgets_the_first_and_a_model_file_nothing(name):
    X, y, X_test = blobs()
    y = np.array(["zebra", "ant", "über-cat"])[y]
    first, labels, _ = blobs(30, seed=2)
    expected = new(name, 3).fit(X, y).confident_predict(X_test, np.random.default_rng(0))
    again = stored(new(name, 3).fit(first, labels % 2).fit(X, y))
    assert_same_views(again.confident_predict(X_test, np.random.default_rng(0)), expected)


@pytest.mark.parametrize("name", sorted({*CLASSES} - {*FEWER}))
def test_a_model_file_of_one_class(name):
    X, y, X_test = blobs()
    method = new(name, 3).fit(X, np.full_like(y, 7))
    assert_same_views(stored(method).confident_predict(X_test), method.confident_predict(X_test))


# Predictions of these methods are sums of products, whose last digits depend on the number of rows.
ROUNDED = {"bayes-discriminant"}


@every_method
def test_a_row_has_the_same_prediction_in_every_batch(name):
    """To the last bit: BLAS sums in another order for other shapes."""
    rng = np.random.default_rng(64)
    y = np.arange(120) % 5
    X, X_test = rng.standard_normal((120, 64)), rng.standard_normal((12 if name == "tcm-svm" else 131, 64))
    X[np.arange(120), y] += 3
    model, rtol = new(name, 3).fit(X, y), 1e-9 if name in ROUNDED else 0
    for view, together in model.confident_predict(X_test).items():
        for rows in (slice(0, 1), slice(3, 10), slice(11, 61)):
            part = model.confident_predict(X_test[rows])[view]
            np.testing.assert_allclose(part.scores, together.scores[rows], rtol=rtol)
            assert np.array_equal(part.labels, together.labels[rows])


INVARIANT = {
    "tcm-nn": lambda: CLASSES["tcm-nn"](k=2),
    "tcm-nn, mondrian": lambda: CLASSES["tcm-nn"](k=1, mondrian=True),
    "knn": lambda: CLASSES["knn"](k=3),
    "weighted-knn": lambda: CLASSES["weighted-knn"](k=5),
    "bayes-knn": lambda: CLASSES["bayes-knn"](model="simple"),
    "bayes-knn, standard": lambda: CLASSES["bayes-knn"](),
}


@pytest.mark.parametrize("name", INVARIANT)
@given(
    seed=st.integers(0, 2**32 - 1),
    power=st.sampled_from([-1060, -1000, -600, -300, 0, 300, 480, 600, 1000, 1018]),
    d=st.sampled_from([2, 3, 20]),
)
@settings(max_examples=25)
def test_order_scale_names_and_copies_do_not_matter(name, seed, power, d):
    """Rows permuted, features times a power of two, classes renamed, test rows repeated: the same scores.

    Small integers stay exact at every power of two, and are full of ties.
    """
    rng = np.random.default_rng(seed)
    X, X_test = rng.integers(-9, 10, (50, d)).astype(float), rng.integers(-9, 10, (8, d)).astype(float)
    y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 47)])
    expected = INVARIANT[name]().fit(X, y).confident_predict(X_test)
    order, names = rng.permutation(50), rng.permutation(["a", "b", "c"])
    changed = INVARIANT[name]().fit(np.ldexp(X[order], power), names[y[order]])
    columns = np.searchsorted(changed.classes_, names)
    for view, prediction in changed.confident_predict(np.ldexp(np.tile(X_test, (2, 1)), power)).items():
        scores, repeated = prediction.scores[:, columns], np.tile(expected[view].scores, (2, 1))
        # Sums of weights and of posterior masses in another order differ in their last digits.
        is_exact = name.startswith(("tcm-nn", "knn"))
        np.testing.assert_allclose(scores, repeated, rtol=0, atol=0 if is_exact else 1e-12)


# ---- paths


@pytest.mark.parametrize(
    "name", [name for name in CLASSES if CLASSES[name].evaluate_path is not Method.evaluate_path]
)
@pytest.mark.parametrize("rows", [3, 60])
def test_a_path_gives_what_fits_of_its_points_give(name, rows):
    """The default fits each point by itself."""
    X, y, X_test = blobs()
    X, y, grid = X[:rows], y[:rows], grid_of(name)
    path = list(new(name).evaluate_path(X, y, X_test, grid, np.random.default_rng(5)))
    assert [point for point, _ in path] == grid
    by_point = Method.evaluate_path(new(name), X, y, X_test, grid, np.random.default_rng(5))
    for (_, views), (_, expected) in zip(path, by_point, strict=True):
        assert isinstance(views, Views)
        assert views.fit_seconds >= 0 and views.predict_seconds >= 0
        assert_same_views(views, expected)
        assert views.fit_metrics == expected.fit_metrics


# ---- parameters


@every_method
def test_parameters_are_complete(name):
    cls = CLASSES[name]
    signature = inspect.signature(cls).parameters
    assert list(signature) == list(cls.parameters)
    for parameter, rule in cls.parameters.items():
        assert rule.about.strip() and rule.expected().strip()
        rule.check(parameter, signature[parameter].default)
