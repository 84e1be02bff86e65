"""Steps by name, with their parameters."""

from __future__ import annotations

import pytest

from confml.errors import ConfigError
from confml.steps.registry import (
    build_step,
    check_step,
    known_steps,
)

NAMES = sorted(known_steps())


def test_the_known_steps():
    assert {"row-standardise", "standardise", "min-max", "impute-mean"} <= set(NAMES)
    assert NAMES == list(known_steps())


def test_an_unknown_step_names_the_nearest():
    with pytest.raises(ConfigError, match="unknown step 'standardize'; did you mean 'standardise'"):
        check_step("standardize")


def test_a_parameter_that_a_step_does_not_have():
    with pytest.raises(ConfigError, match="step 'min-max' has no parameter 'low'; it has none"):
        build_step("min-max", {"low": 0})
