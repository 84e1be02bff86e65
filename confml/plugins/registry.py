"""`PluginRegistry`: the classes of one kind (methods, steps) by name, confml's own and other packages'."""

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeGuard, TypeVar

from confml.errors import ConfigError, ConfmlError
from confml.plugins.docstrings import described_text
from confml.plugins.parameters import MissingParameter, Parameter, check_parameters


class Plugin(Protocol):
    """The class attributes that the classes of every kind have."""

    name: ClassVar[str]
    version: ClassVar[int]
    parameters: ClassVar[Mapping[str, Parameter]]

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None: ...


Kind = TypeVar("Kind", bound=Plugin)
_NAME = re.compile(r'^    name(?:: ClassVar(?:\[str\])?)? = "([^"]+)"', re.MULTILINE)
_CLASS = re.compile(r'^class \w[^\n]*:\n    """([^\n]*?)(?:"""|\n)', re.MULTILINE)


@functools.cache
def read_sources(package: str) -> dict[str, tuple[str, str]]:
    """Return the module and the summary of each name that a class of a package has in its source, sorted.

    Nothing of the package is imported, so that a list of methods does not wait for their libraries.
    """
    found = {}
    spec = importlib.util.find_spec(package)
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        for path in folder.rglob("*.py"):
            module_name = path.relative_to(folder).with_suffix("").parts[0]
            text = "" if module_name.startswith("_") else path.read_text(encoding="utf-8")
            for name in _NAME.finditer(text):
                summaries = [match[1] for match in _CLASS.finditer(text, 0, name.start())]
                found[name[1]] = (module_name, summaries[-1] if summaries else "")
    return dict(sorted(found.items()))


class PluginRegistry(Generic[Kind]):
    """The classes of one kind that a config can name: methods, or steps.

    noun: the word for one of them in messages.
    package: the package that holds confml's own classes, each in a module or folder of its own; names that
        begin with "_" are skipped.
    base: the class that all of them derive from.
    group: the entry point group of other packages' classes, as ``name = "their_package.module:Class"``. Such
        a class is imported only when it is asked for; one that cannot be imported does not affect the others.
    """

    def __init__(self, noun: str, package: str, base: type, group: str):
        self.noun, self.package, self.base, self.group = noun, package, base, group

    @functools.cached_property
    def built_in(self) -> dict[str, type[Kind]]:
        """confml's own classes, sorted by name; all modules of the package are imported.

        Raises ConfmlError for two of one name.
        """
        found: dict[str, type[Kind]] = {}
        folder = importlib.import_module(self.package).__path__
        for module_name in sorted(info.name for info in pkgutil.iter_modules(folder)):
            if module_name.startswith("_"):
                continue
            for cls in self._classes_of(module_name):
                if cls.name in found:
                    raise ConfmlError(
                        f"two classes have the name of {self.noun} '{cls.name}': {found[cls.name]}, {cls}"
                    )
                found[cls.name] = cls
        return dict(sorted(found.items()))

    def _classes_of(self, module_name: str) -> Iterator[type[Kind]]:
        """Yield the classes of a module of the package."""
        module = importlib.import_module(f"{self.package}.{module_name}")
        for cls in vars(module).values():
            # A class belongs to its file, or to the folder whose `__init__` names it.
            if self._is_named(cls) and f"{cls.__module__}.".startswith(f"{module.__name__}."):
                yield cls

    @functools.cache  # noqa: B019  (registries live as long as the process)
    def own_class(self, name: str) -> type[Kind] | None:
        """Return confml's own class of this name; only its module is imported, if its source has the name."""
        sources = read_sources(self.package)
        if name in sources:
            for cls in self._classes_of(sources[name][0]):
                if cls.name == name:
                    return cls
        # A name that is not in a source file as it is must not import all modules, if it is dotted.
        return None if "." in name else self.built_in.get(name)

    def has(self, name: str) -> bool:
        """Return whether there is a class of this name, without importing any."""
        return name in read_sources(self.package) or any(offer.name == name for offer in self._entry_points)

    @functools.cached_property
    def _entry_points(self) -> list[EntryPoint]:
        """Entry points of the group by name: the search reads the metadata of all installed packages."""
        return sorted(entry_points(group=self.group), key=lambda offer: (offer.name, offer.value))

    @functools.cached_property
    def offers(self) -> dict[str, list[EntryPoint]]:
        """Entry points of other packages by name, not yet imported; confml's own names are skipped."""
        offers: dict[str, list[EntryPoint]] = {}
        for offer in self._entry_points:
            if offer.name not in self.built_in:
                offers.setdefault(offer.name, []).append(offer)
        return offers

    def names(self) -> list[str]:
        """Return every name that a config may use, sorted; those of other packages are not imported."""
        return sorted([*self.built_in, *self.offers])

    def known(self) -> dict[str, type[Kind]]:
        """Return all classes that can be imported, sorted by name."""
        found = dict(self.built_in)
        for name in self.offers:
            try:
                found[name] = self.find(name)
            except ConfmlError:
                continue  # `find` reports it when it is asked for by name, and `broken` lists it
        return dict(sorted(found.items()))

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
        cls = self.own_class(name)
        if cls is not None:
            return cls
        offers = self.offers.get(name)
        if not offers:
            raise ConfigError(f"unknown {self.noun} '{name}'", near=(name, self.names()))
        if len(offers) > 1:
            packages = " and ".join(_origin(offer) for offer in offers)
            raise ConfmlError(
                f"{self.noun} '{name}' is offered by {packages}", hint="uninstall all but one of them"
            )
        return self._load(name, offers[0])

    def source(self, name: str) -> str:
        """Return where the class comes from: ``confml``, or another package with its version."""
        return (
            "confml" if name in self.built_in else " and ".join(_origin(offer) for offer in self.offers[name])
        )

    def check(self, name: str, params: Mapping[str, Any]) -> None:
        """Raise ConfigError unless ``name`` is known and can be built with exactly these parameters.

        A mistake in a parameter raises a `ParameterError`: first names and values, then parameters that are
        missing, then those that cannot be combined (``check_combination`` of the class).
        """
        self.check_class(name, self.find(name), params)

    def check_class(self, name: str, cls: type[Kind], params: Mapping[str, Any]) -> None:
        """Check the parameters of a class that a config names ``name``.

        Raises the errors of `check`, such as `MissingParameter`.
        """
        owner = f"{self.noun} '{name}'"
        check_parameters(owner, cls.parameters, params)
        for missing in sorted(_required(cls) - set(params)):
            expected = cls.parameters[missing].expected()
            message = f"{owner} needs the parameter '{missing}': {expected}"
            raise MissingParameter(owner, missing, expected=expected, message=message)
        cls.check_combination(params)

    def describe(self, name: str) -> dict[str, Any]:
        """Return the documentation as plain data: name, summary, text, source, version, parameters."""
        return self.describe_class(name, self.find(name), self.source(name))

    def describe_class(self, name: str, cls: type[Kind], source: str) -> dict[str, Any]:
        """Return the documentation of a class that a config names ``name``, as `describe` does."""
        text = described_text(cls)
        defaults = default_parameters(cls)
        parameters = []
        for parameter, rule in cls.parameters.items():
            entry = {"name": parameter, "about": rule.about, "expected": rule.expected()}
            parameters.append(entry | ({"default": defaults[parameter]} if parameter in defaults else {}))
        return {
            "name": name,
            "summary": text.partition("\n")[0],
            "text": text,
            "source": source,
            "version": cls.version,
            "parameters": parameters,
        }

    def _is_named(self, cls: Any) -> TypeGuard[type[Kind]]:
        return (
            inspect.isclass(cls)
            and issubclass(cls, self.base)
            and cls is not self.base
            and isinstance(getattr(cls, "name", None), str)
        )

    def _load(self, name: str, offer: EntryPoint) -> type[Kind]:
        try:
            cls = offer.load()
        except Exception as error:
            raise ConfmlError(
                f"{self.noun} '{name}' of the package {_origin(offer)} cannot be imported from "
                f"{offer.value}: {type(error).__name__}: {error}",
                hint="reinstall or uninstall that package",
            ) from error
        if not self._is_named(cls):
            expected = f"a subclass of {self.base.__module__}.{self.base.__qualname__} with a name"
            got = f"{offer.value} is {cls!r}"
            raise ConfmlError(
                f"{self.noun} '{name}' of the package {_origin(offer)} must be {expected}, but {got}"
            )
        if cls.name != name:
            raise ConfmlError(
                f"the package {_origin(offer)} offers {offer.value} as {self.noun} '{name}', "
                f"but its own name is '{cls.name}'",
                hint="the two names must be the same",
            )
        return cls


def required_parameters(cls: type) -> set[str]:
    """Return the names of the constructor parameters that have no default."""
    signature = inspect.signature(cls).parameters.values()
    return {
        one.name
        for one in signature
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }


_required = functools.cache(required_parameters)  # of plugins, which are checked at every task


def default_parameters(cls: type) -> dict[str, Any]:
    """Return the constructor parameters that have a default, with their defaults."""
    signature = inspect.signature(cls).parameters.values()
    return {one.name: one.default for one in signature if one.default is not one.empty}


def _origin(offer: EntryPoint) -> str:
    return f"{offer.dist.name} {offer.dist.version}" if offer.dist else f"that has {offer.value}"
