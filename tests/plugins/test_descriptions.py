"""The descriptions of methods and steps are for users: no names of confml's code."""

import re

import pytest

from confml.methods.registry import describe, known_methods
from confml.steps.registry import describe_step, known_steps

DESCRIBED = [(describe, name) for name in known_methods()] + [(describe_step, name) for name in known_steps()]


@pytest.mark.parametrize(
    ("explain", "name"), DESCRIBED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_internal_names(explain, name):
    entry = explain(name)
    texts = [entry["text"], *(parameter["about"] for parameter in entry["parameters"])]
    for text in texts:
        # Constants, private names and classes in backticks; `knn` and ``k`` are names of configs.
        assert not re.findall(r"`[A-Z_]{4,}`|`\.?_\w+`|`[A-Z]\w+\.\w+`", text), text
    assert all(parameter["expected"] for parameter in entry["parameters"])
