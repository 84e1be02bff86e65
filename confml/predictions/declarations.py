"""Declarations of stored attributes, and checks of values against them.

A class that a model file may hold has a dictionary ``stored`` with a text for each attribute of its objects::

    stored = {"X": "f8(n, d)", "codes": "i8(n) in 0..c", "classes": "int(c)", "scale": "SafeScale"}

Names of sizes have one value in an object. The texts:

- ``f8(n, d)``: an array with this dtype and shape (``f8``, ``f4``, ``i8``, ``i4``, ``u8``, ``u4``, ``u1``,
  ``b1``, ``text``; floats without NaN; ``real`` for finite ``f8``, ``missing`` for ``f8`` with NaN;
  ``labels`` for sorted class labels; ``number`` for integers or floats; ``array`` for any). A size is a name,
  a number, a name ``+`` or ``-`` a number, or ``*`` for any;
- ``i8(n) in 0..c``: the values are at least 0 and less than c; both ends may be left out;
- ``int``, ``int in 1..``, ``int(c)`` (the value of c), ``float``, ``bool``, ``str``, ``None``, ``dict``,
  ``any``;
- ``list[...]``, ``tuple[...]``, ``list[...](n)``: all items have the declaration in brackets;
- ``SafeScale``, ``WideTree(n, d)``, ``NearestRows(n=m)``: an object of this class or a subclass, with sizes
  that both objects have; ``object`` for any class;
- ``f8(n) | None``: one of several. An attribute whose name ends with ``?`` may be absent.

Subclasses inherit declarations; None in the place of a text removes one. An object can be stored if its own
class has ``stored``. A method ``check_stored`` checks what a declaration cannot express (ValueError).
"""

import functools
import inspect
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

Sizes = dict[str, int]
_SCALARS: Mapping[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (float, int, np.floating, np.integer),
    "bool": (bool, np.bool_),
    "str": (str,),
    "dict": (Mapping,),
}
_KINDS = (
    *("f8", "f4", "i8", "i4", "u8", "u4", "u1", "b1"),
    *("text", "labels", "real", "missing", "number", "array"),
)
_FORM = re.compile(
    r"(?P<name>\w+)(?:\[(?P<item>.*)\])?(?:\((?P<sizes>[^()]*)\))?(?: in (?P<low>[^.]*)\.\.(?P<high>.*))?"
)


class Mismatch(ValueError):
    """A value that does not have its declared form."""


class _Form(NamedTuple):
    """One alternative of a declaration."""

    text: str
    name: str
    item: "tuple[_Form, ...] | None"
    sizes: tuple[str, ...] | None
    low: str | None
    high: str | None


class Check:
    """Checks of the attributes of one object.

    sizes: the sizes of it by name. known: the sizes of checked objects by identity.
    """

    def __init__(self, known: Mapping[int, Mapping[str, int]]):
        self.sizes: Sizes = {}
        self._known = known
        self._ranges: list[tuple[str, Any, _Form]] = []

    def attributes(self, owner: str, declared: Mapping[str, str], values: Mapping[str, Any]) -> None:
        """Raise `Mismatch` unless the values are those declared, each in its form."""
        required = {name for name in declared if not name.endswith("?")}
        names = {name.removesuffix("?") for name in declared}
        if not required <= set(values) <= names:
            wrong = sorted(map(str, set(values) - names)) or sorted(required - set(values))
            raise Mismatch(f"{owner} has other attributes: {wrong[0]}")
        for name, text in declared.items():
            if (key := name.removesuffix("?")) in values:
                self.value(f"{owner}.{key}", values[key], _parsed(text))
        for place, value, form in self._ranges:
            self._in_range(place, value, form)

    def value(self, place: str, value: Any, forms: tuple[_Form, ...]) -> None:
        """Check a value against alternatives; the first one of its kind decides."""
        form = next((form for form in forms if _is_kind(value, form)), None)
        if form is None:
            raise Mismatch(f"{place} is {_shown(value)}, expected {' | '.join(one.text for one in forms)}")
        if isinstance(value, list | tuple) and form.item is not None:
            if form.sizes:
                self._same(place, form.sizes[0], len(value))
            for item in value:
                self.value(place, item, form.item)
        elif isinstance(value, np.ndarray) and form.sizes is not None:
            for size, found in zip(form.sizes, value.shape, strict=True):
                self._same(place, size, found)
        elif form.name == "int" and form.sizes:
            self._same(place, form.sizes[0], int(value))
        elif form.sizes:
            self._linked(place, value, form.sizes)
        if form.low is not None:
            self._ranges.append((place, value, form))

    def _linked(self, place: str, value: Any, links: tuple[str, ...]) -> None:
        """Compare the sizes of an object with those of this one."""
        theirs = self._known.get(id(value)) or {}
        for link in links:
            name, _, ours = link.partition("=")
            if name in theirs:
                self._same(place, ours or name, theirs[name])

    def _same(self, place: str, text: str, found: int) -> None:
        """Compare a size with its text, or set it."""
        if text == "*":
            return
        name, shift = _term(text)
        if name is None:
            expected = shift
        elif name not in self.sizes:
            self.sizes[name] = expected = found - shift
            expected += shift
            if self.sizes[name] < 0:
                raise Mismatch(f"{place} has a negative size")
        else:
            expected = self.sizes[name] + shift
        if found != expected:
            raise Mismatch(f"{place} has the size {found}, expected {text} = {expected}")

    def _in_range(self, place: str, value: Any, form: _Form) -> None:
        low, high = self._bound(form.low), self._bound(form.high)
        if isinstance(value, np.ndarray) and not value.size:
            return
        least, most = (value.min(), value.max()) if isinstance(value, np.ndarray) else (value, value)
        if not ((low is None or least >= low) and (high is None or most < high)):
            raise Mismatch(f"{place} has values from {least} to {most}, expected {form.text}")

    def _bound(self, text: str | None) -> int | None:
        if not text:
            return None
        name, shift = _term(text)
        return shift if name is None else self.sizes[name] + shift


def declared(cls: type) -> dict[str, str]:
    """Return the declarations of a class with those that it inherits; parameters of a method or step are
    plain values."""
    found: dict[str, str | None] = dict.fromkeys(parameters_of(cls), "any")
    for one in reversed(cls.__mro__):
        found |= vars(one).get("stored", {})
    return {name: text for name, text in found.items() if text is not None}


def parameters_of(cls: type) -> set[str]:
    """Return the names of the constructor parameters of a method or step, also of its base classes."""
    if not hasattr(cls, "parameters"):
        return set()
    return {
        one.name
        for base in cls.__mro__
        if "__init__" in vars(base) and base is not object
        for one in list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }


def is_stored(cls: type) -> bool:
    """Return whether objects of a class can be in a model file: it has declarations."""
    return isinstance(vars(cls).get("stored"), Mapping)


@functools.cache
def _parsed(text: str) -> tuple[_Form, ...]:
    forms = []
    for part in _split(text, " | "):
        match = _FORM.fullmatch(part)
        if match is None:
            raise TypeError(f"{part!r} is no declaration")
        parts = match.groupdict()
        item, sizes = parts["item"], parts["sizes"]
        forms.append(
            _Form(
                part,
                parts["name"],
                None if item is None else _parsed(item),
                None if sizes is None else tuple(one.strip() for one in sizes.split(",") if one.strip()),
                parts["low"],
                parts["high"],
            )
        )
    return tuple(forms)


def _split(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators outside of brackets."""
    parts, depth = [""], 0
    for piece in re.split(rf"({re.escape(separator)}|[\[\]])", text):
        depth += (piece == "[") - (piece == "]")
        if piece == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _term(text: str) -> tuple[str | None, int]:
    """Return the name and the number of ``n``, ``3``, ``n+1``, ``c-1``."""
    match = re.fullmatch(r"([a-zA-Z]\w*)?\s*([+-]?\s*\d+)?", text)
    if match is None:
        raise TypeError(f"{text!r} is no size")
    return match[1], int((match[2] or "0").replace(" ", ""))


def _is_kind(value: Any, form: _Form) -> bool:
    name = form.name
    if name == "any":
        return True
    if name == "None":
        return value is None
    if name in ("list", "tuple"):
        return type(value) is {"list": list, "tuple": tuple}[name]
    if name in _SCALARS:
        is_bool = isinstance(value, bool | np.bool_)
        return isinstance(value, _SCALARS[name]) and is_bool == (name == "bool")
    if name in _KINDS:
        return isinstance(value, np.ndarray) and _is_array(value, name, form.sizes)
    if name == "object":
        return value is not None and not isinstance(
            value, (*_SCALARS["float"], str, list, dict, bool, np.ndarray)
        )
    return any(one.__name__ == name for one in type(value).__mro__)


def _is_array(value: np.ndarray, kind: str, sizes: tuple[str, ...] | None) -> bool:
    if sizes is not None and value.ndim != len(sizes):
        return False
    if kind == "labels":
        return value.dtype.kind in "biufUO" and len(value) > 0 and bool(np.all(value[:-1] < value[1:]))
    if kind == "real":
        return value.dtype == np.float64 and bool(np.isfinite(value).all())
    if kind == "missing":
        return value.dtype == np.float64
    if kind == "text":
        return value.dtype.kind in "UO"
    if kind == "number":
        return value.dtype.kind in "biuf"
    # Comparisons with NaN lead kernels that order rows out of their arrays.
    is_whole = value.dtype.kind != "f" or not np.isnan(value).any()
    return kind == "array" or (value.dtype == np.dtype(kind) and is_whole)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype.str} of shape {value.shape}"
    return f"of type {type(value).__name__}"
