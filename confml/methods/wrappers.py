"""Wrappers of any method: settings in a config that draw from its posterior, or calibrate it.

Every method accepts the key ``samples``, the key of one wrapper with a calibration part (``conformal`` or
``venn``), and settings with these keys as prefixes: ``conformal: split``, ``conformal__nonconformity``. With
both, the draws are calibrated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from confml.errors import ConfigError
from confml.methods.base import Method
from confml.methods.conformal.conformal import Conformal
from confml.methods.samples.samples import Samples
from confml.methods.venn_abers.venn_abers import VennAbers
from confml.methods.wrapper_method import WrapperMethod

WRAPPERS: Mapping[str, type[WrapperMethod]] = {cls.key: cls for cls in (Samples, Conformal, VennAbers)}
"""The class of every wrapper by its key in a config, the innermost first."""


def split_settings(params: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the settings of each wrapper among parameters, the innermost first, and the other parameters."""
    settings: dict[str, dict[str, Any]] = {key: {} for key in WRAPPERS}
    method_params: dict[str, Any] = {}
    for name, value in params.items():
        key = name.partition("__")[0]
        # A number of samples is a parameter of the method, such as that of bayes-knn.
        is_setting = key in WRAPPERS and (name != Samples.key or isinstance(value, str))
        (settings[key] if is_setting else method_params)[name] = value
    return {key: of_key for key, of_key in settings.items() if of_key}, method_params


def wrapper_of(params: Mapping[str, Any]) -> str | None:
    """Return the key of the wrapper with a calibration part that parameters have settings of, or None."""
    return next((key for key in split_settings(params)[0] if key != Samples.key), None)


def check_settings(name: str, settings: Mapping[str, dict[str, Any]], views: Sequence[str]) -> None:
    """Raise ConfigError for settings that a method with these views cannot have, alone or together."""
    calibrating = [key for key in settings if key != Samples.key]
    if len(calibrating) > 1:
        hint = "list the method twice, with one of them each"
        raise ConfigError(f"{name} has the settings of {' and '.join(sorted(calibrating))}", hint=hint)
    for key, of_key in settings.items():
        WRAPPERS[key].check_config(name, of_key, views)
        views = WRAPPERS[key].views


def wrapped(method: Method, settings: Mapping[str, dict[str, Any]]) -> Method:
    """Return a method in the wrappers of these settings, which are checked already."""
    for key, of_key in settings.items():
        method = WRAPPERS[key].around(method, of_key)
    return method
