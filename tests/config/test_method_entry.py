"""Entries of the list of methods."""

from config.cases import base

from confml.config import make_config, restore_config


def test_parameters_whose_names_clash_with_keys(tmp_path):
    entry = {"name": "of-another-package", "params": {"label": 3, "tune": 1}, "k": 2}
    (method,) = restore_config(base(methods=[entry])).methods
    assert method.params == {"label": 3, "tune": 1, "k": 2} and method.label is None and method.tune == {}
    assert restore_config(base(methods=[method.as_dict()])).methods == (method,)


def test_regions_of_best_of_are_small_at_the_first_level():
    settings = {"best-of": ["knn"], "folds": None}
    entry = {"name": "naive-bayes", "conformal": settings}
    (method,) = make_config(base(methods=[entry], levels=[0.2, 0.1])).methods
    assert list(method.given.items()) == [
        ("conformal", "split"),
        ("conformal__best_of", ["knn"]),
        ("conformal__best_of_level", 0.2),
    ]
