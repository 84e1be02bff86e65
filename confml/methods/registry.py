"""The methods that a config can name: confml's own, those of other packages, classifiers by dotted name."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sklearn

from confml.errors import ConfigError, family, nearest
from confml.methods import METHODS
from confml.methods.base import Method
from confml.methods.conformal.out_of_bag import OUT_OF_BAG, check_bags
from confml.methods.sklearn.estimators import new_classifier
from confml.methods.sklearn.names import describe_estimator, dotted_name, find_classifier
from confml.methods.sklearn.sklearn_method import SklearnMethod, classifier_views
from confml.methods.wrappers import WRAPPERS, check_settings, split_settings, wrapped
from confml.plugins.by import BEST_OF, named
from confml.plugins.imports import find_object, import_permission, package_version
from confml.plugins.registry import PluginRegistry, describe_class, required_parameters

methods = PluginRegistry[Method]("method", METHODS, Method, "confml.methods")


def known_methods() -> dict[str, type[Method]]:
    """Return every method by name, with those of other packages (entry point group ``confml.methods``).

    Methods of other packages that cannot be used are left out; ``methods.broken`` returns the reasons.
    """
    return methods.known()


def method_class(name: str) -> type[Method]:
    """Return the class of a method; ConfigError where it is unknown.

    A dotted name is of a subclass of `Method`, or of another classifier, which becomes a `SklearnMethod`.
    """
    if methods.is_dotted(name):
        methods.check_spelling(name)
        classifier = find_classifier(name)
        is_method = inspect.isclass(classifier) and issubclass(classifier, Method)
        return classifier if is_method else SklearnMethod
    if methods.has(name):  # names of all methods are only for messages: they import every module
        return methods.find(name)
    names = methods.names()
    if name not in names and (not name.islower() or nearest(name, names) is None) and not family(name, names):
        dotted = dotted_name(name)  # RandomForest, random-forest, svc
        if dotted:
            raise ConfigError(f"unknown method '{name}'", hint=f"did you mean '{dotted}'?")
    return methods.find(name)


def check(name: str, params: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError unless the method is known and can be built with exactly these parameters.

    A mistake in a parameter raises a `confml.plugins.parameters.ParameterError`. Every method also accepts
    the settings of wrappers: ``samples`` and ``samples__...``; ``conformal`` and ``conformal__...``, or
    ``venn`` and ``venn__...``.
    """
    settings, params = split_settings(params or {})
    cls = method_class(name)
    if cls is SklearnMethod:
        views = classifier_views(new_classifier(name, params))
    else:
        methods.check(name, params, cls)
        if methods.is_dotted(name):
            new_classifier(name, params)  # its constructor may raise an error
        views = views_of(cls)
        if settings and cls.takes_rows:
            _check_calibration_on_all(name, settings)
    if settings:
        check_settings(name, settings, views)
        conformal = settings.get("conformal", {})
        if conformal.get("conformal") == OUT_OF_BAG:
            inner = {"samples": settings["samples"]} if "samples" in settings else {}
            check_bags(name, wrapped(_new(name, params), inner))
        shared = {key: value for key, value in conformal.items() if not key.startswith(BEST_OF)}
        for candidate in conformal.get(BEST_OF) or ():
            method, candidate_params = named(candidate)
            if method_class(method).takes_rows:
                raise ConfigError(f"{method} is not fitted, so it cannot be in best-of", hint="remove it")
            check(method, candidate_params | shared)


def _check_calibration_on_all(name: str, settings: Mapping[str, dict[str, Any]]) -> None:
    """Raise ConfigError for settings that need features or a fit, which predictions of a file do not have."""
    if "samples" in settings:
        message = f"{name} is not fitted, so samples cannot draw from a posterior"
        raise ConfigError(message, hint="remove samples")
    for key, of_key in settings.items():
        if of_key.get(key) == "cross":
            hint = f"use {key}: {WRAPPERS[key].kind}"
            raise ConfigError(f"{name} is not fitted, so there are no folds", hint=hint)
        if of_key.get(BEST_OF):
            raise ConfigError(f"{name} is not fitted, so it has no best-of", hint="remove best-of")
        if f"{key}__calibration" in of_key:
            message = f"{name} is calibrated on the whole training part, because nothing is fitted"
            raise ConfigError(message, hint="remove calibration")


def build(name: str, params: Mapping[str, Any] | None = None) -> Method:
    """Return a new method that is not fitted. Raises the errors of `check`."""
    check(name, params)
    settings, params = split_settings(params or {})
    conformal = settings.get("conformal", {})
    if conformal.get(BEST_OF):
        conformal[BEST_OF] = [build(*named(candidate)) for candidate in conformal[BEST_OF]]
    return wrapped(_new(name, params), settings)


def _new(name: str, params: Mapping[str, Any]) -> Method:
    """Return a new method without wrappers."""
    cls = method_class(name)
    return SklearnMethod(new_classifier(name, params)) if cls is SklearnMethod else cls(**params)


def version_of(name: str, params: Mapping[str, Any] | None = None, values: Iterable[Any] = ()) -> int | str:
    """Return the version of a method, which changes whenever its results may change.

    For a dotted name it contains the versions of scikit-learn and of the packages of all classes that the
    parameters name; with ``samples``, ``conformal`` or ``venn`` in ``params`` also the versions of those.
    values: further values of parameters, such as those of a grid.
    """
    cls = method_class(name)
    settings, params = split_settings(params or {})
    packages: dict[str, str] = {}
    if methods.is_dotted(name):
        of_sklearn = {"scikit-learn": sklearn.__version__} if cls is SklearnMethod else {}
        packages = {**of_sklearn, **packages_of(name, [*params.values(), *values])}
    further = [f"{package} {version}" for package, version in packages.items()]
    further += [f"{key} {WRAPPERS[key].version}" for key in settings]
    candidates = settings.get("conformal", {}).get(BEST_OF) or ()
    further += [str(version_of(*named(candidate))) for candidate in candidates]
    return ", ".join([str(cls.version), *further]) if further else cls.version


def packages_of(name: str, values: Iterable[Any] = ()) -> dict[str, str]:
    """Return package -> version of the dotted names that need a permission, sorted; none for own methods.

    name: of a method or step. values: of its parameters. Raises ConfigError for a name that is not imported.
    """
    packages = {}
    for text in (name, *_texts(values)):
        if methods.is_dotted(text) and not text.startswith("sklearn") and import_permission().permits(text):
            find_object(text, "method")
            package, version = package_version(text)
            packages[package] = version
    return dict(sorted(packages.items()))


def _texts(values: Any) -> Iterator[str]:
    """Iterate over the texts among values, at any depth."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, list | tuple):
            yield from _texts(value)


def describe(name: str) -> dict[str, Any]:
    """Return the documentation of a method as plain data.

    Keys: name, summary (one line), text, source (``confml``, or another package with its version), version,
    views (with default parameters), parameters (each with name, about, expected and,
    where there is one, default). The names ``samples``, ``conformal`` and ``venn`` describe the settings that
    every method accepts.
    """
    if name in WRAPPERS:
        return WRAPPERS[name].description()
    cls = method_class(name)
    if cls is not SklearnMethod:
        source = source_of(name) if methods.is_dotted(name) else methods.source(name)
        return describe_class(name, cls, source) | {"views": views_of(cls)}
    classifier = find_classifier(name)
    needs = inspect.isclass(classifier) and required_parameters(classifier)
    return describe_estimator(name, classifier) | {
        "source": source_of(name),
        "version": version_of(name),
        "views": [] if needs else classifier_views(new_classifier(name, {})),
    }


def source_of(name: str) -> str:
    """Return the package of a dotted name with its version, such as ``scikit-learn 1.7.2``."""
    packages = packages_of(name) or {"scikit-learn": sklearn.__version__}
    return ", ".join(f"{package} {version}" for package, version in packages.items())


def views_of(cls: type[Method]) -> list[str]:
    """Return the views of a class: its ``views``, or else those that its functions imply."""
    if cls.views:
        return list(cls.views)
    implied = {"predict_p_values": "p-value", "predict_proba": "probability", "decision_function": "margin"}
    return [view for function, view in implied.items() if hasattr(cls, function)]
