"""Estimators of other packages than scikit-learn: checks of their interface and parameters."""

import functools
import inspect
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from confml._sklearn import clone
from confml.errors import ConfigError, did_you_mean
from confml.plugins.imports import OWN
from confml.plugins.parameters import MissingParameter, UnknownParameter
from confml.plugins.registry import required_parameters

# Parameters with the number of threads. None stands for all cores in most packages; a task uses one.
THREADS = ("n_jobs", "nthread", "thread_count", "num_threads")
# A keyword of an open list (**kwargs) that is so similar to a parameter is taken for a mistake.
_MISTAKE = 0.85


def is_foreign(estimator: Any) -> bool:
    """Return whether an estimator, or one inside it, is of another package than scikit-learn and confml."""
    return any(type(one).__module__.partition(".")[0] not in OWN for one in nested(estimator))


def nested(estimator: Any) -> Iterator[Any]:
    """Iterate over an estimator and those among its parameters, at any depth."""
    yield estimator
    for value in _values(estimator):
        if hasattr(value, "get_params") and not inspect.isclass(value):
            yield from nested(value)


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


def new_foreign(name: str, source: Any, params: Mapping[str, Any]) -> Any:
    """Return an estimator of a class with parameters of its constructor, or a copy of an estimator.

    Raises ConfigError for an unknown or missing parameter, and for an error of the constructor.
    """
    if not inspect.isclass(source):
        return _copied(name, source)
    known, is_open = known_parameters(source)
    for key in params:
        if key not in known and not (is_open and _is_no_mistake(key, known)):
            hint = did_you_mean(key, sorted(known)) or "it has none"
            raise UnknownParameter(source.__name__, key, hint=hint)
    for missing in sorted(required_parameters(source) - set(params)):
        raise MissingParameter(source.__name__, missing)
    try:
        estimator = source(**params)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{name} with these parameters raises {type(error).__name__}: {error}") from error
    return _copied(name, estimator)


def use_one_thread(estimator: Any) -> None:
    """Set the number of threads of estimators of other packages to 1, where it is not given."""
    for one in nested(estimator):
        if type(one).__module__.partition(".")[0] in OWN:
            continue
        known, _ = known_parameters(type(one))
        current = one.get_params(deep=False)
        names = [name for name in THREADS if name in known]
        if names and all(current.get(name) is None for name in names):
            one.set_params(**{names[0]: 1})


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


def accepts_keyword(estimator: Any, key: str) -> bool:
    """Return whether an estimator of another package has an open list of parameters that can hold ``key``."""
    if not hasattr(estimator, "get_params") or type(estimator).__module__.partition(".")[0] in OWN:
        return False
    known, is_open = known_parameters(type(estimator))
    return is_open and _is_no_mistake(key, known)


def _is_no_mistake(key: str, known: frozenset[str]) -> bool:
    return all(SequenceMatcher(None, key.casefold(), one.casefold()).ratio() < _MISTAKE for one in known)


def _copied(name: str, estimator: Any) -> Any:
    """Return a copy of an estimator with its parameters, as scikit-learn makes it before each fit."""
    try:
        return clone(estimator)
    except Exception as error:
        raise ConfigError(
            f"{name} cannot be copied with its parameters: {str(error).partition(chr(10))[0]}",
            hint="its constructor must store each argument unchanged, under the argument's name",
        ) from error


def _values(estimator: Any) -> Iterator[Any]:
    """Iterate over the values of an estimator's parameters, also those in lists of (name, estimator)."""
    if not hasattr(estimator, "get_params"):
        return
    try:
        values = list(estimator.get_params(deep=False).values())
    except Exception:  # an estimator that is not complete, such as a wrapper without its estimator
        return
    for value in values:
        if isinstance(value, list | tuple):
            for item in value:
                yield from item if isinstance(item, list | tuple) else (item,)
        else:
            yield value
