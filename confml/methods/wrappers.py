"""Wrappers of any method: settings in a config that draw from its posterior, or calibrate it.

Every method accepts the key ``samples``, the key of one wrapper with a calibration part (``conformal`` or
``venn``), and settings with these keys as prefixes: ``conformal: split``, ``conformal__nonconformity``. With
both, the draws are calibrated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.methods.base import Method
from confml.methods.conformal import Conformal
from confml.methods.samples import Samples
from confml.methods.venn_abers import VennAbers
from confml.methods.wrapper_method import WrapperMethod
from confml.plugins.parameters import Parameter

WRAPPERS: Mapping[str, type[WrapperMethod]] = {cls.key: cls for cls in (Samples, Conformal, VennAbers)}
"""The class of every wrapper by its key in a config, the innermost first."""


def wrapper_parameters() -> dict[str, Parameter]:
    """Return the parameters that every method accepts: ``conformal``, ``conformal__folds``, ``venn``, ..."""
    return {name: rule for cls in WRAPPERS.values() for name, rule in cls.settings.items()}


def wrapper_of(params: Mapping[str, Any]) -> str | None:
    """Return the key of the wrapper with a calibration part that parameters have settings of, or None."""
    return next((key for key in _by_key(split_settings(params)[0]) if key != Samples.key), None)


def split_settings(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of wrappers among a method's parameters, and the other parameters."""
    ours = {name: value for name, value in params.items() if _is_setting(name, value)}
    return ours, {name: value for name, value in params.items() if name not in ours}


def _is_setting(name: str, value: Any) -> bool:
    # A number of samples is a parameter of the method, such as that of bayes-knn.
    own = name == Samples.key and not isinstance(value, str)
    return name.partition("__")[0] in WRAPPERS and not own


def _by_key(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings of each wrapper, the innermost first."""
    found = {key: {n: v for n, v in settings.items() if n.partition("__")[0] == key} for key in WRAPPERS}
    return {key: of_key for key, of_key in found.items() if of_key}


def check_settings(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method with these views cannot have, alone or together."""
    by_key = _by_key(settings)
    calibrating = [key for key in by_key if key != Samples.key]
    if len(calibrating) > 1:
        hint = "list the method twice, with one of them each"
        raise ConfigError(f"{name} has the settings of {' and '.join(sorted(calibrating))}", hint=hint)
    for key, of_key in by_key.items():
        WRAPPERS[key].check_config(name, of_key, views)
        views = WRAPPERS[key].views


def wrapped(method: Method, settings: Mapping[str, Any]) -> Method:
    """Return a method in the wrappers of these settings, which are checked already."""
    for key, of_key in _by_key(settings).items():
        method = WRAPPERS[key].around(method, of_key)
    return method


def wrapper_versions(params: Mapping[str, Any]) -> list[str]:
    """Return key and version of each wrapper that parameters have settings of."""
    return [f"{key} {WRAPPERS[key].version}" for key in _by_key(split_settings(params)[0])]
