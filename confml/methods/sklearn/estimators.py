"""Estimators of scikit-learn and of other packages, made from the parameters of a config and checked."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from sklearn.base import clone, is_classifier

from confml.errors import ConfigError, did_you_mean
from confml.methods.sklearn.names import find_classifier, find_estimator, known_parameters
from confml.plugins.imports import OWN, import_permission, is_dotted_name
from confml.plugins.parameters import BadValue, MissingParameter, UnknownParameter
from confml.plugins.registry import required_parameters

# Parameters with the number of threads. None stands for all cores in most packages; a task uses one.
THREADS = ("n_jobs", "nthread", "thread_count", "num_threads")
# A keyword of an open list (**kwargs) that is so similar to a parameter is taken for a mistake.
_MISTAKE = 0.85
_NAMED = "names and classes", "[[one, sklearn.naive_bayes.GaussianNB]]"
_ONE = "one", "sklearn.linear_model.LogisticRegression"
_EXAMPLES = {"estimator": _ONE, "steps": _NAMED, "estimators": _NAMED}


def new_classifier(name: str, params: Mapping[str, Any]) -> Any:
    """Return an unfitted classifier by dotted name, of scikit-learn or of a permitted package.

    Raises ConfigError for an unknown name, an unknown or missing parameter, or a value that is not accepted.
    """
    estimator = new_estimator(name, find_classifier(name), params)
    if not _is_classifier(estimator):
        raise ConfigError(
            f"{name} with these parameters is not a classifier",
            hint=None if name.startswith("sklearn.") else "an own class needs sklearn.base.ClassifierMixin",
        )
    return estimator


def new_estimator(name: str, source: Any, params: Mapping[str, Any]) -> Any:
    """Return an unfitted estimator: of a class, or a copy of an estimator, with parameters. Errors as above.

    name: dotted name, for messages. source: class or estimator of this name.
    """
    first = {key: value for key, value in params.items() if "__" not in key}
    for key, value in first.items():
        check_side_effects(source, key, value)
    if not inspect.isclass(source):  # its parameters are set below, at any depth
        first = {}
    estimator = _new(name, source, {key: _as_value(value) for key, value in first.items()})
    set_parameters(estimator, {key: value for key, value in params.items() if key not in first})
    check_values(estimator)
    use_one_thread(estimator)
    return estimator


def _new(name: str, source: Any, params: Mapping[str, Any]) -> Any:
    """Return an estimator of a class with parameters of its constructor, or a copy of an estimator.

    Raises ConfigError for an unknown or missing parameter, and for an error of the constructor.
    """
    if not inspect.isclass(source):
        return _copied(name, source)
    names, is_open = known_parameters(source)
    for key in params:
        if key not in names and not (is_open and _is_no_mistake(key, names)):
            hint = None if names else "it has none"
            raise UnknownParameter(source.__name__, key, near=(key, sorted(names)), hint=hint)
    for missing in sorted(required_parameters(source) - set(params)):
        example = _EXAMPLES.get(missing)
        hint = None if example is None else f"give {example[0]}, as {missing}: {example[1]}"
        raise MissingParameter(source.__name__, missing, hint=hint)
    try:
        estimator = source(**params)
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{name} with these parameters raises {type(error).__name__}: {error}") from error
    return _copied(name, estimator)


def _is_classifier(estimator: Any) -> bool:
    if getattr(estimator, "_estimator_type", None) == "classifier":
        return True
    try:
        return is_classifier(estimator)
    except Exception:  # an estimator without tags, or a pipeline whose steps are wrong
        return False


def check_values(estimator: Any, prefix: str = "") -> None:
    """Raise ConfigError for a parameter value that scikit-learn does not accept, at any depth."""
    if hasattr(estimator, "_validate_params") and hasattr(estimator, "_parameter_constraints"):
        try:
            estimator._validate_params()
        except ValueError as error:
            raise _reworded(error, estimator, prefix) from None
    values = estimator.get_params(deep=False)
    if values.get("decision_function_shape") == "ovo":
        owner, hint = type(estimator).__name__, "a margin needs one column for each class"
        raise BadValue(owner, f"{prefix}decision_function_shape", "ovo", "'ovr'", hint=hint)
    for name, value in estimator.get_params().items():  # deep: also the estimators of a pipeline
        if "__" not in name and hasattr(value, "get_params") and not isinstance(value, type):
            check_values(value, f"{prefix}{name}__")


def set_parameters(estimator: Any, params: Mapping[str, Any]) -> None:
    """Call ``set_params``, outer parameters first: inner ones belong to them. Raises a `ParameterError`."""
    for key in sorted(params, key=lambda name: name.count("__")):
        current = estimator.get_params()
        owner, _, inner = key.rpartition("__")
        if key not in current and not accepts_keyword(current.get(owner) if owner else estimator, inner):
            if owner and current.get(owner, inner) is None:
                raise MissingParameter(key, owner, hint=f"name a classifier as {owner}")
            raise _unknown(type(estimator).__name__, key, current)
        check_side_effects(current.get(owner) if owner else estimator, key, params[key])
        estimator.set_params(**{key: _as_value(params[key])})


def _as_value(value: Any) -> Any:
    """Return the classifier of a dotted name, with classes in lists of [name, class]; other values unchanged.

    A dotted name of a package that is not permitted is a text like any other.
    """
    if _is_class_name(value):
        return new_classifier(value, {})
    if isinstance(value, list) and any(_is_named_class(item) for item in value):
        return [
            (item[0], new_estimator(item[1], find_estimator(item[1], "estimator", ("fit", "get_params")), {}))
            if _is_named_class(item)
            else (tuple(item) if isinstance(item, list) else item)
            for item in value
        ]
    return value


def _is_class_name(value: Any) -> bool:
    return is_dotted_name(value) and (value.startswith("sklearn.") or import_permission().permits(value))


def _is_named_class(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and _is_class_name(item[1])


def _unknown(owner: str, key: str, names) -> UnknownParameter:
    outer = key.partition("__")[0]
    return UnknownParameter(owner, key, near=(key if outer in names else outer, names))


def _reworded(error: ValueError, estimator: Any, prefix: str) -> ConfigError:
    """Return scikit-learn's "The 'C' parameter of SVC must be a ... Got -1 instead." as a `BadValue`.

    The text is parsed, because scikit-learn's error has no attributes.
    """
    form = re.fullmatch(r"The '(\w+)' parameter of \w+ must be (.*)\. Got .* instead\.", str(error), re.S)
    if not form:
        return ConfigError(str(error))
    name, must = form.groups()
    value = estimator.get_params(deep=False)[name]
    words = re.findall(r"'([^']*)'", " ".join(re.findall(r"a str among \{.*?\}", must)))
    must = re.sub(r"a str among \{.*?\}", "one of " + ", ".join(sorted(words)), must)
    must = must.replace("an instance of ", "")
    hint = did_you_mean(str(value), words, list_all=False)
    if is_dotted_name(value):
        hint = f"if it is a class, --allow-import {value.partition('.')[0]} allows its import"
    return BadValue(type(estimator).__name__, f"{prefix}{name}", value, must, hint=hint)


# ---- other packages than scikit-learn


def is_foreign(estimator: Any) -> bool:
    """Return whether an estimator, or one inside it, is of another package than scikit-learn and confml."""
    return any(type(part).__module__.partition(".")[0] not in OWN for part in nested(estimator))


def nested(estimator: Any) -> Iterator[Any]:
    """Iterate over an estimator and those among its parameters, at any depth."""
    yield estimator
    for value in _values(estimator):
        if hasattr(value, "get_params") and not inspect.isclass(value):
            yield from nested(value)


def use_one_thread(estimator: Any) -> None:
    """Set the number of threads of estimators of other packages to 1, where it is not given."""
    for part in nested(estimator):
        if type(part).__module__.partition(".")[0] in OWN:
            continue
        accepted, _ = known_parameters(type(part))
        current = part.get_params(deep=False)
        names = [name for name in THREADS if name in accepted]
        if names and all(current.get(name) is None for name in names):
            part.set_params(**{names[0]: 1})


def accepts_keyword(estimator: Any, key: str) -> bool:
    """Return whether an estimator of another package has an open list of parameters that can hold ``key``."""
    if not hasattr(estimator, "get_params") or type(estimator).__module__.partition(".")[0] in OWN:
        return False
    names, is_open = known_parameters(type(estimator))
    return is_open and _is_no_mistake(key, names)


def _is_no_mistake(key: str, names: frozenset[str]) -> bool:
    return all(SequenceMatcher(None, key.casefold(), name.casefold()).ratio() < _MISTAKE for name in names)


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


# ---- parameters with which a config could execute files, evaluate texts or start processes

# A config can come from another person, so it may set these parameters to harmless values only. Estimators
# that are made in Python are not checked.


class _Rule(NamedTuple):
    """Harmless values of a parameter: the test, its words after "must be", and the reason."""

    accepts: Callable[[Any], bool]
    expected: str
    reason: str


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, str) or bool(re.fullmatch(pattern, value))


def _is_null_or_1(value: Any) -> bool:
    return value is None or (value == 1 and value is not True)


_PRODUCT, _PATH = _matches(r"all|([1-9]\d?\s*\*\s*)?n_jobs"), _matches(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*")
RULES = {
    "memory": _Rule(lambda value: value is None, "null", "a cache executes the files of its folder"),
    "n_jobs": _Rule(_is_null_or_1, "null or 1", "--jobs sets the number of tasks at the same time"),
    "pre_dispatch": _Rule(_PRODUCT, "a number, all or 2*n_jobs", "it is evaluated"),
    "importance_getter": _Rule(_PATH, "auto or the name of an attribute", "it is evaluated"),
    "verbose_feature_names_out": _Rule(_matches(r"(?!)"), "true or false", "a text is evaluated as a format"),
}


def check_side_effects(estimator: Any, name: str, value: Any) -> None:
    """Raise `BadValue` for a parameter, or for a name in a grid of parameters, whose value is not harmless.

    estimator: the class or estimator that has the parameter. ``memory`` is checked for every package, because
    classes derived from scikit-learn's inherit it; the others for scikit-learn only.
    """
    cls = estimator if isinstance(estimator, type) else type(estimator)
    last = name.rpartition("__")[2].rpartition(".")[2]
    if last in RULES and (last == "memory" or cls.__module__.startswith("sklearn.")):
        for element in value if isinstance(value, list | tuple) else [value]:
            if not RULES[last].accepts(element):
                raise BadValue(cls.__name__, name, element, RULES[last].expected, hint=RULES[last].reason)
    for part in value if isinstance(value, list | tuple) else [value]:
        if isinstance(part, Mapping):
            for key, inner in part.items():
                check_side_effects(cls, f"{name}.{key}", inner)
