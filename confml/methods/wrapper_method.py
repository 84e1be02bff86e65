"""`WrapperMethod`: a method around a classifier, which a config names by a key, and its settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from confml.errors import ConfigError
from confml.methods.base import Method
from confml.methods.sklearn.sklearn_method import SklearnMethod
from confml.plugins.docstrings import add_sections
from confml.plugins.parameters import (
    Integer,
    MissingParameter,
    Number,
    Parameter,
    check_parameters,
)
from confml.plugins.registry import default_parameters, describe_class

_ESTIMATOR = """\
estimator : classifier
    Classifier of scikit-learn or confml, whose clones are fitted; it gets data frames as they are. All
    examples calibrate a fitted one, ``FrozenEstimator(classifier)``."""
OF_A_GRID = ("tune", "inner")  # keys of a run that a point of a grid has, with the prefix of the wrapper


@dataclass(frozen=True)
class RunSettings:
    """Parts of a run that a wrapper uses in its own training parts.

    tune: grid of classifier parameters, from which inner cross-validation on the proper training part chooses
    a point (not with ``cross``). inner: its folds, as ``{"folds": 10, "stratify": True, "select_by":
    "accuracy"}``. steps: the steps before the classifier, fitted to each proper training part: a step that
    saw the calibration examples could make them look more ordinary than test examples. Its ``learn(X, y,
    *part, groups)`` returns (chain, X, y, kept rows). groups: (m,) groups of the training examples.
    by_columns: (name, texts) of the last columns of X, which hold the columns of ``by`` and are not features.
    decides: whether a conformal method also stores the probabilities of its classifier, for decisions.
    """

    tune: Sequence[Mapping[str, Any]] = ()
    inner: Mapping[str, Any] | None = None
    steps: Any = None
    groups: Any = None
    by_columns: Sequence[tuple[Any, Sequence[str] | None]] | None = None
    decides: bool = False


class WrapperMethod(Method):
    """A method around a classifier, the constructor parameter ``estimator``.

    key: name of the parameter ``kind`` in a config; the other settings have the prefix ``<key>__``. needs:
    for a setting, another setting and the values of it that the first needs. settings: declarations of the
    parameters by their names in a config. run: set by `in_run`, and kept by copies.
    """

    key: ClassVar[str]
    needs: ClassVar[Mapping[str, tuple[str, Sequence[Any]]]] = {}
    settings: ClassVar[Mapping[str, Parameter]]
    estimator: Any
    kind: str
    run = RunSettings()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "key" in vars(cls):
            rules = cls.parameters.items()
            cls.settings = {cls.key if name == "kind" else f"{cls.key}__{name}": rule for name, rule in rules}

    @classmethod
    def _document(cls) -> None:
        if "key" in vars(cls):
            add_sections(cls, cls.parameters, _ESTIMATOR)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            of_estimator = self.estimator.__sklearn_tags__().classifier_tags
            if of_estimator is not None:
                tags.classifier_tags.multi_class = of_estimator.multi_class
        return tags

    def __sklearn_clone__(self) -> Self:
        copy = super().__sklearn_clone__()
        return copy.in_run(**vars(self.run)) if "run" in vars(self) else copy

    def in_run(self, **settings: Any) -> Self:
        """Set fields of `RunSettings`; a run does so before it calls `fit`."""
        self.run = replace(self.run, **settings)
        return self

    @classmethod
    def check_config(cls, name: str, settings: Mapping[str, Any], views: Sequence[str]) -> None:
        """Raise ConfigError for settings that a method ``name`` with these views cannot have."""
        of_grid = [f"{cls.key}__{setting}" for setting in OF_A_GRID]
        given = {setting: value for setting, value in settings.items() if setting not in of_grid}
        check_parameters(name, cls.settings, given)
        if cls.key not in settings:
            raise MissingParameter(min(settings), cls.key, hint=f"add {cls.key}: {cls.kind}")
        cls.check_together(constructor_parameters(given, cls.key))
        cls.check_classifier(name, constructor_parameters(given, cls.key), views)

    @classmethod
    def check_together(cls, given: Mapping[str, Any]) -> None:
        """Refuse settings that cannot be combined.

        Parameters
        ----------
        given : mapping
            Settings by their names in the constructor.

        Raises
        ------
        ConfigError
            If they cannot be combined.
        """
        for name, (needed, values) in cls.needs.items():
            if given.get(name) is not None and given.get(needed) not in values:
                raise ConfigError(f"{name} needs {needed}: {' or '.join(values)}")

    @classmethod
    def check_classifier(cls, name: str, given: Mapping[str, Any], views: Sequence[str]) -> None:
        """Refuse settings that a method does not allow.

        Parameters
        ----------
        name : str
            Name of the method.
        given : mapping
            Settings by their names in the constructor.
        views : sequence of str
            Views of the method.

        Raises
        ------
        ConfigError
            If the method does not allow them.
        """

    def check_settings(self) -> None:
        """Raise ConfigError for settings that are wrong, alone or together."""
        settings = {name: getattr(self, name) for name in self.parameters}
        check_parameters(type(self).__name__, self.parameters, settings)
        defaults = default_parameters(type(self)) | {"kind": None}
        part = part_parameters("")  # in Python, those of another kind have no effect
        changed = {name: value for name, value in settings.items() if value != defaults[name]}
        self.check_together({name: value for name, value in changed.items() if name not in part})

    @classmethod
    def description(cls) -> dict[str, Any]:
        """Return the description of the wrapper as plain data, with the keys that it can have in a config."""
        described = describe_class(cls.key, cls, "confml")
        # Without random_state: a run has its seed.
        named = [entry for entry in described["parameters"] if entry["name"] != "random_state"]
        return described | {"views": list(cls.views), "parameters": named}

    @classmethod
    def around(cls, method: Method, settings: Mapping[str, Any]) -> Self:
        """Return the wrapper of a method with settings named as in a config, which are checked already."""
        return WrapperMethod.set_point(cls(method), settings)

    def set_point(self, point: Mapping[str, Any]) -> Self:
        """Set parameters with their names in a config: ``k`` is the classifier's, ``<key>__k`` is not."""
        named = constructor_parameters(point, self.key)
        self.in_run(**{name: named.pop(name) for name in OF_A_GRID if name in named})
        return self.set_params(**named)

    def classifier(self) -> Method:
        """Return the classifier as a confml method, not a copy."""
        return as_method(self.estimator)


def as_method(estimator: Any) -> Method:
    """Return a classifier as a confml method, not a copy."""
    return estimator if isinstance(estimator, Method) else SklearnMethod(estimator)


def part_parameters(kind: str) -> dict[str, Parameter]:
    """Return the parameters of the calibration part, which ``kind`` has, and of the folds of ``cross``."""
    about = f"fraction of the training examples in the calibration part of {kind}"
    share = Number(about, low=0, high=1, low_open=True, high_open=True)
    return {"calibration": share, "folds": Integer("number of folds of cross", low=2)}


def constructor_parameters(params: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return parameters named as in a config with their names in the wrapper; others are the classifier's."""
    named = {}
    for name, value in params.items():
        prefix, _, setting = name.partition("__")
        named[(setting or "kind") if prefix == key else f"estimator__{name}"] = value
    return named
