"""Hints for names of methods that are not known."""

import pytest

from confml.errors import ConfigError
from confml.methods.registry import methods


def test_every_method_with_the_word_is_named():
    with pytest.raises(ConfigError) as raised:
        methods.find("svm")
    for name in ("ovo-svm", "ovr-svm", "dag-svm", "kernel-svm", "tcm-svm"):
        assert name in raised.value.hint
    with pytest.raises(ConfigError) as raised:
        methods.find("tcm-n")
    assert raised.value.hint == "did you mean 'tcm-nn'?"
