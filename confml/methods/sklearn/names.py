"""Lookup of classifiers by dotted name, and the description of their parameters."""

import functools
import importlib
import importlib.util
import inspect
import re
from typing import Any

import sklearn
from sklearn.base import ClassifierMixin

from confml.errors import ConfigError, nearest
from confml.plugins.imports import find_object
from confml.plugins.registry import default_parameters, required_parameters

_WITHOUT_CLASSIFIERS = {"callback", "datasets", "exceptions", "experimental", "externals"}


CLASSIFIER = ("fit", "predict", "get_params", "set_params")
TRANSFORMER = ("fit", "transform", "get_params", "set_params")
PIPELINE = "sklearn.pipeline.Pipeline"


def find_classifier(name: str) -> Any:
    """Return the class ``sklearn.<module>.<Class>``, or a class or an estimator of a permitted package.

    Nothing else is imported, for any name: only public modules of scikit-learn, and the packages of
    `confml.plugins.imports.import_permission`. Raises ConfigError, with the nearest known name, if there is
    no such classifier.
    """
    if name.partition(".")[0] != "sklearn":
        return find_estimator(name, "method", CLASSIFIER)
    cls = _public(name)
    if name == PIPELINE or inspect.isclass(cls) and issubclass(cls, ClassifierMixin):
        return cls
    hint = _similar(name, "classifier") or "a name is like sklearn.ensemble.RandomForestClassifier"
    if cls is not None:
        raise ConfigError(f"{name} is not a classifier", hint=hint)
    raise ConfigError(f"scikit-learn {sklearn.__version__} has no classifier '{name}'", hint=hint)


def find_estimator(name: str, noun: str, needed: tuple[str, ...]) -> Any:
    """Return a class of scikit-learn or a permitted package that has the functions of ``needed``.

    Raises ConfigError for any other name.
    """
    if name.partition(".")[0] != "sklearn":
        estimator = find_object(name, noun)
    else:
        estimator = _public(name)
        if estimator is None:
            message = f"scikit-learn {sklearn.__version__} has no '{name}'"
            raise ConfigError(message, hint=_similar(name) or "a name is like sklearn.decomposition.PCA")
    check_interface(name, estimator, needed)
    return estimator


def check_interface(name: str, estimator: Any, needed: tuple[str, ...]) -> None:
    """Raise ConfigError unless ``estimator`` is a class or an estimator with the functions of ``needed``."""
    hint = "name a class with scikit-learn's interface, or an estimator that is made from one"
    if inspect.isroutine(estimator) or inspect.ismodule(estimator):
        kind = "module" if inspect.ismodule(estimator) else "function"
        raise ConfigError(f"{name} is a {kind}, not a class", hint=hint)
    if not inspect.isclass(estimator) and not hasattr(estimator, "get_params"):
        raise ConfigError(f"{name} is a {type(estimator).__name__}, not a class", hint=hint)
    lacking = [function for function in needed if not callable(getattr(estimator, function, None))]
    if lacking:
        raise ConfigError(
            f"{name} has no {' and no '.join(lacking)}",
            hint=f"scikit-learn's interface needs {', '.join(needed)}; "
            "sklearn.base.BaseEstimator gives get_params and set_params",
        )


def dotted_name(name: str, similar: bool = True) -> str | None:
    """Return the dotted name of the classifier whose class name contains a name such as ``random-forest``.

    similar: without such a class, return the one with the most similar name. None if there is none.
    """
    by_class = _dotted_names("classifier")
    word = re.sub("[-_ ]", "", name).lower()
    within = [cls for cls in by_class if len(word) > 2 and word in cls.lower()]
    return by_class.get(min(within, key=len, default=similar and nearest(name, by_class) or ""))


@functools.cache
def _dotted_names(kind: str | None) -> dict[str, str]:
    """Return the dotted name of each class of estimators of a kind; this imports most of scikit-learn, in
    about 2 seconds."""
    from sklearn.utils.discovery import all_estimators

    names = {name: ".".join([*cls.__module__.split(".")[:2], name]) for name, cls in all_estimators(kind)}
    return {name: dotted for name, dotted in names.items() if _public(dotted)}


def _similar(name: str, kind: str | None = None) -> str | None:
    """Return a hint with the estimator whose class has the most similar name, if there is one."""
    by_class = _dotted_names(kind)
    close = nearest(name.rpartition(".")[2], by_class)
    return f"did you mean '{by_class[close]}'?" if close else None


def describe_estimator(name: str, estimator: Any) -> dict[str, Any]:
    """Return name, summary, text and parameters of a class or an estimator, from its documentation.

    Each parameter has name, about, expected and, where there is one, default.
    """
    cls = estimator if inspect.isclass(estimator) else type(estimator)
    docstring = inspect.cleandoc(cls.__doc__ or "")
    # The sections of parameters and attributes follow; the parameters are listed one by one.
    text = plain(docstring.partition("\nParameters\n")[0].strip())
    documented = _documented(docstring)
    defaults = default_parameters(cls)
    signature = inspect.signature(cls).parameters
    accepted, _ = known_parameters(cls)
    described = []
    for parameter in [*(key for key in signature if key in accepted), *sorted(accepted - set(signature))]:
        expected, about = documented.get(parameter, ("", ""))
        default = {"default": defaults[parameter]} if parameter in defaults else {}
        described.append({"name": parameter, "about": about, "expected": expected, **default})
    return {"name": name, "summary": text.partition("\n")[0], "text": text, "parameters": described}


def known_parameters(cls: Any) -> tuple[frozenset[str], bool]:
    """Return the parameters of a class, and whether its constructor accepts any other keyword."""
    return _cached_parameters(cls)


@functools.cache
def _cached_parameters(cls: Any) -> tuple[frozenset[str], bool]:
    signature = inspect.signature(cls).parameters.values()
    named = {p.name for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    is_open = any(p.kind is p.VAR_KEYWORD for p in signature)
    if is_open and not required_parameters(cls):
        try:
            named |= set(cls().get_params())
        except Exception:  # the constructor's error is reported where it is called with the parameters
            pass
    return frozenset(named), is_open


def plain(text: str) -> str:
    """Return documentation with cross-references replaced by their text."""
    return re.sub(r":\w+:`~?([^<`]*?)(?:\s+<[^`]*>)?`", r"\1", text)


def _public(name: str) -> type | None:
    """Return the class of a public module of scikit-learn, or None."""
    _, module, cls = (*name.split("."), "", "")[:3]
    public = module in sklearn.__all__ and module not in _WITHOUT_CLASSIFIERS
    if name.count(".") != 2 or not public or cls.startswith("_"):
        return None
    if importlib.util.find_spec(f"sklearn.{module}") is None:
        return None
    member = getattr(importlib.import_module(f"sklearn.{module}"), cls, None)
    return member if inspect.isclass(member) and member.__module__.startswith("sklearn.") else None


def _documented(text: str) -> dict[str, tuple[str, str]]:
    """Return {parameter: (accepted values, first paragraph)} from a docstring in NumPy style."""
    section = text.partition("\nParameters\n")[2].partition("\n")[2]
    documented, name, expected, lines = {}, "", "", []
    for line in [*re.split(r"\n[^\n]+\n---", section)[0].splitlines(), "end : "]:
        entry = re.match(r"(\w+) ?: ?(.*)", line)
        if not entry:
            lines.append(line.strip())
            continue
        if name:
            # The text up to an empty line or a directive.
            words = re.split(r"\n\n|\n\.\. ", "\n".join(lines).strip())[0]
            documented[name] = (re.split(r",\s*default", expected)[0], plain(" ".join(words.split())))
        name, expected = entry.groups()
        lines = []
    return documented
