"""The methods that a config can name: confml's own, those of other packages, scikit-learn's classifiers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import sklearn

from confml.errors import ConfigError, ConfmlError
from confml.methods.base import Method
from confml.methods.sklearn.names import describe_parameters, dotted_name, find_classifier, plain
from confml.methods.sklearn.sklearn_method import SklearnMethod, new_classifier, view_of
from confml.methods.wrappers import (
    WRAPPERS,
    check_settings,
    split_settings,
    wrapped,
    wrapper_of,
)
from confml.plugins.registry import PluginRegistry, required_parameters

methods = PluginRegistry[Method]("method", "confml.methods", Method, "confml.methods")


def known_methods() -> dict[str, type[Method]]:
    """Return every method by name, with those of other packages (entry point group ``confml.methods``).

    Methods of other packages that cannot be used are left out; `broken_methods` returns the reasons.
    """
    return methods.known()


def broken_methods() -> dict[str, ConfmlError]:
    """Return the methods of other packages that cannot be used, with the reason for each."""
    return methods.broken()


def method_class(name: str) -> type[Method]:
    """Return the class of a method, `SklearnMethod` for a dotted name; ConfigError where it is unknown."""
    if _is_dotted(name):
        find_classifier(name)
        return SklearnMethod
    if name not in methods.names() and name.isidentifier() and not name.islower():
        # A class name, most likely one of scikit-learn's, without its module.
        found = dotted_name(name)
        if found:
            raise ConfigError(f"unknown method '{name}'", hint=f"did you mean '{found}'?")
    return methods.find(name)


def check(name: str, params: Mapping[str, Any] | None = None) -> None:
    """Raise ConfigError unless the method is known and can be built with exactly these parameters.

    A mistake in a parameter raises a `confml.plugins.parameters.ParameterError`. Every method also accepts
    the settings of one wrapper: ``conformal`` and ``conformal__...``, or ``venn`` and ``venn__...``.
    """
    settings, params = split_settings(params or {})
    if method_class(name) is SklearnMethod:
        views = [view_of(new_classifier(name, params))]
    else:
        methods.check(name, params)
        views = views_of(method_class(name))
    if settings:
        check_settings(name, settings, views)


def build(name: str, params: Mapping[str, Any] | None = None) -> Method:
    """Return a new method that is not fitted. Raises the errors of `check`."""
    check(name, params)
    settings, params = split_settings(params or {})
    if method_class(name) is SklearnMethod:
        method = SklearnMethod(new_classifier(name, params))
    else:
        method = method_class(name)(**params)
    return wrapped(method, settings) if settings else method


def version_of(name: str, params: Mapping[str, Any] | None = None) -> int | str:
    """Return the version of a method, which changes whenever its results may change.

    For scikit-learn's classifiers it contains the version of scikit-learn; with ``conformal`` or ``venn`` in
    ``params`` it also contains the version of that.
    """
    cls = method_class(name)
    version = f"{cls.version}, scikit-learn {sklearn.__version__}" if cls is SklearnMethod else cls.version
    key = wrapper_of(params or {})
    return f"{version}, {key} {WRAPPERS[key].cls.version}" if key else version


def describe(name: str) -> dict[str, Any]:
    """Return the documentation of a method as plain data.

    Keys: name, summary (one line), text, source (``confml``, or another package with its version), version,
    views (with default parameters), parameters (each with name, about, expected and, where there is one,
    default). The names ``conformal`` and ``venn`` describe the settings that every method accepts.
    """
    if name in WRAPPERS:
        return WRAPPERS[name].cls.description()
    cls = method_class(name)
    if cls is not SklearnMethod:
        return methods.describe(name) | {"views": views_of(cls)}
    classifier = find_classifier(name)
    text = inspect.cleandoc(classifier.__doc__ or "")
    # The sections of parameters and attributes follow; the parameters are listed one by one below.
    text = plain(text.partition("\nParameters\n")[0].strip())
    needs = required_parameters(classifier)
    return {
        "name": name,
        "summary": text.partition("\n")[0],
        "text": text,
        "source": f"scikit-learn {sklearn.__version__}",
        "version": version_of(name),
        "views": [] if needs else [view_of(classifier())],
        "parameters": describe_parameters(classifier),
    }


def views_of(cls: type[Method]) -> list[str]:
    """Return the views of a class: its ``views``, or else those that its functions imply."""
    if cls.views:
        return list(cls.views)
    implied = {"predict_p_values": "p-value", "predict_proba": "probability", "decision_function": "margin"}
    return [view for function, view in implied.items() if hasattr(cls, function)]


def _is_dotted(name: str) -> bool:
    return "." in name and name not in methods.names() or name == "sklearn"
