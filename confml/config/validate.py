"""`validate`: the first phase, the shape of a config; pydantic's errors become messages with positions."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from confml.config.costs import check_costs
from confml.config.dataset_spec import DatasetSpec, folder_name
from confml.config.draft import Draft
from confml.config.part import underscored
from confml.config.schema import Config, part_at
from confml.errors import did_you_mean, nearest
from confml.yaml import got, spelling
from confml.yaml.located import Loc


def validate(draft: Draft) -> Config | None:
    """Return the config, or None if the draft does not match the schema; errors are noted in the draft.

    A config without a name gets the name of its file; a file of costs is read.
    """
    check_costs(draft)
    if draft.values.get("name") is None:
        draft.values["name"] = folder_name(draft.default_name)
    try:
        return Config.model_validate(draft.values, by_alias=True, by_name=False)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            loc = tuple(details["loc"])
            if details["type"] == "extra_forbidden":
                _unknown_key(loc, draft)
            elif details["type"] == "missing":
                _missing_key(loc, draft)
            elif details["type"] != "too_short" or not details["input"]:  # all its entries may be wrong
                _wrong_value(loc, details, draft)
        return None


def _wrong_value(loc: Loc, details: Mapping[str, Any], draft: Draft) -> None:
    kind, context, value = details["type"], details.get("ctx", {}), details["input"]
    expected, hint = context.get("expected"), context.get("hint")
    if kind == "value_error":
        return draft.add(loc, str(context["error"]))
    if kind in ("tuple_type", "list_type"):
        is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
        expected, hint = "a list", f"write [{value}]" if is_scalar else None
    elif kind == "dict_type":
        expected = "a mapping of names to values"
    elif kind == "too_short":
        expected = "at least one entry"
    draft.add(loc, f"expected {expected or details['msg'].lower()}, got {got(value)}", hint)


def _unknown_key(loc: Loc, draft: Draft) -> None:
    *above, key = loc
    model, path = part_at(above), draft.name_of(tuple(above))
    is_card = model is DatasetSpec and "csv" not in draft.find(tuple(above))[2]
    hint = did_you_mean(str(key), model.keys() if model else [], list_all=not is_card)
    if is_card:
        hint = hint or "a card has no other keys; csv: or generate: begins a data set of your own"
    elif not path and key in DatasetSpec.keys():
        hint = f"it is a key of a data set: datasets: [{{csv: FILE, label: COLUMN, {key}: ...}}]"
    draft.say(loc, f"unknown key '{key}'{f' in {path}' if path else ''}", hint, at_key=True)


def _missing_key(loc: Loc, draft: Draft) -> None:
    above, key = loc[:-1], str(loc[-1])
    model, (_, _, holder) = part_at(above), draft.find(above)
    example = model.documented(underscored(key))[1].partition(" or ")[0] if model else ""
    hint = f"for example '{key}: {example}'" if example else None
    if spelling(holder, key) is not None:
        return draft.add(loc, "expected a value, got nothing", hint)
    if isinstance(holder, dict):
        if similar := nearest(key, holder):
            hint = f"did you mean it by '{similar}'?"
        elif key == "name" and [isinstance(value, dict) for value in holder.values()] == [True]:
            hint = f"write {{name: {next(iter(holder))}, ...}}"
    path = draft.name_of(above)
    draft.say(above, f"missing key '{key}'{f' in {path}' if path else ''}", hint)
