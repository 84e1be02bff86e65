"""Settings that every `CalibratedMethod` has in a config, their names, and the checks that they share.

key: name of the kind in a config, ``conformal`` or ``venn``; other settings have the prefix ``<key>__``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.plugins.parameters import (
    Integer,
    MissingParameter,
    Number,
    Parameter,
    check_parameters,
    or_null,
)


def part_parameters(key: str, kind: str) -> dict[str, Parameter]:
    """Return the settings of the calibration part, which ``kind`` has, and of the folds of ``cross``."""
    about = f"fraction of the training examples in the calibration part of {kind}"
    return {
        f"{key}__calibration": Number(about, low=0, high=1, low_open=True, high_open=True),
        f"{key}__folds": Integer("number of folds of cross", low=2),
    }


def seed_parameter(key: str) -> dict[str, Parameter]:
    """Return the setting of the random seed."""
    seed = or_null("random seed if no generator is given", Integer("a seed", low=0))
    return {f"{key}__random_state": seed}


def parameter_name(setting: str, key: str) -> str:
    """Return the constructor's name of a setting: ``kind`` of ``conformal``, ``k`` of ``conformal__k``."""
    return "kind" if setting == key else setting.removeprefix(f"{key}__")


def constructor_parameters(params: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return parameters named as in a config with their names in the wrapper; others are the classifier's."""
    return {
        parameter_name(name, key) if name.partition("__")[0] == key else f"estimator__{name}": value
        for name, value in params.items()
    }


def check_given(
    name: str, key: str, kind: str, parameters: Mapping[str, Parameter], settings: Mapping[str, Any]
) -> None:
    """Raise ConfigError for settings of the method ``name`` that are wrong alone; kind: one to suggest."""
    set_by_a_run = (f"{key}__tune", f"{key}__inner")
    check_parameters(name, parameters, {one: settings[one] for one in settings if one not in set_by_a_run})
    if key not in settings:
        raise MissingParameter(min(settings), key, hint=f"add {key}: {kind}")


def check_needed(settings: Mapping[str, Any], only_for: Mapping[str, tuple[str, Sequence[str]]]) -> None:
    """Raise ConfigError for a setting that has no effect.

    only_for: by setting, another setting and the values of it with which the first has an effect.
    """
    for setting, (other, wanted) in only_for.items():
        if settings.get(setting) is not None and settings.get(other) not in wanted:
            raise ConfigError(f"{setting} needs {other}: {' or '.join(wanted)}")
