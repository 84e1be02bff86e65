"""Wrappers of any method: settings in a config that make it conformal or a Venn-Abers predictor.

Every method accepts the key of one wrapper, and settings with this key as a prefix: ``conformal: split``,
``conformal__nonconformity``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from confml.errors import ConfigError
from confml.methods.base import Method
from confml.methods.conformal import Conformal
from confml.methods.conformal import settings as conformal_settings
from confml.methods.conformal.calibrated import CalibratedMethod
from confml.methods.venn_abers import VennAbers
from confml.methods.venn_abers import settings as venn_settings
from confml.plugins.parameters import Parameter


class Wrapper(NamedTuple):
    """A class around a method. check: raises ConfigError for settings."""

    cls: type[CalibratedMethod]
    check: Callable[[str, Mapping[str, Any], Sequence[str]], None]


WRAPPERS: Mapping[str, Wrapper] = {
    conformal_settings.KEY: Wrapper(Conformal, conformal_settings.check_settings),
    venn_settings.KEY: Wrapper(VennAbers, venn_settings.check_settings),
}
"""Every wrapper by its key in a config."""


def wrapper_classes() -> dict[str, type[CalibratedMethod]]:
    """Return the class of every wrapper by its key."""
    return {key: wrapper.cls for key, wrapper in WRAPPERS.items()}


def wrapper_parameters() -> dict[str, Parameter]:
    """Return the parameters that every method accepts: ``conformal``, ``conformal__folds``, ``venn``, ..."""
    return {name: rule for wrapper in WRAPPERS.values() for name, rule in wrapper.cls.settings.items()}


def wrapper_of(params: Mapping[str, Any]) -> str | None:
    """Return the key of the wrapper that a method's parameters have settings of, or None."""
    keys = (name.partition("__")[0] for name in params)
    return next((key for key in keys if key in WRAPPERS), None)


def split_settings(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of wrappers among a method's parameters, and the other parameters."""
    ours = {name: value for name, value in params.items() if name.partition("__")[0] in WRAPPERS}
    return ours, {name: value for name, value in params.items() if name not in ours}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method with these views cannot have, alone or together."""
    keys = {setting.partition("__")[0] for setting in settings}
    if len(keys) > 1:
        hint = "list the method twice, with one of them each"
        raise ConfigError(f"{name} has the settings of {' and '.join(sorted(keys))}", hint=hint)
    WRAPPERS[keys.pop()].check(name, settings, views)


def wrapped(method: Method, settings: Mapping[str, Any]) -> CalibratedMethod:
    """Return a method in the wrapper of these settings, which are checked already."""
    (key,) = {setting.partition("__")[0] for setting in settings}
    return WRAPPERS[key].cls.around(method, settings)
