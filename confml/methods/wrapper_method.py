"""`WrapperMethod`: a method around a classifier, which a config names by a key, and its settings.

key: name of the kind in a config, such as ``conformal``; other settings have the prefix ``<key>__``.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from confml.errors import ConfigError
from confml.methods.base import Method
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.docstrings import described_text
from confml.plugins.parameters import (
    Integer,
    MissingParameter,
    Number,
    Parameter,
    check_parameters,
    or_null,
)


class WrapperMethod(Method):
    """A method around a classifier, the constructor parameter ``estimator``.

    key: name of the parameter ``kind`` in a config; other settings have the prefix ``<key>__``. settings:
    declarations of the settings by their names in a config.
    """

    key: ClassVar[str]
    settings: ClassVar[Mapping[str, Parameter]]
    estimator: Any

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            of_estimator = self.estimator.__sklearn_tags__().classifier_tags
            if of_estimator is not None:
                tags.classifier_tags.multi_class = of_estimator.multi_class
        return tags

    @staticmethod
    def check_config(name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
        """Raise ConfigError for settings that a method ``name`` with these views cannot have."""

    @classmethod
    def declared(cls) -> dict[str, Parameter]:
        """Return the declarations of the settings by their names in the constructor."""
        return {parameter_name(setting, cls.key): rule for setting, rule in cls.settings.items()}

    def check_settings(self) -> None:
        """Raise a `ParameterError` for a setting that is wrong alone."""
        rules = self.declared()
        check_parameters(type(self).__name__, rules, {name: getattr(self, name) for name in rules})

    @classmethod
    def description(cls) -> dict[str, Any]:
        """Return the description of the wrapper as plain data, with the keys that it can have in a config."""
        signature = inspect.signature(cls).parameters
        text = described_text(cls)
        names = {setting: parameter_name(setting, cls.key) for setting in cls.settings}
        parameters = [
            {"name": names[setting], "about": rule.about}
            | {"expected": rule.expected(), "default": signature[names[setting]].default}
            for setting, rule in cls.settings.items()
            if names[setting] != "random_state"  # a run has its seed
        ]
        return {
            "name": cls.key,
            "summary": text.partition("\n")[0],
            "text": text,
            "source": "confml",
            "version": cls.version,
            "views": list(cls.views),
            "parameters": parameters,
        }

    @classmethod
    def around(cls, method: Method, settings: Mapping[str, Any]) -> Self:
        """Return the wrapper of a method with settings named as in a config, which are checked already."""
        return cls(method, **constructor_parameters(settings, cls.key))

    def set_point(self, point: Mapping[str, Any]) -> Self:
        """Set parameters with their names in a config: ``k`` is the classifier's, ``<key>__k`` is not."""
        return self.set_params(**constructor_parameters(point, self.key))

    def classifier(self) -> Method:
        """Return the classifier as a confml method, not a copy."""
        return self.estimator if isinstance(self.estimator, Method) else SklearnMethod(self.estimator)


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
