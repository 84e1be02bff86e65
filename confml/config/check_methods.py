"""Checks of methods and steps: names, parameters, all values of grids, and variants that are unique."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from confml.config import grids
from confml.config.draft import Draft
from confml.config.method_entry import MethodEntry
from confml.config.schema import StepSpec
from confml.data.memory import most, raised_by
from confml.errors import ConfmlError, did_you_mean
from confml.plugins.by import BEST_OF
from confml.plugins.parameters import IncompatibleParameters, MissingParameter, ParameterError
from confml.yaml import flow, got

Check = Callable[[str, Mapping[str, Any]], None]

ABOUT_SEVERAL = (MissingParameter, IncompatibleParameters)  # errors that other parameters can remove
TUNED_IN_VAIN = {"conformal": "conformal predictors", "venn": "Venn-Abers predictors"}
ONE_PART = {"conformal": "split", "venn": "inductive"}
MOST_VALUES = 1000  # of a long series (1..50000) that are checked, half at each end
MOST_POINTS = 200  # combinations of values that are checked for parameters that cannot be combined


def check_steps(draft: Draft) -> None:
    """Note unknown steps and wrong parameters."""
    from confml.steps.registry import check_step

    for place, step in draft.entries(StepSpec, "steps"):
        draft.same_key_twice(place)
        if _is_known(draft, check_step, step.name, place):
            found = draft.problems.noted
            _check_fixed(draft, check_step, step.name, step.params, place)
            if draft.problems.noted == found:
                _check_whole(draft, check_step, step.name, step.params, place)


def check_methods(draft: Draft) -> None:
    """Note unknown methods, wrong parameters, grids in conflict, and variants that are listed twice."""
    from confml.methods.registry import check

    seen: dict[str, tuple] = {}
    files: dict[str, Path] = {}
    for place, entry in draft.entries(MethodEntry, "methods"):
        found = draft.problems.noted
        for holder in (place, (*place, "sweep"), (*place, "tune")):
            draft.same_key_twice(holder)
        if "select_by" in entry.model_fields_set and not entry.tune:
            message = "it chooses among the values of tune, and there are none"
            draft.add((*place, "select-by"), message, at_key=True)
        if entry.select_by == "cost" and draft.root.child("costs") is None:
            message = "cost needs the costs of mistakes"
            draft.add((*place, "select-by"), message, "add costs: to the config (a mapping or a file)")
        if not _is_known(draft, check, entry.name, place):
            continue
        _check_fixed(draft, check, entry.name, entry.params, place)
        _check_files(draft, entry, place, files)
        _check_wrappers(draft, check, entry, place)
        _check_grids(draft, check, entry, place)
        if draft.problems.noted > found:
            continue
        points = itertools.product(entry.variants(), entry.tune_grid())
        for variant, point in itertools.islice(points, MOST_POINTS):
            if not _check_whole(draft, check, entry.name, {**entry.given, **variant, **point}, place):
                break
        _check_twice(draft, entry, place, seen)


def _problem(check: Check, name: str, params: Mapping[str, Any]) -> ConfmlError | None:
    """Return the error that a registry raises for a name with these parameters."""
    try:
        check(name, params)
    except ConfmlError as error:
        return error
    return None


def _is_known(draft: Draft, check: Check, name: str, place: tuple) -> bool:
    error = _problem(check, name, {})
    if error is None or isinstance(error, ABOUT_SEVERAL):
        return True
    draft.say((*place, "name"), error.message, error.hint)
    return False


def _check_fixed(draft: Draft, check: Check, name: str, params: Mapping[str, Any], place: tuple) -> None:
    for parameter, value in params.items():
        error = _problem_with(check, name, parameter, value)
        if error is not None:
            at = (*place, "params", parameter)
            if _is_grid(check, name, parameter, value):
                hint = f"write sweep: {{{parameter}: {flow(value)}}} (each value is reported) or tune:"
                draft.add(at, f"expected one value, got {got(value)}", hint)
            else:
                draft.add_error(error, parameter, value, at)


def _is_grid(check: Check, name: str, parameter: str, value: Any) -> bool:
    """Return whether a value is a list of values that the parameter accepts one at a time."""
    listed = isinstance(value, list | tuple) and len(value) > 0
    return listed and all(_problem_with(check, name, parameter, one) is None for one in value)


def _check_files(draft: Draft, entry: MethodEntry, place: tuple, seen: dict[str, Path]) -> None:
    """Note files that do not exist, and two files of one name, whose results would have one name."""
    for keys, value in entry.files():
        path = draft.file(str(value))
        if not path.is_file():
            others = [one.name for one in path.parent.glob("*")] if path.parent.is_dir() else []
            hint = did_you_mean(path.name, others, list_all=False)
            draft.add((*place, *keys), f"there is no file {path}", hint)
        other = seen.setdefault(path.name, path)
        if other != path:
            message = f"two files of the method '{entry.name}' are called {path.name}: {other} and {path}"
            draft.add((*place, *keys), message, "rename one of them")


def _check_wrappers(draft: Draft, check: Check, entry: MethodEntry, place: tuple) -> None:
    """Note settings of wrappers that the method cannot have, and their tuning."""
    inner: dict[str, Any] = {}
    for key, spec in entry.wrappers.items():
        error = _problem(check, entry.name, {**inner, **spec.as_params()})
        inner = spec.as_params() if key == "samples" and error is None else inner
        if error is not None and not isinstance(error, ABOUT_SEVERAL):
            draft.add((*place, key), error.message, error.hint)
        if spec.kind == "cross" and entry.tune:
            message = f"a choice for each fold of {key}: cross is not possible"
            draft.add((*place, "tune"), message, f"take {key}: {ONE_PART[key]}, or a value", at_key=True)
    for parameter in entry.tune:
        key = parameter.partition("__")[0]
        if key in TUNED_IN_VAIN:
            at, hint = (*place, "tune", parameter), "sweep it: each value is then reported"
            draft.add(at, f"accuracy cannot tell {TUNED_IN_VAIN[key]} apart", hint, at_key=True)


def _check_grids(draft: Draft, check: Check, entry: MethodEntry, place: tuple) -> None:
    for kind, grid in (("sweep", entry.sweep), ("tune", entry.tune)):
        for parameter in grid:
            at = (*place, kind, parameter)
            if parameter in entry.params:
                message = f"it has a fixed value too{draft.line((*place, 'params', parameter))}"
                draft.add(at, message, "a parameter is fixed, swept or tuned", at_key=True)
            elif kind == "sweep" and parameter == BEST_OF:
                draft.add(at, "methods cannot be swept", "list the method once for each best-of", at_key=True)
            elif kind == "tune" and parameter in entry.sweep:
                draft.add(at, "it is swept too", "a parameter is fixed, swept or tuned", at_key=True)
            else:
                _check_values(draft, check, entry.name, parameter, at)
        if grids.size(grid) > (limit := most("COMBINATIONS", grids.LARGEST)):
            message = f"{grids.size(grid):,} combinations, expected at most {limit:,}"
            draft.add((*place, kind), message, raised_by("COMBINATIONS"), at_key=True)


def _check_values(draft: Draft, check: Check, name: str, parameter: str, place: tuple) -> None:
    """Note the first wrong value of a grid."""
    for index, values in grids.parts(draft.root.at(place).plain()):
        if len(values) > MOST_VALUES:
            values = values[: MOST_VALUES // 2] + values[-MOST_VALUES // 2 :]
        for value in values:
            error = _problem_with(check, name, parameter, value)
            if error is not None:
                draft.add_error(error, parameter, value, place if index is None else (*place, index))
                return


def _check_whole(draft: Draft, check: Check, name: str, params: Mapping, place: tuple) -> bool:
    """Note parameters that are missing or cannot be combined; return whether there are none."""
    error = _problem(check, name, params)
    if isinstance(error, ParameterError) and not isinstance(error, MissingParameter):
        at = (*place, "params", *error.parameter.split("."))
        draft.add_error(error, error.parameter, error.value, at)
    elif error is not None:
        draft.add(place, error.message, error.hint)
    return error is None


def _check_twice(draft: Draft, entry: MethodEntry, place: tuple, seen: dict[str, tuple]) -> None:
    """Note a variant that is listed twice: results are identified by method and parameters."""
    for variant in entry.variants():
        params = {**entry.given, **variant}
        identity = grids.identity([entry.name, params])
        if identity in seen:
            shown = ", ".join(f"{key}={got(value)}" for key, value in params.items())
            what = f"'{entry.name}' with {shown}" if shown else f"'{entry.name}' without given parameters"
            first = seen[identity]
            where = f"{first[0]}.{first[1]}{draft.line(first, at_key=False)}"
            draft.say(place, f"method {what} is listed twice, first in {where}")
            return
        seen[identity] = place


def _problem_with(check: Check, name: str, parameter: str, value: Any) -> ConfmlError | None:
    """Return the error of one parameter on its own; what depends on others is checked of all together."""
    error = _problem(check, name, {parameter: value})
    return None if isinstance(error, ABOUT_SEVERAL) else error
