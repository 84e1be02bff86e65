"""Checks of methods and steps: names, parameters, all values of grids, and variants that are unique."""

import functools
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from confml.config import grids
from confml.config.draft import Draft
from confml.config.method_entry import MethodEntry
from confml.config.part import hyphenated
from confml.config.schema import StepSpec
from confml.data.memory import most, raised_by
from confml.errors import ConfmlError
from confml.plugins.by import BEST_OF
from confml.plugins.parameters import (
    IncompatibleParameters,
    MissingParameter,
    ParameterError,
    check_parameters,
)
from confml.yaml import flow, got
from confml.yaml.located import Loc

# Returns the error of these parameters of a method or step, or None. alone: without errors that other
# parameters can remove.
ErrorOf = Callable[..., ConfmlError | None]

TUNED_IN_VAIN = {"conformal": "conformal predictors", "venn": "Venn-Abers predictors"}
ONE_PART = {"conformal": "split", "venn": "inductive"}
MOST_POINTS = 200  # combinations of values that are checked for parameters that cannot be combined


def check_steps(draft: Draft) -> None:
    """Note unknown steps and wrong parameters."""
    from confml.steps.registry import check_step

    for loc, step in draft.entries(StepSpec, "steps"):
        noted, error_of = draft.problems.noted, _errors_of(check_step, step.name)
        _check_parameters(draft, error_of, step.params, loc)
        if draft.problems.noted == noted:
            _check_together(draft, error_of, step.params, loc)


def check_methods(draft: Draft) -> None:
    """Note unknown methods, wrong parameters, grids in conflict, and variants that are listed twice."""
    from confml.methods.registry import check

    variants: dict[str, Loc] = {}
    files: dict[str, Path] = {}
    for loc, entry in draft.entries(MethodEntry, "methods"):
        noted, error_of = draft.problems.noted, _errors_of(check, entry.name)
        if "select_by" in entry.model_fields_set and not entry.tune:
            message = "it selects among the values of tune, and the method has no tune"
            draft.add((*loc, "select-by"), message, at_key=True)
        if entry.select_by == "cost" and draft.values.get("costs") is None:
            hint = "add costs: to the config (a mapping or a file)"
            draft.add((*loc, "select-by"), "cost needs the costs of mistakes", hint)
        if not _check_parameters(draft, error_of, entry.params, loc):
            continue
        _check_files(draft, entry, loc, files)
        _check_wrappers(draft, error_of, entry, loc)
        _check_grids(draft, error_of, entry, loc)
        if draft.problems.noted == noted:
            points = itertools.product(entry.variants(), entry.tune_grid())
            for variant, point in itertools.islice(points, MOST_POINTS):
                if not _check_together(draft, error_of, {**entry.given, **variant, **point}, loc):
                    break
            _check_twice(draft, entry, loc, variants)


def _errors_of(check: Callable[[str, Mapping[str, Any]], None], name: str) -> ErrorOf:
    def error_of(params: Mapping[str, Any], alone: bool = True) -> ConfmlError | None:
        try:
            check(name, params)
        except ConfmlError as error:
            depends = isinstance(error, MissingParameter | IncompatibleParameters)
            return None if alone and depends else error
        return None

    return error_of


def _check_parameters(draft: Draft, error_of: ErrorOf, params: Mapping[str, Any], loc: Loc) -> bool:
    """Note an unknown name, wrong values, and parameters given twice; return whether the name is known."""
    error = error_of({})
    if error is not None:
        draft.say((*loc, "name"), error.message, error.hint)
        return False
    for mapping in (loc, (*loc, "sweep"), (*loc, "tune")):
        draft.same_key_twice(mapping)
    for parameter, value in params.items():
        param_loc, error = (*loc, "params", parameter), error_of({parameter: value})
        is_list = error is not None and isinstance(value, list | tuple) and len(value) > 0
        if is_list and all(error_of({parameter: item}) is None for item in value):
            hint = f"write sweep: {{{parameter}: {flow(value)}}} (each value is reported) or tune:"
            draft.add(param_loc, f"expected one value, got {got(value)}", hint)
        elif error is not None:
            draft.add_error(error, parameter, value, param_loc)
    return True


def _check_files(draft: Draft, entry: MethodEntry, loc: Loc, files: dict[str, Path]) -> None:
    """Note files that do not exist, and two files of one name, whose results would have one name."""
    for keys, value in entry.files():
        path = draft.check_file((*loc, *keys), str(value))
        first = files.setdefault(path.name, path)
        if first != path:
            message = f"two files of the method '{entry.name}' are called {path.name}: {first} and {path}"
            draft.add((*loc, *keys), message, "rename one of them")


def _check_wrappers(draft: Draft, error_of: ErrorOf, entry: MethodEntry, loc: Loc) -> None:
    """Note wrong settings of wrappers, settings that the method cannot have, and their tuning."""
    from confml.methods.wrappers import WRAPPERS
    from confml.steps.registry import changes_rows

    inner: dict[str, Any] = {}
    for key, spec in entry.wrappers.items():
        noted = draft.problems.noted
        declared = WRAPPERS[key].parameters.items()
        rules = {hyphenated(name): rule for name, rule in declared if name != "random_state"}
        draft.check_each((*loc, key), spec.as_dict(), functools.partial(check_parameters, key, rules))
        if draft.problems.noted == noted:
            error = error_of({**inner, **spec.as_params()})
            if error is not None:
                draft.add((*loc, key), error.message, error.hint)
            elif key == "samples":
                inner = spec.as_params()
        if spec.kind in ("cross", "oob") and entry.tune:
            message = f"{key}: {spec.kind} has no proper training part on which parameters could be selected"
            draft.add((*loc, "tune"), message, f"take {key}: {ONE_PART[key]}, or a value", at_key=True)
        for _, step in draft.entries(StepSpec, "steps") if spec.kind == "oob" else ():
            if changes_rows(step.name):
                message = f"oob scores every training row, and the step {step.name} drops some of them"
                draft.add((*loc, key), message, "use conformal: split, or remove the step", at_key=True)
    for parameter in entry.tune:
        key = parameter.partition("__")[0]
        if key in TUNED_IN_VAIN:
            param_loc, hint = (*loc, "tune", parameter), "sweep it: each value is then reported"
            draft.add(param_loc, f"accuracy cannot select among {TUNED_IN_VAIN[key]}", hint, at_key=True)


def _check_grids(draft: Draft, error_of: ErrorOf, entry: MethodEntry, loc: Loc) -> None:
    hint = "a parameter is fixed, swept or tuned"
    for kind, grid in (("sweep", entry.sweep), ("tune", entry.tune)):
        for parameter in grid:
            param_loc = (*loc, kind, parameter)
            if parameter in entry.params:
                message = f"it also has a fixed value{draft.line((*loc, 'params', parameter))}"
                draft.add(param_loc, message, hint, at_key=True)
            elif kind == "sweep" and parameter == BEST_OF:
                message = "methods cannot be swept"
                draft.add(param_loc, message, "list the method once for each best-of", at_key=True)
            elif kind == "tune" and parameter in entry.sweep:
                draft.add(param_loc, "it is also swept", hint, at_key=True)
            else:
                _check_values(draft, error_of, parameter, param_loc)
        if grids.size(grid) > (limit := most("COMBINATIONS", grids.LARGEST)):
            message = f"{grids.size(grid):,} combinations, expected at most {limit:,}"
            draft.add((*loc, kind), message, raised_by("COMBINATIONS"), at_key=True)


def _check_values(draft: Draft, error_of: ErrorOf, parameter: str, loc: Loc) -> None:
    """Note the first wrong value of a grid."""
    for index, values in grids.parts(draft.find(loc)[2]):
        for value in values:
            error = error_of({parameter: value})
            if error is not None:
                param_loc = loc if index is None else (*loc, index)
                return draft.add_error(error, parameter, value, param_loc)


def _check_together(draft: Draft, error_of: ErrorOf, params: Mapping, loc: Loc) -> bool:
    """Note parameters that are missing or cannot be combined; return whether there are none."""
    error = error_of(params, alone=False)
    if isinstance(error, ParameterError) and not isinstance(error, MissingParameter):
        param_loc = (*loc, "params", *error.parameter.split("."))
        draft.add_error(error, error.parameter, error.value, param_loc)
    elif error is not None:
        draft.add(loc, error.message, error.hint)
    return error is None


def _check_twice(draft: Draft, entry: MethodEntry, loc: Loc, variants: dict[str, Loc]) -> None:
    """Note a variant that is listed twice: results are identified by method and parameters."""
    for variant in entry.variants():
        params = {**entry.given, **variant}
        identity = grids.identity([entry.name, params])
        if identity in variants:
            settings = ", ".join(f"{key}={got(value)}" for key, value in params.items())
            subject = f"'{entry.name}' {f'with {settings}' if settings else 'without parameters'}"
            first = draft.entry_text(variants[identity])
            return draft.say(loc, f"method {subject} is listed twice, first in {first}")
        variants[identity] = loc
