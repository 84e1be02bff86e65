"""Fitted state as JSON and arrays, and back: values of plain types, and objects of classes with declarations.

Decoding executes no code of the file: an object is made without its constructor, its class must declare how
it is stored, and its attributes are decoded values that are checked against the declarations
(`confml.predictions.declarations`). An object or array that occurs several times is one again.
"""

import functools
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.plugins.imports import import_permission
from confml.predictions.declarations import Check, Mismatch, Sizes, declared, is_stored, parameters_of

MOVED = {
    "confml.methods.tcm_nn.neighbour_counter:BlockSizes": "confml.methods.tcm_nn.block_sizes:BlockSizes",
    **{
        f"confml.{module}:{name}": f"confml.{now}:{name}"
        for module, now, name in (
            ("methods.conformal.group_calibration", "methods.conformal.grouped", "GroupCalibration"),
            ("methods.conformal.group_calibration", "methods.conformal.grouped", "PartScores"),
            ("steps.min_max", "steps.scaling", "MinMax"),
            ("steps.standardise", "steps.scaling", "Standardise"),
            ("steps.row_standardise", "steps.scaling", "RowStandardise"),
            ("steps.tomek_links", "steps.reduction", "TomekLinks"),
            ("steps.consistent_subset", "steps.reduction", "ConsistentSubset"),
            ("steps.select_examples", "steps.reduction", "SelectExamples"),
        )
    },
}
"""Classes that earlier model files name by another module."""
_KEPT_AS_THEY_ARE = (str, bool, type(None))


class CannotStore(ConfmlError):
    """A value that a model file cannot hold. types: those that skops does not trust."""

    types: Sequence[str] = ()


class Encoder:
    """Encodes values as JSON.

    arrays: the arrays found so far, in the order of their numbers. estimators: likewise, the estimators that
    skops stores. uses_sklearn: whether there are estimators of scikit-learn.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.estimators: list[Any] = []
        self.uses_sklearn = False
        self._numbers: dict[int, dict[str, Any]] = {}
        self._alive: list[Any] = []  # an identity is unique while the object lives
        self._objects = 0

    def section(self, value: Any) -> Any:
        """Return a value as plain data for JSON, decoded without other sections. Raises `CannotStore`."""
        self._numbers = {key: one for key, one in self._numbers.items() if "array" in one}
        return self.encode(value)

    def encode(self, value: Any) -> Any:
        """Return a value as a part of a section."""
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
        entry: dict[str, Any] = {"array": len(self.arrays)}
        if not value.flags.writeable:
            entry["readonly"] = True
        self.arrays.append(value)
        self._numbers[id(value)] = entry
        return entry

    def _generator(self, value: np.random.Generator) -> dict[str, Any]:
        bits = value.bit_generator
        seeds: Any = bits.seed_seq
        if type(bits) is not np.random.PCG64:
            raise CannotStore(f"a random generator {type(bits).__name__} cannot be stored in a model file")
        state = {"entropy": seeds.entropy, "spawn_key": tuple(seeds.spawn_key), "state": bits.state}
        return {"generator": self.encode(state)}

    def _object(self, value: Any) -> dict[str, Any]:
        cls = getattr(type(value), "stored_as", type(value))  # of a class that is made for one estimator
        if not is_stored(cls):
            return self._estimator(value)
        found = {"object": f"{cls.__module__}:{cls.__qualname__}", **self._numbered(value)}
        if isinstance(getattr(cls, "version", None), int):
            found["version"] = cls.version
        if isinstance(value, tuple):  # a named tuple
            values = value._asdict()  # type: ignore[attr-defined]
        else:
            values = value.to_state() if hasattr(cls, "to_state") else _attributes_of(value)
        known = {name.removesuffix("?") for name in declared(cls)}
        if unknown := sorted(set(values) - known):
            raise CannotStore(
                f"{cls.__name__} has the attribute {unknown[0]}, which it does not declare",
                hint=f"add it to `stored` of {cls.__name__}",
            )
        return found | {"attributes": self._attributes(values)}

    def _estimator(self, value: Any) -> dict[str, Any]:
        """Encode an object of another package, or of a class without declarations."""
        from confml.predictions.boosters import stored_booster
        from confml.predictions.estimators import stored_estimator

        if booster := stored_booster(value):
            return {"booster": self.encode(booster), **self._numbered(value)}
        if fitted := stored_estimator(value):
            self.uses_sklearn = True
            found = {"estimator": fitted.name, **self._numbered(value)}
            params, attributes = self._attributes(fitted.params), self._attributes(fitted.attributes)
            return found | {"params": params, "attributes": attributes}
        if not hasattr(value, "get_params") or type(value).__module__.startswith("confml."):
            name = f"{type(value).__module__}.{type(value).__qualname__}"
            raise CannotStore(
                f"a {name} cannot be stored in a model file",
                hint="`stored` of confml.methods.base.Method describes how a class declares it",
            )
        self.uses_sklearn = True
        self.estimators.append(value)
        self._numbers[id(value)] = {"skops": len(self.estimators) - 1}
        return self._numbers[id(value)]

    def _numbered(self, value: Any) -> dict[str, int]:
        """Return the number of an object, by which others refer to it."""
        number, self._objects = self._objects, self._objects + 1
        self._numbers[id(value)] = {"same": number}
        return {"number": number}

    def _attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.encode(value) for name, value in values.items()}


def _attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, without values that are computed from others on demand."""
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
    """Decodes what `Encoder` made, with checks.

    array, estimator: functions that return one by its number. sizes: of decoded objects by identity.
    """

    def __init__(self, array: Callable[[int], np.ndarray], estimator: Callable[[int], Any]):
        self._array, self._estimator = array, estimator
        self._arrays: dict[int, np.ndarray] = {}
        self._estimators: dict[int, Any] = {}
        self._objects: dict[int, Any] = {}
        self.sizes: dict[int, Sizes] = {}

    def decode(self, data: Any) -> Any:
        """Return the value of plain data. Raises ValueError, or an error like KeyError, for data of another
        form.
        """
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
            array = array.astype(array.dtype.newbyteorder("="), copy=False)
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

    def _skops(self, data: dict[str, Any]) -> Any:
        number = data["skops"]
        if number not in self._estimators:
            self._estimators[number] = self._estimator(number)
        return self._estimators[number]

    def _fitted(self, data: dict[str, Any]) -> Any:
        from confml.predictions.estimators import Fitted, restored_estimator

        if type(data["estimator"]) is int:  # of formats 1 and 2
            return self._skops({"skops": data["estimator"]})
        params, attributes = (
            {name: self.decode(one) for name, one in data[part].items()} for part in ("params", "attributes")
        )
        return self._known(
            data, restored_estimator(Fitted(data["estimator"], params, attributes), self.sizes)
        )

    def _booster(self, data: dict[str, Any]) -> Any:
        from confml.predictions.boosters import Booster, restored_booster

        booster = self.decode(data["booster"])
        if not isinstance(booster, Booster):
            raise Mismatch("a booster is another object")
        return self._known(data, restored_booster(booster))

    def _object(self, data: dict[str, Any]) -> Any:
        cls = _class_of(data)
        names = declared(cls)
        if "items" in data:  # a named tuple of formats 1 and 2
            fields_ = getattr(cls, "_fields", ())
            data = data | {"attributes": dict(zip(fields_, data["items"], strict=True))}
        values = {
            name: self.decode(one) for name, one in data.get("attributes", data.get("state", {})).items()
        }
        is_unfitted = hasattr(cls, "get_params") and set(values) <= parameters_of(cls)
        check = Check(self.sizes)
        if is_unfitted:
            names = dict.fromkeys(values, "any")
        check.attributes(cls.__name__, names, values)
        if issubclass(cls, tuple):
            found: Any = cls(**values)
        elif hasattr(cls, "from_state"):
            found = cls.from_state(values)
        else:
            found = object.__new__(cls)
            for name, value in values.items():
                object.__setattr__(found, name, value)
        if hasattr(cls, "check_stored") and not is_unfitted:
            try:
                found.check_stored()
            except ConfmlError as error:
                raise Mismatch(error.message) from None
            except ValueError as error:
                raise Mismatch(str(error)) from None
        self.sizes[id(found)] = check.sizes
        return self._known(data, found)

    def _known(self, data: dict[str, Any], found: Any) -> Any:
        self._objects[data["number"]] = found
        return found


_FORMS: dict[str, Callable[[Decoder, dict[str, Any]], Any]] = {
    "float": Decoder._float,
    "tuple": Decoder._tuple,
    "dict": Decoder._dict,
    "scalar": lambda decoder, data: decoder.decode(data["scalar"])[()],
    "array": Decoder._numbered_array,
    "texts": Decoder._texts,
    "generator": Decoder._generator,
    "estimator": Decoder._fitted,
    "booster": Decoder._booster,
    "skops": Decoder._skops,
    "object": Decoder._object,
    "same": lambda decoder, data: decoder._objects[data["same"]],
}


def _class_of(data: Mapping[str, Any]) -> type:
    """Return the class of an object. Raises ValueError if it may not be stored, ConfmlError for another
    version.
    """
    name = MOVED.get(data["object"], data["object"])
    module, _, qualified = name.partition(":")
    if not qualified.isidentifier() or not _may_be_imported(f"{module}.{qualified}"):
        raise Mismatch(f"{name!r} is no class that a model file may hold")
    try:
        cls = getattr(importlib.import_module(module), qualified, None)
    except ImportError:
        cls = None
    if not isinstance(cls, type) or not is_stored(cls):
        raise Mismatch(f"{name!r} is no class that a model file may hold")
    version = getattr(cls, "version", None)
    if isinstance(version, int) and type(data.get("version")) is not int:
        raise Mismatch(f"{name} has no version")
    if isinstance(version, int) and data["version"] != version:
        raise ConfmlError(
            f"the model was fitted with version {data['version']} of {qualified}, and this confml has "
            f"version {version}, whose results differ",
            hint="fit it again with --save",
        )
    return cls


def _may_be_imported(name: str) -> bool:
    """Return whether a dotted name is in confml, in a package with entry points for it, or in a permitted
    one.
    """
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts) or any(part.startswith("__") for part in parts):
        return False
    if parts[0] == "confml" or import_permission().permits(name):
        return True
    from importlib.metadata import entry_points

    offers = [offer for group in ("confml.methods", "confml.steps") for offer in entry_points(group=group)]
    return any(offer.value.partition(":")[0].partition(".")[0] == parts[0] for offer in offers)
