"""Entries of the list of methods."""

from config.cases import base

from confml.config import restore_config


def test_parameters_whose_names_clash_with_keys(tmp_path):
    entry = {"name": "of-another-package", "params": {"label": 3, "tune": 1}, "k": 2}
    (method,) = restore_config(base(methods=[entry])).methods
    assert method.params == {"label": 3, "tune": 1, "k": 2} and method.label is None and method.tune == {}
    assert restore_config(base(methods=[method.as_dict()])).methods == (method,)
