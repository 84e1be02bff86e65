"""Parameters of scikit-learn with which a config could execute files, evaluate texts or start processes.

A config can come from another person, so it may set these parameters to harmless values only. Estimators that
are made in Python are not checked.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from confml.plugins.parameters import BadValue


class _Rule(NamedTuple):
    """Harmless values of a parameter: the test, its words after "must be", and the reason."""

    accepts: Callable[[Any], bool]
    expected: str
    reason: str


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, str) or bool(re.fullmatch(pattern, value))


RULES = {
    "memory": _Rule(lambda value: value is None, "null", "a cache executes the files of its folder"),
    "n_jobs": _Rule(
        lambda value: value is None or (value == 1 and value is not True),
        "null or 1",
        "--jobs sets the number of tasks at the same time",
    ),
    "pre_dispatch": _Rule(
        _matches(r"all|([1-9]\d?\s*\*\s*)?n_jobs"), "a number, all or 2*n_jobs", "it is evaluated"
    ),
    "importance_getter": _Rule(
        _matches(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*"), "auto or the name of an attribute", "it is evaluated"
    ),
    "verbose_feature_names_out": _Rule(
        lambda value: not isinstance(value, str), "true or false", "a text is evaluated as a format"
    ),
}


def check_side_effects(estimator: Any, name: str, value: Any) -> None:
    """Raise `BadValue` for a parameter, or for a name in a grid of parameters, whose value is not harmless.

    estimator: the class or estimator that has the parameter. ``memory`` is checked for every package, because
    classes derived from scikit-learn's inherit it; the others for scikit-learn only.
    """
    cls = estimator if isinstance(estimator, type) else type(estimator)
    last = name.rpartition("__")[2].rpartition(".")[2]
    if last in RULES and (last == "memory" or cls.__module__.startswith("sklearn.")):
        for one in value if isinstance(value, list | tuple) else [value]:
            if not RULES[last].accepts(one):
                raise BadValue(cls.__name__, name, one, RULES[last].expected, hint=RULES[last].reason)
    for part in value if isinstance(value, list | tuple) else [value]:
        if isinstance(part, Mapping):
            for key, inner in part.items():
                check_side_effects(cls, f"{name}.{key}", inner)
