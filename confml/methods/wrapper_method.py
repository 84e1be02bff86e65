"""`WrapperMethod`: a method around a classifier, which a config names by a key of any method."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from confml.methods.base import Method
from confml.methods.conformal.wrapper_settings import constructor_parameters, parameter_name
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.docstrings import described_text
from confml.plugins.parameters import Parameter, check_parameters


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

    @classmethod
    def declared(cls) -> dict[str, Parameter]:
        """Return the declarations of the settings by their names in the constructor."""
        return {parameter_name(setting, cls.key): rule for setting, rule in cls.settings.items()}

    def check_settings(self) -> None:
        """Raise a `ParameterError` for a setting that is wrong alone."""
        rules = self.declared()
        check_parameters(type(self).__name__, rules, {name: getattr(self, name) for name in rules})

    def check_stored(self) -> None:
        """Raise ValueError for settings of a model file that are wrong."""
        self.check_settings()

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
        shifts = f"{cls.key}__shift" in cls.settings
        return {
            "name": cls.key,
            "summary": text.partition("\n")[0],
            "text": text,
            "source": "confml",
            "version": cls.version,
            "views": list(cls.views),
            "depends_on_processor": f"if the classifier does{', or with shift: covariate' if shifts else ''}",
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
