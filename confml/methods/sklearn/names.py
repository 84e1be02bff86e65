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
        classifier = find_object(name, "method")
        check_interface(name, classifier, CLASSIFIER)
        return classifier
    _, module, cls = (name.split(".") + ["", ""])[:3]
    classifiers = {}
    if name == PIPELINE:
        return _public(name)
    if name.count(".") == 2 and module in _modules():
        classifiers = _classifiers(module)
        if cls in classifiers:
            return classifiers[cls]
        if _public(name) is not None:
            raise ConfigError(f"{name} is not a classifier", hint=_nearest_of(cls))
    close = nearest(cls, classifiers)
    hint = f"did you mean 'sklearn.{module}.{close}'?" if close else _nearest_of(name.rpartition(".")[2])
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
            module = name.split(".")[1] if name.count(".") == 2 else ""
            known = _public_names(module) if module in _modules() else ()
            close = nearest(name.rpartition(".")[2], known)
            hint = f"did you mean 'sklearn.{module}.{close}'?" if close else None
            message = f"scikit-learn {sklearn.__version__} has no '{name}'"
            raise ConfigError(message, hint=hint or "a name is like sklearn.decomposition.PCA")
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
    by_class = {one.rpartition(".")[2]: one for one in known_classifiers()}
    word = re.sub("[-_ ]", "", name).lower()
    within = [one for one in by_class if len(word) > 2 and word in one.lower()]
    return by_class.get(min(within, key=len, default=similar and nearest(name, by_class) or ""))


@functools.cache
def known_classifiers() -> tuple[str, ...]:
    """Return the dotted names of all classifiers; this imports most of scikit-learn, in about 2 seconds."""
    return tuple(f"sklearn.{module}.{name}" for module in _modules() for name in _classifiers(module))


def describe_parameters(cls: type) -> list[dict[str, Any]]:
    """Return name, about, expected and default of each parameter, from the class's documentation."""
    documented = _documented(inspect.cleandoc(cls.__doc__ or ""))
    defaults = default_parameters(cls)
    signature = inspect.signature(cls).parameters
    known, _ = known_parameters(cls)
    described = []
    for name in [*(one for one in signature if one in known), *sorted(known - set(signature))]:
        expected, about = documented.get(name, ("", ""))
        entry = {"name": name, "about": about, "expected": expected}
        described.append(entry | ({"default": defaults[name]} if name in defaults else {}))
    return described


def known_parameters(cls: Any) -> tuple[frozenset[str], bool]:
    """Return the parameters of a class, and whether its constructor accepts any other keyword."""
    return _known_parameters(cls)


@functools.cache
def _known_parameters(cls: Any) -> tuple[frozenset[str], bool]:
    signature = inspect.signature(cls).parameters.values()
    named = {one.name for one in signature if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    is_open = any(one.kind is one.VAR_KEYWORD for one in signature)
    if is_open and not required_parameters(cls):
        try:
            named |= set(cls().get_params())
        except Exception:  # the constructor's error is reported where it is called with the parameters
            pass
    return frozenset(named), is_open


def plain(text: str) -> str:
    """Return documentation with cross-references replaced by their text."""
    return re.sub(r":\w+:`~?([^<`]*?)(?:\s+<[^`]*>)?`", r"\1", text)


@functools.cache
def _modules() -> tuple[str, ...]:
    names = (name for name in sklearn.__all__ if importlib.util.find_spec(f"sklearn.{name}"))
    return tuple(sorted(set(names) - _WITHOUT_CLASSIFIERS))


@functools.cache
def _classifiers(module_name: str) -> dict[str, type]:
    module = importlib.import_module(f"sklearn.{module_name}")
    return {
        name: cls
        for name, cls in sorted(vars(module).items())
        if inspect.isclass(cls)
        and issubclass(cls, ClassifierMixin)
        and cls.__module__.startswith(module.__name__)
        and not name.startswith(("_", "Base"))
        and not inspect.isabstract(cls)
    }


def _public(name: str) -> type | None:
    """Return the class of a public module of scikit-learn, or None."""
    parts = name.split(".")
    if len(parts) != 3 or parts[1] not in _modules() or parts[2].startswith("_"):
        return None
    found = getattr(importlib.import_module(f"sklearn.{parts[1]}"), parts[2], None)
    return found if inspect.isclass(found) and found.__module__.startswith("sklearn.") else None


def _public_names(module: str) -> list[str]:
    """Return the names of the public classes of a module of scikit-learn."""
    return [
        one
        for one in vars(importlib.import_module(f"sklearn.{module}"))
        if _public(f"sklearn.{module}.{one}")
    ]


def _nearest_of(class_name: str) -> str:
    found = dotted_name(class_name)
    return f"did you mean '{found}'?" if found else "a name is like sklearn.ensemble.RandomForestClassifier"


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
