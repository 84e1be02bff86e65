"""Methods of a config and their parameters."""

import pytest
from config.cases import base, messages, write

from confml.config import load_config, make_config
from confml.methods import registry
from confml.methods.base import Method
from confml.plugins.parameters import IncompatibleParameters, Integer
from confml.yaml import got


@pytest.mark.parametrize("words", ["needs a parameter", "x has no parameter 'y'", "requires the parameter k"])
def test_words_of_a_value_do_not_change_its_error(words):
    assert messages(make_config, base(methods=[{"name": "knn", "k": words}])) == [
        f"config: methods.0.k: expected a whole number at least 1, got {got(words)}"
    ]


class Refusing(Method):
    """A method that needs ``k`` wherever ``other`` is given, and says so in words of its own."""

    name = "refusing"
    views = ("margin",)
    parameters = {"k": Integer("a number"), "other": Integer("another number")}  # noqa: RUF012

    def __init__(self, k=0, other=0):
        self.k, self.other = k, other

    def fit(self, X, y):
        return self

    def confident_predict(self, X, rng=None):
        return {}

    @classmethod
    def check_combination(cls, params):
        if "other" in params and "k" not in params:
            message = "other requires the parameter k"
            raise IncompatibleParameters(message, owner=cls.name, parameter="other", value=params["other"])


def test_a_parameter_that_requires_another_is_checked_with_it(monkeypatch):
    monkeypatch.setitem(registry.methods.locations, "refusing", f"{__name__}:Refusing")
    assert make_config(base(methods=[{"name": "refusing", "other": 1, "k": 2}]))
    assert make_config(base(methods=[{"name": "refusing", "other": 1, "sweep": {"k": [1, 2]}}]))
    assert messages(make_config, base(methods=[{"name": "refusing", "other": 1}])) == [
        "config: methods.0.other: other requires the parameter k"
    ]


def test_parameters_of_a_nested_method_are_checked_at_their_place(tmp_path):
    text = "datasets: [wine]\nprotocol: holdout\nmethods:\n"
    text += "  - {name: smart-svm, estimator: knn, estimator-params: {k: 0}}\n"
    text += "  - {name: smart-svm, estimator: knn, estimator-params: {kk: 1}}\n"
    text += "  - {name: bayes-transduction, epsilon: 0.1}\n"
    path = write(tmp_path, text)
    assert messages(load_config, path) == [
        f"{path}:4:61: methods.0.estimator_params.k: expected a whole number at least 1, got 0",
        f"{path}:5:58: method 'knn' has no parameter 'kk'; did you mean 'k'?",
        f"{path}:6:41: methods.2.epsilon: epsilon needs stopping: hoeffding",
    ]


def test_scikit_learn_parameters_are_checked(tmp_path):
    text = "datasets: [wine]\nprotocol: holdout\nmethods:\n"
    path = write(tmp_path, text + "  - {name: sklearn.svm.SVC, C: -1, tune: {gama: [1]}}\n")
    range_of_C, unknown = messages(load_config, path)
    assert range_of_C.startswith(f"{path}:4:32: methods.0.C: expected ")
    assert unknown == f"{path}:4:43: SVC has no parameter 'gama'; did you mean 'gamma'?"
