"""Methods and steps: that they exist, that their parameters and all values of grids fit, none twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from confml.config import grids
from confml.config.checks import Checker
from confml.config.schema import MethodEntry, StepSpec
from confml.errors import ConfmlError
from confml.plugins.parameters import IncompatibleParameters, MissingParameter, ParameterError
from confml.yaml import got

Check = Callable[[str, Mapping[str, Any]], None]

ABOUT_SEVERAL = (MissingParameter, IncompatibleParameters)  # errors that other parameters can remove
MOST_VALUES = 1000  # of a series (1..50000) that are checked, half at each end; lists are checked whole
MOST_POINTS = 200  # combinations that are checked as such, for parameters that do not go together


def check_steps(checker: Checker) -> None:
    """Unknown steps, and parameters that do not fit."""
    from confml.steps.registry import check_step

    for place, step, _ in checker.entries(StepSpec, "steps"):
        checker.same_key_twice(place)
        if _is_known(checker, check_step, step.name, place):
            found = checker.problems.noted
            _check_fixed(checker, check_step, step.name, step.params, place)
            if checker.problems.noted == found:
                _check_whole(checker, check_step, step.name, step.params, place)


def check_methods(checker: Checker) -> None:
    """Unknown methods, parameters that do not fit, grids in conflict, variants that stand twice."""
    from confml.methods.registry import check

    seen: dict[str, tuple] = {}
    for place, entry, whole in checker.entries(MethodEntry, "methods"):
        found = checker.problems.noted
        for holder in (place, (*place, "sweep"), (*place, "tune")):
            checker.same_key_twice(holder)
        if "select_by" in entry.model_fields_set and not entry.tune and whole:
            message = "it chooses among the values of tune, and there are none"
            checker.add((*place, "select-by"), message, at_key=True)
        if not _is_known(checker, check, entry.name, place):
            continue
        _check_fixed(checker, check, entry.name, entry.params, place)
        _check_conformal(checker, check, entry, place)
        _check_grids(checker, check, entry, place)
        if not whole or checker.problems.noted > found:
            continue
        points = itertools.product(entry.variants(), entry.tune_grid())
        for variant, point in itertools.islice(points, MOST_POINTS):
            if not _check_whole(checker, check, entry.name, {**entry.given, **variant, **point}, place):
                break
        _check_twice(checker, entry, place, seen)


def _problem(check: Check, name: str, params: Mapping[str, Any]) -> ConfmlError | None:
    """Return the error that a registry raises for a name with these parameters."""
    try:
        check(name, params)
    except ConfmlError as error:
        return error
    return None


def _is_known(checker: Checker, check: Check, name: str, place: tuple) -> bool:
    error = _problem(check, name, {})
    if error is None or isinstance(error, ABOUT_SEVERAL):
        return True
    checker.say((*place, "name"), error.message, error.hint)
    return False


def _check_fixed(checker: Checker, check: Check, name: str, params: Mapping[str, Any], place: tuple) -> None:
    for parameter, value in params.items():
        error = _problem_with(check, name, parameter, value)
        if error is not None:
            checker.tell(error, parameter, value, (*place, "params", parameter))


def _check_conformal(checker: Checker, check: Check, entry: MethodEntry, place: tuple) -> None:
    """A method that cannot be made conformal so, and tuning that would see what calibrates."""
    if entry.conformal is not None:
        error = _problem(check, entry.name, entry.conformal.as_params())
        if error is not None and not isinstance(error, ABOUT_SEVERAL):
            checker.add((*place, "conformal"), error.message, error.hint)
        if entry.conformal.kind == "cross" and entry.tune:
            message = "a choice for each fold of conformal: cross is not possible"
            checker.add((*place, "tune"), message, "take conformal: split, or a value", at_key=True)
    for parameter in entry.tune:
        if parameter.partition("__")[0] == "conformal":
            at, hint = (*place, "tune", parameter), "sweep it: each value is then reported"
            checker.add(at, "accuracy cannot tell conformal predictors apart", hint, at_key=True)


def _check_grids(checker: Checker, check: Check, entry: MethodEntry, place: tuple) -> None:
    for kind, grid in (("sweep", entry.sweep), ("tune", entry.tune)):
        for parameter in grid:
            at = (*place, kind, parameter)
            if parameter in entry.params:
                message = f"it has a fixed value too{checker.line((*place, 'params', parameter))}"
                checker.add(at, message, "a parameter is fixed, swept or tuned", at_key=True)
            elif kind == "tune" and parameter in entry.sweep:
                checker.add(at, "it is swept too", "a parameter is fixed, swept or tuned", at_key=True)
            else:
                _check_values(checker, check, entry.name, parameter, at)
        if grids.size(grid) > grids.LARGEST:
            message = f"{grids.size(grid):,} combinations, expected at most {grids.LARGEST:,}"
            checker.add((*place, kind), message, at_key=True)


def _check_values(checker: Checker, check: Check, name: str, parameter: str, place: tuple) -> None:
    """The first value of a grid that does not fit."""
    for index, values in grids.parts(checker.root.at(place).plain()):
        if len(values) > MOST_VALUES:
            values = values[: MOST_VALUES // 2] + values[-MOST_VALUES // 2 :]
        for value in values:
            error = _problem_with(check, name, parameter, value)
            if error is not None:
                checker.tell(error, parameter, value, place if index is None else (*place, index))
                return


def _check_whole(checker: Checker, check: Check, name: str, params: Mapping, place: tuple) -> bool:
    """Parameters that are missing, or that fit each alone and not together."""
    error = _problem(check, name, params)
    if isinstance(error, ParameterError) and not isinstance(error, MissingParameter):
        at = (*place, "params", *error.parameter.split("."))
        checker.tell(error, error.parameter, error.value, at)
    elif error is not None:
        checker.add(place, error.message, error.hint)
    return error is None


def _check_twice(checker: Checker, entry: MethodEntry, place: tuple, seen: dict[str, tuple]) -> None:
    """A variant that another entry, or this one, has: results are told apart by method and parameters."""
    for variant in entry.variants():
        params = {**entry.given, **variant}
        identity = grids.identity([entry.name, params])
        if identity in seen:
            shown = ", ".join(f"{key}={got(value)}" for key, value in params.items())
            what = f"'{entry.name}' with {shown}" if shown else f"'{entry.name}' without given parameters"
            first = seen[identity]
            where = f"{first[0]}.{first[1]}{checker.line(first, at_key=False)}"
            checker.say(place, f"method {what} stands twice, in {where} too")
            return
        seen[identity] = place


def _problem_with(check: Check, name: str, parameter: str, value: Any) -> ConfmlError | None:
    """Return the error of one parameter on its own; what depends on others is checked of all together."""
    error = _problem(check, name, {parameter: value})
    return None if isinstance(error, ABOUT_SEVERAL) else error
