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
from confml.errors import ConfmlError
from confml.plugins.by import BEST_OF
from confml.plugins.parameters import IncompatibleParameters, MissingParameter, ParameterError
from confml.yaml import flow, got

ErrorOf = Callable[[Mapping[str, Any]], ConfmlError | None]  # of these parameters of one method or step

ABOUT_SEVERAL = (MissingParameter, IncompatibleParameters)  # errors that other parameters can remove
TUNED_IN_VAIN = {"conformal": "conformal predictors", "venn": "Venn-Abers predictors"}
ONE_PART = {"conformal": "split", "venn": "inductive"}
MOST_VALUES = 1000  # of a long series (1..50000) that are checked, half at each end
MOST_POINTS = 200  # combinations of values that are checked for parameters that cannot be combined


def check_steps(draft: Draft) -> None:
    """Note unknown steps and wrong parameters."""
    from confml.steps.registry import check_step

    for place, step in draft.entries(StepSpec, "steps"):
        noted, error_of = draft.problems.noted, _errors_of(check_step, step.name)
        if _has_known_name(draft, error_of, place):
            _check_fixed(draft, error_of, step.params, place)
            if draft.problems.noted == noted:
                _check_together(draft, error_of, step.params, place)


def check_methods(draft: Draft) -> None:
    """Note unknown methods, wrong parameters, grids in conflict, and variants that are listed twice."""
    from confml.methods.registry import check

    seen: dict[str, tuple] = {}
    files: dict[str, Path] = {}
    for place, entry in draft.entries(MethodEntry, "methods"):
        noted, error_of = draft.problems.noted, _errors_of(check, entry.name)
        if "select_by" in entry.model_fields_set and not entry.tune:
            message = "it chooses among the values of tune, and there are none"
            draft.add((*place, "select-by"), message, at_key=True)
        if entry.select_by == "cost" and draft.root.child("costs") is None:
            hint = "add costs: to the config (a mapping or a file)"
            draft.add((*place, "select-by"), "cost needs the costs of mistakes", hint)
        if not _has_known_name(draft, error_of, place):
            continue
        _check_fixed(draft, error_of, entry.params, place)
        _check_files(draft, entry, place, files)
        _check_wrappers(draft, error_of, entry, place)
        _check_grids(draft, error_of, entry, place)
        if draft.problems.noted > noted:
            continue
        points = itertools.product(entry.variants(), entry.tune_grid())
        for variant, point in itertools.islice(points, MOST_POINTS):
            if not _check_together(draft, error_of, {**entry.given, **variant, **point}, place):
                break
        _check_twice(draft, entry, place, seen)


def _errors_of(check: Callable[[str, Mapping[str, Any]], None], name: str) -> ErrorOf:
    """Return a function that returns the error which a registry raises for parameters, or None."""

    def error_of(params: Mapping[str, Any]) -> ConfmlError | None:
        try:
            check(name, params)
        except ConfmlError as error:
            return error
        return None

    return error_of


def _error_alone(error_of: ErrorOf, params: Mapping[str, Any]) -> ConfmlError | None:
    """Return the error of parameters without those that depend on others, which are checked together."""
    error = error_of(params)
    return None if isinstance(error, ABOUT_SEVERAL) else error


def _has_known_name(draft: Draft, error_of: ErrorOf, place: tuple) -> bool:
    error = _error_alone(error_of, {})
    if error is not None:
        draft.say((*place, "name"), error.message, error.hint)
    return error is None


def _check_fixed(draft: Draft, error_of: ErrorOf, params: Mapping[str, Any], place: tuple) -> None:
    for holder in (place, (*place, "sweep"), (*place, "tune")):
        draft.same_key_twice(holder)
    for parameter, value in params.items():
        at, error = (*place, "params", parameter), _error_alone(error_of, {parameter: value})
        is_list = error is not None and isinstance(value, list | tuple) and len(value) > 0
        if is_list and all(_error_alone(error_of, {parameter: item}) is None for item in value):
            hint = f"write sweep: {{{parameter}: {flow(value)}}} (each value is reported) or tune:"
            draft.add(at, f"expected one value, got {got(value)}", hint)
        elif error is not None:
            draft.add_error(error, parameter, value, at)


def _check_files(draft: Draft, entry: MethodEntry, place: tuple, seen: dict[str, Path]) -> None:
    """Note files that do not exist, and two files of one name, whose results would have one name."""
    for keys, value in entry.files():
        path = draft.check_file((*place, *keys), str(value))
        other = seen.setdefault(path.name, path)
        if other != path:
            message = f"two files of the method '{entry.name}' are called {path.name}: {other} and {path}"
            draft.add((*place, *keys), message, "rename one of them")


def _check_wrappers(draft: Draft, error_of: ErrorOf, entry: MethodEntry, place: tuple) -> None:
    """Note settings of wrappers that the method cannot have, and their tuning."""
    inner: dict[str, Any] = {}
    for key, spec in entry.wrappers.items():
        error = error_of({**inner, **spec.as_params()})
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


def _check_grids(draft: Draft, error_of: ErrorOf, entry: MethodEntry, place: tuple) -> None:
    hint = "a parameter is fixed, swept or tuned"
    for kind, grid in (("sweep", entry.sweep), ("tune", entry.tune)):
        for parameter in grid:
            at = (*place, kind, parameter)
            if parameter in entry.params:
                message = f"it has a fixed value too{draft.line((*place, 'params', parameter))}"
                draft.add(at, message, hint, at_key=True)
            elif kind == "sweep" and parameter == BEST_OF:
                draft.add(at, "methods cannot be swept", "list the method once for each best-of", at_key=True)
            elif kind == "tune" and parameter in entry.sweep:
                draft.add(at, "it is swept too", hint, at_key=True)
            else:
                _check_values(draft, error_of, parameter, at)
        if grids.size(grid) > (limit := most("COMBINATIONS", grids.LARGEST)):
            message = f"{grids.size(grid):,} combinations, expected at most {limit:,}"
            draft.add((*place, kind), message, raised_by("COMBINATIONS"), at_key=True)


def _check_values(draft: Draft, error_of: ErrorOf, parameter: str, place: tuple) -> None:
    """Note the first wrong value of a grid."""
    for index, values in grids.parts(draft.root.at(place).plain()):
        if len(values) > MOST_VALUES:
            values = values[: MOST_VALUES // 2] + values[-MOST_VALUES // 2 :]
        for value in values:
            error = _error_alone(error_of, {parameter: value})
            if error is not None:
                at = place if index is None else (*place, index)
                return draft.add_error(error, parameter, value, at)


def _check_together(draft: Draft, error_of: ErrorOf, params: Mapping, place: tuple) -> bool:
    """Note parameters that are missing or cannot be combined; return whether there are none."""
    error = error_of(params)
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
            draft.say(place, f"method {what} is listed twice, first in {draft.entry_text(seen[identity])}")
            return
        seen[identity] = place
