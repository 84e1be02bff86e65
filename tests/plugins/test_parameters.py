"""Declarations of parameters and their exceptions: types, attributes, messages, pickling."""

import math
import pickle

import pytest

from confml.errors import ConfigError, ConfigErrors, ConfmlError
from confml.methods import registry
from confml.plugins.parameters import (
    AnyOf,
    BadValue,
    Choice,
    Flag,
    IncompatibleParameters,
    Integer,
    MissingParameter,
    Nothing,
    Number,
    ParameterError,
    UnknownParameter,
)
from confml.steps.registry import check_step

SVC = "sklearn.svm.SVC"
ONE_VS_REST = "sklearn.multiclass.OneVsRestClassifier"
BAGGING = "sklearn.ensemble.BaggingClassifier"
BILLIARD = "bayes-transduction"
KNN_AT_NODES = {"estimator": "knn", "estimator_params": {"kk": 1}}


@pytest.mark.parametrize(
    ("rule", "good", "bad", "expected"),
    [
        (Integer("", low=1), [1, 3], [0, 1.0, True, "1", None], "a whole number at least 1"),
        (Number("", low=0, low_open=True), [1], [0, math.nan, math.inf, 10**400, True], "a number above 0"),
        (Number("", low=0, high=1, high_open=True), [0, 0.9], [1, 1.5], "a number at least 0 and below 1"),
        (Choice("", options=("a", 1)), ["a", 1], ["b", True, 1.0], "one of a, 1"),
        (Flag(""), [True, False], [1, 0, "true", None], "true or false"),
        (AnyOf("", of=(Integer(""), Nothing(""))), [3, None], ["x", 2.5], "a whole number, or null"),
    ],
)
def test_declaration(rule, good, bad, expected):
    assert rule.expected() == expected
    for value in good:
        assert rule.check("p", value) is value
    for value in bad:
        with pytest.raises(BadValue) as caught:
            rule.check("p", value, "method 'm'")
        assert (caught.value.value, caught.value.expected) == (value, expected)
        assert caught.value.message == f"p must be {expected}, got {value!r}"


@pytest.mark.parametrize(
    ("name", "params", "kind", "owner", "parameter"),
    [
        ("knn", {"kk": 1}, UnknownParameter, "method 'knn'", "kk"),
        ("knn", {"k": 0}, BadValue, "method 'knn'", "k"),
        ("knn", {"conformal__folds": 3}, MissingParameter, "conformal__folds", "conformal"),
        (SVC, {"C": -1}, BadValue, "SVC", "C"),
        (ONE_VS_REST, {}, MissingParameter, "OneVsRestClassifier", "estimator"),
        (BAGGING, {"estimator": SVC, "estimator__C": -1}, BadValue, "SVC", "estimator__C"),
        ("smart-svm", KNN_AT_NODES, UnknownParameter, "method 'knn'", "estimator_params.kk"),
        (BILLIARD, {"epsilon": 0.1}, IncompatibleParameters, "method 'bayes-transduction'", "epsilon"),
        ("tomek-links", {"repeat": 3}, BadValue, "step 'tomek-links'", "repeat"),
        ("standardise", {"shift": 1}, UnknownParameter, "step 'standardise'", "shift"),
    ],
)
def test_every_check_raises_typed_errors(name, params, kind, owner, parameter):
    check = check_step if owner.startswith("step") else registry.check
    with pytest.raises(ParameterError) as caught:
        check(name, params)
    assert type(caught.value) is kind
    assert (caught.value.owner, caught.value.parameter) == (owner, parameter)


@pytest.mark.parametrize(
    "error",
    [
        ConfmlError("m", where="f:1", hint="h"),
        BadValue("knn", "k", 0, "positive", hint="h").inside("estimator_params"),
        UnknownParameter("knn", "kk"),
        MissingParameter("knn", "k", expected="a number"),
        IncompatibleParameters("m", owner="knn", parameter="k", value=3),
        ConfigErrors([ConfigError("a"), ConfigError("b", where="x")]),
    ],
)
def test_errors_of_worker_processes_arrive_as_they_were(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
    assert repr(vars(again)) == repr(vars(error))
