"""`PluginRegistry`: the classes of one kind (methods, steps) by name, confml's own and other packages'."""

import functools
import importlib
import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from confml.errors import ConfigError, ConfmlError, nearest
from confml.plugins.docstrings import described_text
from confml.plugins.imports import import_permission, is_installed
from confml.plugins.parameters import MissingParameter, check_parameters

Kind = TypeVar("Kind")


class PluginRegistry(Generic[Kind]):
    """The classes of one kind that a config can name: methods, or steps.

    noun: the word for one of them in messages.
    locations: confml's own classes by name, as ``package.module:Class``.
    base: the class that all of them derive from; it has ``name``, ``version``, ``parameters`` and
    ``check_combination``.
    group: the entry point group of other packages' classes, as ``name = "their_package.module:Class"``.

    A class is imported only when it is asked for; one that cannot be imported does not affect the others.
    """

    def __init__(self, noun: str, locations: Mapping[str, str], base: type, group: str):
        self.noun, self.locations, self.base, self.group = noun, locations, base, group

    def own_class(self, name: str) -> type[Kind] | None:
        """Return confml's own class of this name, or None."""
        if name not in self.locations:
            return None
        module, _, attribute = self.locations[name].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def has(self, name: str) -> bool:
        """Return whether there is a class of this name, without importing any."""
        return name in self.locations or name in self.offers

    @functools.cached_property
    def offers(self) -> dict[str, list[EntryPoint]]:
        """Entry points of other packages by name, not yet imported; confml's own names are skipped."""
        offers: dict[str, list[EntryPoint]] = {}
        for offer in sorted(entry_points(group=self.group), key=lambda offer: (offer.name, offer.value)):
            if offer.name not in self.locations:
                offers.setdefault(offer.name, []).append(offer)
        return offers

    def names(self) -> list[str]:
        """Return every name that a config may use, sorted; those of other packages are not imported."""
        return sorted([*self.locations, *self.offers])

    def is_dotted(self, name: str) -> bool:
        """Return whether a name is of no class of this kind, but the dotted name of any class."""
        return "." in name and not self.has(name) or name == "sklearn"

    def check_spelling(self, name: str) -> None:
        """Raise ConfigError for a dotted name that is most likely a name or ``sklearn`` with a mistake."""
        package, _, rest = name.partition(".")
        if package != "sklearn" and not import_permission().permits(name) and not is_installed(package):
            close = nearest(name, self.names()) or (nearest(package, ["sklearn"]) and f"sklearn.{rest}")
            if close:
                raise ConfigError(f"unknown {self.noun} '{name}'", hint=f"did you mean '{close}'?")

    def known(self) -> dict[str, type[Kind]]:
        """Return all classes that can be imported, sorted by name."""
        broken = self.broken()
        return {name: self.find(name) for name in self.names() if name not in broken}

    def broken(self) -> dict[str, ConfmlError]:
        """Return the classes of other packages that cannot be used, with the reason for each."""
        errors = {}
        for name in self.offers:
            try:
                self.find(name)
            except ConfmlError as error:
                errors[name] = error
        return errors

    def find(self, name: str) -> type[Kind]:
        """Return the class of this name; ConfigError where it is unknown, ConfmlError where it is broken."""
        own_class = self.own_class(name)
        if own_class is not None:
            return own_class
        if name not in self.offers:
            raise ConfigError(f"unknown {self.noun} '{name}'", near=(name, self.names()))
        offer, *rivals = self.offers[name]
        subject = f"{self.noun} '{name}' of the package {_origin(offer)}"
        if rivals:
            message = f"{self.noun} '{name}' is offered by {self.source(name)}"
            raise ConfmlError(message, hint="uninstall all but one of them")
        try:
            cls = offer.load()
        except Exception as error:
            message = f"{subject} cannot be imported from {offer.value}: {type(error).__name__}: {error}"
            raise ConfmlError(message, hint="reinstall or uninstall that package") from error
        if not (inspect.isclass(cls) and issubclass(cls, self.base) and getattr(cls, "name", None) == name):
            expected = f"a subclass of {self.base.__module__}.{self.base.__qualname__} with this name"
            loaded = repr(getattr(cls, "name", None) or cls)
            raise ConfmlError(f"{subject} must be {expected}, but {offer.value} is {loaded}")
        return cast("type[Kind]", cls)

    def source(self, name: str) -> str:
        """Return where the class comes from: ``confml``, or another package with its version."""
        return "confml" if name in self.locations else " and ".join(map(_origin, self.offers[name]))

    def check(self, name: str, params: Mapping[str, Any], cls: Any = None) -> None:
        """Raise ConfigError unless ``name`` is known and can be built with exactly these parameters.

        A mistake in a parameter raises a `ParameterError`: first names and values, then parameters that are
        missing, then those that cannot be combined (``check_combination`` of the class). cls: the class, by
        default that of the name.
        """
        cls, owner = cls or self.find(name), f"{self.noun} '{name}'"
        check_parameters(owner, cls.parameters, params)
        for missing in sorted(_required(cls) - set(params)):
            expected = cls.parameters[missing].expected()
            message = f"{owner} needs the parameter '{missing}': {expected}"
            raise MissingParameter(owner, missing, expected=expected, message=message)
        cls.check_combination(params)


def describe_class(name: str, cls: Any, source: str) -> dict[str, Any]:
    """Return the documentation of a class that a config names ``name`` as plain data.

    Keys: name, summary, text, source, version, parameters.
    """
    text, defaults = described_text(cls), default_parameters(cls)
    parameters = []
    for parameter, rule in cls.parameters.items():
        default = {"default": defaults[parameter]} if parameter in defaults else {}
        about = {"name": parameter, "about": rule.about, "expected": rule.expected()}
        parameters.append(about | default)
    return {
        "name": name,
        "summary": text.partition("\n")[0],
        "text": text,
        "source": source,
        "version": cls.version,
        "parameters": parameters,
    }


def required_parameters(cls: type) -> set[str]:
    """Return the names of the constructor parameters that have no default."""
    signature = inspect.signature(cls).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {item.name for item in signature if item.default is item.empty and item.kind in named}


_required = functools.cache(required_parameters)  # of plugins, which are checked at every task


def default_parameters(cls: type) -> dict[str, Any]:
    """Return the constructor parameters that have a default, with their defaults."""
    signature = inspect.signature(cls).parameters.values()
    return {item.name: item.default for item in signature if item.default is not item.empty}


def _origin(offer: EntryPoint) -> str:
    return f"{offer.dist.name} {offer.dist.version}" if offer.dist else f"that has {offer.value}"
