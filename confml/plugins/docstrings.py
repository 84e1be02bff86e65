"""Docstrings of classes with declared parameters: numpydoc sections, and the text of ``confml describe``."""

import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from confml.plugins.parameters import AnyOf, Choice, Flag, Integer, Nothing, Number, Parameter

_SECTION = re.compile(
    r"^(Parameters|Attributes|Other Parameters|Notes|References|Examples)\n-+\n", re.MULTILINE
)
_TYPES = {Flag: "bool", Integer: "int", Number: "float", Nothing: "None"}
_EXAMPLE = """\
Examples
--------
>>> from confml import {name}
>>> X, y = [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]
>>> model = {name}({arguments}).fit(X, y)
>>> model.predict([[0.5]])
array(['a'], dtype='<U1')"""
_ATTRIBUTES = """\
Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Classes of the training examples, sorted."""


def described_text(cls: type) -> str:
    """Return the docstring of a class for ``confml describe``.

    The sections of numpydoc that repeat declarations (parameters, attributes) and the examples are left out.
    The notes follow the extended summary, and references begin with ``Source:``.
    """
    lead, *sections = _SECTION.split(inspect.cleandoc(cls.__doc__ or ""))
    texts = [lead.strip()]
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        if name in ("Notes", "References"):
            texts.append(f"{'Source: ' * (name == 'References')}{text.strip()}")
    return "\n\n".join(texts)


def add_sections(
    cls: type,
    declared: Mapping[str, Parameter],
    undeclared: str = "",
    attributes: str = _ATTRIBUTES,
) -> None:
    """Add the sections Parameters and Attributes to the docstring of a class that has neither.

    declared: the declaration of each constructor argument. undeclared: entries before theirs. A method of
    confml with ``example``, the arguments of its constructor, also has the section Examples.
    """
    text = inspect.cleandoc(vars(cls).get("__doc__") or "")
    if not text or re.search(r"^Parameters\n-", text, re.MULTILINE):
        return
    entries = [undeclared] * bool(undeclared)
    for name, default in _arguments(cls, declared).items():
        if name in declared:
            rule = declared[name]
            shown = "" if default is inspect.Parameter.empty else f", default={default!r}"
            about = f"{rule.about[:1].upper()}{rule.about[1:].rstrip('.')}."
            entries.append(f"{name} : {_type_of(rule)}{shown}".replace("'", '"'))
            entries += textwrap.wrap(about, 106, initial_indent="    ", subsequent_indent="    ")
    parameters = "\n".join(["Parameters\n----------", *entries]) if entries else ""
    first = _SECTION.search(text)
    lead, rest = (text, "") if first is None else (text[: first.start()], text[first.start() :])
    attributes = "" if "\nAttributes\n" in rest else attributes
    arguments = vars(cls).get("example")
    example = "" if arguments is None else _EXAMPLE.format(name=cls.__name__, arguments=arguments)
    parts = (lead.strip(), parameters, attributes, rest, example)
    cls.__doc__ = "\n\n".join(part for part in parts if part)


def _arguments(cls: type, declared: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the constructor arguments with their defaults, also before the class becomes a data class."""
    annotations = inspect.get_annotations(cls)
    if "__init__" not in vars(cls) and any(name in declared for name in annotations):
        names = [*getattr(cls, "__dataclass_fields__", ()), *annotations]
        return {name: getattr(cls, name, inspect.Parameter.empty) for name in names}
    return {name: argument.default for name, argument in inspect.signature(cls).parameters.items()}


def _type_of(rule: Parameter) -> str:
    """Return the type of a parameter as numpydoc writes it."""
    if isinstance(rule, AnyOf):
        return " or ".join(dict.fromkeys(map(_type_of, rule.of)))
    if isinstance(rule, Choice):
        return "{" + ", ".join(f'"{option}"' for option in rule.options) + "}"
    return _TYPES.get(type(rule)) or str(getattr(rule, "kind", "object"))
