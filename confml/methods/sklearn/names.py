"""Lookup of scikit-learn classifiers by dotted name, and the description of their parameters."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
from typing import Any

import sklearn
from sklearn.base import ClassifierMixin

from confml.errors import ConfigError, nearest
from confml.plugins.registry import default_parameters

_WITHOUT_CLASSIFIERS = {"callback", "datasets", "exceptions", "experimental", "externals"}


def find_classifier(name: str) -> type:
    """Return the class ``sklearn.<module>.<Class>``.

    Only public modules of scikit-learn are imported, for any name. Raises ConfigError, with the nearest known
    name, if there is no such classifier.
    """
    if name.partition(".")[0] != "sklearn":
        raise ConfigError(
            f"unknown method '{name}': only classifiers of scikit-learn have dotted names",
            hint="other packages provide methods by the entry point group 'confml.methods'",
        )
    _, module, cls = (name.split(".") + ["", ""])[:3]
    found = {}
    if name.count(".") == 2 and module in _modules():
        found = _classifiers(module)
        if cls in found:
            return found[cls]
        if inspect.isclass(getattr(importlib.import_module(f"sklearn.{module}"), cls, None)):
            raise ConfigError(f"{name} is not a classifier", hint=_nearest_of(cls))
    close = nearest(cls, found)
    hint = f"did you mean 'sklearn.{module}.{close}'?" if close else _nearest_of(name.rpartition(".")[2])
    raise ConfigError(f"scikit-learn {sklearn.__version__} has no classifier '{name}'", hint=hint)


def dotted_name(class_name: str) -> str | None:
    """Return the dotted name of the classifier with the nearest class name, or None."""
    by_class = {name.rpartition(".")[2]: name for name in known_classifiers()}
    return by_class.get(nearest(class_name, by_class) or "")


@functools.cache
def known_classifiers() -> tuple[str, ...]:
    """Return the dotted names of all classifiers; this imports most of scikit-learn, in about 2 seconds."""
    return tuple(f"sklearn.{module}.{name}" for module in _modules() for name in _classifiers(module))


def describe_parameters(cls: type) -> list[dict[str, Any]]:
    """Return name, about, expected and default of each parameter, from scikit-learn's documentation."""
    documented = _documented(inspect.cleandoc(cls.__doc__ or ""))
    defaults = default_parameters(cls)
    described = []
    for name in inspect.signature(cls).parameters:
        expected, about = documented.get(name, ("", ""))
        entry = {"name": name, "about": about, "expected": expected}
        described.append(entry | ({"default": defaults[name]} if name in defaults else {}))
    return described


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
