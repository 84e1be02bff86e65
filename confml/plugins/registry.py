"""`Catalogue`: finds the classes of one kind, confml's own and those of other packages, by their names."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from confml.errors import ConfigError, ConfmlError, did_you_mean
from confml.plugins.parameters import check_parameters


class Catalogue:
    """The classes that a config can name, of one kind: methods, or steps.

    noun: what one of them is called in a message. package: whose modules and folders hold confml's own; one
    whose name starts with "_" is left out. base: the class they all derive from. group: the entry point group
    in which other packages offer theirs, as ``name = "their_package.module:Class"``. Another package's class
    is imported only when it is asked for, and one that is broken stands in nobody's way.
    """

    def __init__(self, noun: str, package: str, base: type, group: str):
        self.noun, self.package, self.base, self.group = noun, package, base, group

    @functools.cached_property
    def own(self) -> dict[str, type]:
        """confml's own classes by name, in the order of the names."""
        found: dict[str, type] = {}
        folder = importlib.import_module(self.package).__path__
        for module_name in sorted(info.name for info in pkgutil.iter_modules(folder)):
            if module_name.startswith("_"):
                continue
            module = importlib.import_module(f"{self.package}.{module_name}")
            for cls in vars(module).values():
                # A class belongs to its file, or to the folder whose `__init__` names it.
                if not inspect.isclass(cls) or not self._is_named(cls):
                    continue
                if f"{cls.__module__}.".startswith(f"{module.__name__}."):
                    if cls.name in found:
                        raise ConfmlError(
                            f"two classes call themselves {self.noun} '{cls.name}': {found[cls.name]}, {cls}"
                        )
                    found[cls.name] = cls
        return dict(sorted(found.items()))

    @functools.cached_property
    def offers(self) -> dict[str, list[EntryPoint]]:
        """What other packages offer, by name, not yet imported; names of confml's own are not theirs."""
        found: dict[str, list[EntryPoint]] = {}
        for offer in sorted(entry_points(group=self.group), key=lambda offer: (offer.name, offer.value)):
            if offer.name not in self.own:
                found.setdefault(offer.name, []).append(offer)
        return found

    def names(self) -> list[str]:
        """Every name that a config may use, sorted; what another package offers under it may be broken."""
        return sorted([*self.own, *self.offers])

    def known(self) -> dict[str, type]:
        """Every class that works, by name."""
        found = dict(self.own)
        for name in self.offers:
            try:
                found[name] = self.find(name)
            except ConfmlError:
                continue  # said by `find` to whoever asks for it by name, and listed by `broken`
        return dict(sorted(found.items()))

    def broken(self) -> dict[str, ConfmlError]:
        """What other packages offer and cannot be used, with the reason."""
        found = {}
        for name in self.offers:
            try:
                self.find(name)
            except ConfmlError as error:
                found[name] = error
        return found

    def find(self, name: str) -> type:
        """The class of this name; ConfigError where it is not known, ConfmlError where it is broken."""
        if name in self.own:
            return self.own[name]
        offers = self.offers.get(name)
        if not offers:
            raise ConfigError(f"unknown {self.noun} '{name}'", hint=did_you_mean(name, self.names()))
        if len(offers) > 1:
            packages = " and ".join(_origin(offer) for offer in offers)
            raise ConfmlError(
                f"{self.noun} '{name}' is offered by {packages}", hint="uninstall all but one of them"
            )
        return self._load(name, offers[0])

    def source(self, name: str) -> str:
        """Who gives the class: ``confml``, or another package with its version."""
        return "confml" if name in self.own else " and ".join(_origin(offer) for offer in self.offers[name])

    def check(self, name: str, params: Mapping[str, Any]) -> None:
        """Raise ConfigError unless ``name`` is known and can be built with these parameters."""
        cls = self.find(name)
        owner = f"{self.noun} '{name}'"
        try:
            check_parameters(owner, cls.parameters, params)
        except ConfigError:
            raise
        except ConfmlError as error:
            raise ConfigError(error.message, where=error.where, hint=error.hint) from None
        for missing in sorted(required_parameters(cls) - set(params)):
            raise ConfigError(f"{owner} needs a parameter '{missing}': {cls.parameters[missing].expected()}")

    def describe(self, name: str) -> dict[str, Any]:
        """The class in words, as plain data: name, summary, text, source, version, parameters."""
        cls = self.find(name)
        text = inspect.cleandoc(cls.__doc__ or "")
        defaults = default_parameters(cls)
        parameters = []
        for parameter, rule in cls.parameters.items():
            entry = {"name": parameter, "about": rule.about, "expected": rule.expected()}
            parameters.append(entry | ({"default": defaults[parameter]} if parameter in defaults else {}))
        return {
            "name": name,
            "summary": text.partition("\n")[0],
            "text": text,
            "source": self.source(name),
            "version": cls.version,
            "parameters": parameters,
        }

    def _is_named(self, cls: Any) -> bool:
        return (
            issubclass(cls, self.base)
            and cls is not self.base
            and isinstance(getattr(cls, "name", None), str)
        )

    def _load(self, name: str, offer: EntryPoint) -> type:
        try:
            cls = offer.load()
        except Exception as error:
            raise ConfmlError(
                f"{self.noun} '{name}' of the package {_origin(offer)} cannot be imported from "
                f"{offer.value}: {type(error).__name__}: {error}",
                hint="reinstall or uninstall that package",
            ) from error
        if not inspect.isclass(cls) or not self._is_named(cls):
            expected = f"a subclass of {self.base.__module__}.{self.base.__qualname__} with a name"
            got = f"{offer.value} is {cls!r}"
            raise ConfmlError(
                f"{self.noun} '{name}' of the package {_origin(offer)} must be {expected}, but {got}"
            )
        if cls.name != name:
            raise ConfmlError(
                f"the package {_origin(offer)} offers {offer.value} as {self.noun} '{name}', "
                f"but it calls itself '{cls.name}'",
                hint="the two names must be the same",
            )
        return cls


def required_parameters(cls: type) -> set[str]:
    """The names of constructor parameters that have no default."""
    signature = inspect.signature(cls).parameters.values()
    return {
        one.name
        for one in signature
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }


def default_parameters(cls: type) -> dict[str, Any]:
    """The constructor parameters that have a default, with it."""
    signature = inspect.signature(cls).parameters.values()
    return {one.name: one.default for one in signature if one.default is not one.empty}


def _origin(offer: EntryPoint) -> str:
    return f"{offer.dist.name} {offer.dist.version}" if offer.dist else f"that has {offer.value}"
