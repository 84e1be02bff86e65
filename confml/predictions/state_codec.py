"""Fitted state as JSON and arrays, and back: values of plain types, and objects of listed classes of confml.

Decoding executes no code of the file: an object is made without its constructor, its class must be in
`CLASSES`, and its attributes are decoded values. An object or array that occurs several times is one again.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.predictions.stored_classes import CLASSES, MOVED

_KEPT_AS_THEY_ARE = (str, bool, type(None))


class CannotStore(ConfmlError):
    """A value that a model file cannot hold."""


class Encoder:
    """Encodes values as JSON.

    arrays: the arrays found so far, in the order of their numbers. estimators: likewise, the estimators of
    scikit-learn.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.estimators: list[Any] = []
        self._numbers: dict[int, dict[str, Any]] = {}
        self._alive: list[Any] = []  # an identity is unique while the object lives
        self._objects = 0

    def section(self, value: Any) -> Any:
        """A value as plain data for JSON that is decoded without other sections. Raises `CannotStore`."""
        self._numbers = {key: one for key, one in self._numbers.items() if "array" in one}
        return self.encode(value)

    def encode(self, value: Any) -> Any:
        """A value as a part of a section."""
        if isinstance(value, _KEPT_AS_THEY_ARE) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return [self.encode(one) for one in value]
        if type(value) is tuple:
            return {"tuple": [self.encode(one) for one in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.encode(key), self.encode(one)] for key, one in value.items()]}
        if isinstance(value, np.generic):
            return {"scalar": self.encode(np.asarray(value))}
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        self._alive.append(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, np.random.Generator):
            return self._generator(value)
        return self._object(value)

    def _array(self, value: np.ndarray) -> dict[str, Any]:
        if value.dtype.hasobject:
            if not all(isinstance(one, str) for one in value.ravel().tolist()):
                raise CannotStore("an array of Python objects cannot be stored in a model file")
            return {"texts": value.ravel().tolist(), "shape": list(value.shape)}
        if type(value) is not np.ndarray:
            raise CannotStore(f"a {type(value).__name__} cannot be stored in a model file")
        found: dict[str, Any] = {"array": len(self.arrays)}
        if not value.flags.writeable:
            found["readonly"] = True
        self.arrays.append(value)
        self._numbers[id(value)] = found
        return found

    def _generator(self, value: np.random.Generator) -> dict[str, Any]:
        bits = value.bit_generator
        seeds: Any = bits.seed_seq
        if type(bits) is not np.random.PCG64:
            raise CannotStore(f"a random generator {type(bits).__name__} cannot be stored in a model file")
        state = {"entropy": seeds.entropy, "spawn_key": tuple(seeds.spawn_key), "state": bits.state}
        return {"generator": self.encode(state)}

    def _object(self, value: Any) -> dict[str, Any]:
        cls = getattr(type(value), "stored_as", type(value))  # of a class that is made for one estimator
        name = f"{cls.__module__}:{cls.__qualname__}"
        if name not in CLASSES:
            if cls.__module__.partition(".")[0] == "sklearn":
                self.estimators.append(value)
                self._numbers[id(value)] = {"estimator": len(self.estimators) - 1}
                return self._numbers[id(value)]
            raise CannotStore(
                f"a {name.replace(':', '.')} cannot be stored in a model file",
                hint="models of confml's own methods and of scikit-learn's can be stored",
            )
        self._numbers[id(value)] = {"same": self._objects}
        number, self._objects = self._objects, self._objects + 1
        found: dict[str, Any] = {"object": name, "number": number}
        if isinstance(getattr(cls, "version", None), int):
            found["version"] = cls.version
        if isinstance(value, tuple):  # a named tuple
            return found | {"items": [self.encode(one) for one in value]}
        if hasattr(cls, "to_state"):
            return found | {"state": self._attributes(value.to_state())}
        return found | {"attributes": self._attributes(_attributes_of(value))}

    def _attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.encode(value) for name, value in values.items()}


def _attributes_of(value: Any) -> dict[str, Any]:
    """The attributes of an object, without values that are computed from others when they are needed."""
    cls = getattr(type(value), "stored_as", type(value))
    values = dict(getattr(value, "__dict__", {}))
    for slot in (slot for one in cls.__mro__ for slot in getattr(one, "__slots__", ())):
        if hasattr(value, slot):
            values[slot] = getattr(value, slot)
    if is_dataclass(cls):
        values |= {one.name: getattr(value, one.name) for one in fields(cls)}
    return {
        name: one
        for name, one in values.items()
        if not isinstance(getattr(cls, name, None), functools.cached_property)
    }


class Decoder:
    """Decodes what `Encoder` made. array, estimator: functions that return one by its number."""

    def __init__(self, array: Callable[[int], np.ndarray], estimator: Callable[[int], Any]):
        self._array, self._estimator = array, estimator
        self._arrays: dict[int, np.ndarray] = {}
        self._estimators: dict[int, Any] = {}
        self._objects: dict[int, Any] = {}

    def decode(self, data: Any) -> Any:
        """The value of plain data. Raises ValueError, or an error like KeyError, for data of another form."""
        if isinstance(data, list):
            return [self.decode(one) for one in data]
        if not isinstance(data, dict):
            return data
        form = next(iter(data), None)
        if form not in _FORMS:
            raise ValueError(f"unknown form {form!r}")
        return _FORMS[form](self, data)

    def _float(self, data: dict[str, Any]) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[data["float"]]

    def _tuple(self, data: dict[str, Any]) -> tuple:
        return tuple(self.decode(one) for one in data["tuple"])

    def _dict(self, data: dict[str, Any]) -> dict:
        return {self.decode(key): self.decode(one) for key, one in data["dict"]}

    def _numbered_array(self, data: dict[str, Any]) -> np.ndarray:
        number = data["array"]
        if number not in self._arrays:
            array = self._array(number)
            array.flags.writeable = not data.get("readonly", False)
            self._arrays[number] = array
        return self._arrays[number]

    def _texts(self, data: dict[str, Any]) -> np.ndarray:
        return np.array(data["texts"], dtype=object).reshape(data["shape"])

    def _generator(self, data: dict[str, Any]) -> np.random.Generator:
        stored = self.decode(data["generator"])
        seeds = np.random.SeedSequence(stored["entropy"], spawn_key=stored["spawn_key"])
        generator = np.random.Generator(np.random.PCG64(seeds))
        generator.bit_generator.state = stored["state"]
        return generator

    def _numbered_estimator(self, data: dict[str, Any]) -> Any:
        number = data["estimator"]
        if number not in self._estimators:
            self._estimators[number] = self._estimator(number)
        return self._estimators[number]

    def _object(self, data: dict[str, Any]) -> Any:
        cls = _class_of(data)
        if "items" in data:
            if not issubclass(cls, tuple):
                raise ValueError(f"{cls.__name__} is no named tuple")
            found = cls(*(self.decode(one) for one in data["items"]))
        elif "state" in data:
            state = {name: self.decode(one) for name, one in data["state"].items()}
            found = cls.from_state(state)  # type: ignore[attr-defined]
        else:
            found = object.__new__(cls)
            self._objects[data["number"]] = found  # before its attributes, which may refer to it
            for name, one in data["attributes"].items():
                object.__setattr__(found, name, self.decode(one))
        self._objects[data["number"]] = found
        return found


_FORMS: dict[str, Callable[[Decoder, dict[str, Any]], Any]] = {
    "float": Decoder._float,
    "tuple": Decoder._tuple,
    "dict": Decoder._dict,
    "scalar": lambda decoder, data: decoder.decode(data["scalar"])[()],
    "array": Decoder._numbered_array,
    "texts": Decoder._texts,
    "dtype": lambda decoder, data: np.dtype(data["dtype"]),
    "generator": Decoder._generator,
    "estimator": Decoder._numbered_estimator,
    "object": Decoder._object,
    "same": lambda decoder, data: decoder._objects[data["same"]],
}


def _class_of(data: Mapping[str, Any]) -> type:
    """The listed class of an object. Raises ValueError for another one, ConfmlError for another version."""
    name = MOVED.get(data["object"], data["object"])
    if name not in CLASSES:
        raise ValueError(f"{name!r} is no class that a model file may hold")
    module, _, qualified = name.partition(":")
    cls = getattr(importlib.import_module(module), qualified)
    version = getattr(cls, "version", None)
    if isinstance(version, int) and data.get("version") != version:
        raise ConfmlError(
            f"the model was fitted with version {data.get('version')} of {qualified}, and this confml has "
            f"version {version}, whose results differ",
            hint="fit it again with --save",
        )
    return cls
