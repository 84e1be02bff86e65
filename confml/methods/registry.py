"""The methods that a config can name: confml's own, other packages', and the classifiers of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import sklearn

from confml.errors import ConfigError, ConfmlError
from confml.methods.base import Method
from confml.methods.conformal import conformal
from confml.methods.conformal.settings import KEY, check_settings, settings_of
from confml.methods.sklearn.names import describe_parameters, dotted_name, find_classifier, plain
from confml.methods.sklearn.sklearn_method import SklearnMethod, new_classifier, view_of
from confml.plugins.registry import PluginRegistry, required_parameters

methods = PluginRegistry("method", "confml.methods", Method, "confml.methods")


def known_methods() -> dict[str, type[Method]]:
    """Every method by name: confml's own and, by the entry point group ``confml.methods``, other packages'.

    Another package's method that cannot be used is left out; `broken_methods` says why.
    """
    return methods.known()


def broken_methods() -> dict[str, ConfmlError]:
    """Methods that other packages offer and that cannot be used, with the reason."""
    return methods.broken()


def method_class(name: str) -> type[Method]:
    """The class of a method, `SklearnMethod` for every dotted name; ConfigError where there is none."""
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
    """Raise ConfigError unless there is such a method and it can be built with exactly these parameters.

    Those of any method may say ``conformal``, and what stands behind ``conformal__``.
    """
    settings, params = settings_of(params or {})
    if method_class(name) is SklearnMethod:
        views = [view_of(new_classifier(name, params))]
    else:
        methods.check(name, params)
        views = views_of(method_class(name))
    if settings:
        check_settings(name, settings, views)


def build(name: str, params: Mapping[str, Any] | None = None) -> Method:
    """A method that is not fitted yet. Raises ConfigError as `check` does."""
    check(name, params)
    settings, params = settings_of(params or {})
    if method_class(name) is SklearnMethod:
        method = SklearnMethod(new_classifier(name, params))
    else:
        method = method_class(name)(**params)
    return conformal.make(method, settings) if settings else method


def version_of(name: str, params: Mapping[str, Any] | None = None) -> int | str:
    """What changes whenever results may: a number, and scikit-learn's own version for its classes.

    Of a method that ``params`` make conformal, with the version of that.
    """
    cls = method_class(name)
    version = f"{cls.version}, scikit-learn {sklearn.__version__}" if cls is SklearnMethod else cls.version
    settings, _ = settings_of(params or {})
    return f"{version}, conformal {conformal.Conformal.version}" if settings else version


def describe(name: str) -> dict[str, Any]:
    """A method in words, as plain data.

    name, summary (one line), text, source (``confml``, or the package that offers it, with its version),
    version, views (of the method with its default parameters), parameters (each with name, about, expected
    and, where it has one, default). ``conformal`` is what any classifier can be made.
    """
    if name == KEY:
        return conformal.describe()
    cls = method_class(name)
    if cls is not SklearnMethod:
        return methods.describe(name) | {"views": views_of(cls)}
    classifier = find_classifier(name)
    text = inspect.cleandoc(classifier.__doc__ or "")
    # Sections of parameters and attributes follow; the former are told one by one below.
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
    """The views of a method's class: those it declares as ``views``, or else what its functions tell."""
    if cls.views:
        return list(cls.views)
    telling = {"predict_p_values": "p-value", "predict_proba": "probability", "decision_function": "margin"}
    return [view for function, view in telling.items() if hasattr(cls, function)]


def _is_dotted(name: str) -> bool:
    return "." in name and name not in methods.names() or name == "sklearn"
