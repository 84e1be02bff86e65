"""Permission to import: the packages, besides scikit-learn, whose classes a config may name.

A config can come from another person, and importing a module executes it. Only the user gives the permission:
``--allow-import PACKAGE`` of a command, or ``allow_import`` in Python. A config cannot give it.
"""

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from confml.errors import ConfigError

Function = TypeVar("Function", bound=Callable[..., Any])
OWN = ("sklearn", "confml")  # packages that need no permission


@dataclass(frozen=True)
class ImportPermission:
    """Packages that may be imported by name.

    packages: names of packages or modules; each permits its submodules too. folder: the folder in which
    modules that are not installed are looked for.
    """

    packages: tuple[str, ...] = ()
    folder: str | None = None

    def permits(self, name: str) -> bool:
        """Return whether a dotted name is inside a permitted package."""
        return any(name.startswith(f"{package}.") for package in self.packages)


NO_PERMISSION = ImportPermission()
_PERMISSION: ContextVar[ImportPermission] = ContextVar("import_permission", default=NO_PERMISSION)


def import_permission() -> ImportPermission:
    """Return the permission that is in force."""
    return _PERMISSION.get()


@contextlib.contextmanager
def allow_imports(packages: Sequence[str] | str) -> Iterator[None]:
    """Permit configs to name classes of these packages inside the block, besides those permitted before.

    Modules that are not installed are looked for in the current folder. Raises ConfigError for a text that
    is not the name of a package.
    """
    names = (packages,) if isinstance(packages, str) else tuple(packages)
    for name in names:
        if not isinstance(name, str) or not is_dotted_name(f"{name}.x"):
            hint = "it is the name in an import statement, such as xgboost"
            raise ConfigError(f"--allow-import expects the name of a package, got {name!r}", hint=hint)
    before = import_permission()
    folder = os.getcwd() if names else before.folder
    with permission_in_force(ImportPermission((*before.packages, *names), folder)):
        yield


def with_allowed_imports(function: Function) -> Function:
    """Decorate a function with a keyword ``allow_import``: these packages are permitted while it runs."""

    @functools.wraps(function)
    def permitted(*args: Any, **kwargs: Any) -> Any:
        with allow_imports(kwargs.get("allow_import", ())):
            return function(*args, **kwargs)

    return cast(Function, permitted)


@contextlib.contextmanager
def permission_in_force(permission: ImportPermission) -> Iterator[None]:
    """Replace the permission inside the block, for example in a worker process."""
    token = _PERMISSION.set(permission)
    try:
        yield
    finally:
        _PERMISSION.reset(token)


@contextlib.contextmanager
def without_output() -> Iterator[None]:
    """Discard the text that other people's code prints; stdout is for the data of a command.

    A command runs in the main thread. All threads share stdout, and blocks of several that overlap could not
    restore it, so nothing is discarded in other threads.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def is_dotted_name(text: Any) -> bool:
    """Return whether a value is a text like ``package.module.Class``."""
    return isinstance(text, str) and "." in text and all(map(str.isidentifier, text.split(".")))


def find_object(name: str, noun: str) -> Any:
    """Return the object ``package.module.Class`` of a permitted package.

    noun: the word for it in messages. Raises ConfigError for a package that is not permitted, not installed
    or broken, and for an unknown name.
    """
    package = name.partition(".")[0]
    if not is_dotted_name(name):
        raise ConfigError(f"unknown {noun} '{name}'", hint="a dotted name is like package.module.Class")
    if not import_permission().permits(name):
        raise ConfigError(
            f"{noun} '{name}' needs the import of {package}, and only scikit-learn is allowed",
            hint=f'if you trust it, add --allow-import {package} (in Python: allow_import=["{package}"])',
        )
    module_name, _, attribute = name.rpartition(".")
    module = _imported(module_name, name, noun)
    if not hasattr(module, attribute):
        estimators = [key for key, value in vars(module).items() if hasattr(value, "fit") and key[0] != "_"]
        raise ConfigError(f"the module {module_name} has no '{attribute}'", near=(attribute, estimators))
    return getattr(module, attribute)


def is_installed(package: str) -> bool:
    """Return whether a top-level package or module can be found; it is not imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False
    except ValueError:  # a module without a specification, such as __main__, is imported already
        return True


def package_version(name: str) -> tuple[str, str]:
    """Return (package, version) of a dotted name that was imported.

    The package is the installed distribution. A module without one has the SHA-256 of its source files as
    its version.
    """
    return _package_version(name.partition(".")[0])


@functools.cache
def _package_version(package: str) -> tuple[str, str]:
    for distribution in importlib.metadata.packages_distributions().get(package, ()):
        return distribution, importlib.metadata.version(distribution)
    digest = hashlib.sha256()
    for path in _sources(importlib.import_module(package)):
        digest.update(path.read_bytes())
    return package, f"sha256 {digest.hexdigest()[:16]}"


def _sources(module: ModuleType) -> list[Path]:
    """Return the source files of a package or module, sorted; none for a compiled module."""
    folders = getattr(module, "__path__", ())
    files = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    file = Path(getattr(module, "__file__", None) or "")
    return files if folders or file.suffix != ".py" else [file]


def _imported(module_name: str, name: str, noun: str) -> Any:
    package = module_name.partition(".")[0]
    folder = import_permission().folder
    if folder is not None and not is_installed(package):
        if (Path(folder) / f"{package}.py").is_file() or (Path(folder) / package).is_dir():
            sys.path.append(folder)  # at the end: installed packages have priority
            importlib.invalidate_caches()
    try:
        with without_output():
            return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else None
        message = f"importing {module_name} raises {type(error).__name__}: {error}"
        hint: str | None = f"try python -c 'import {module_name}'"
        if missing == package:
            message = f"{package} is not installed; the folder {folder} has no module of that name either"
            hint = f"install {package}, or start confml in the folder of {package}.py"
        elif missing is not None and f"{module_name}.".startswith(f"{missing}."):
            message, hint = f"there is no module {missing}", None
        raise ConfigError(f"{noun} '{name}': {message}", hint=hint) from error
