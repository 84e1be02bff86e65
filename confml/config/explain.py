"""Turn pydantic's errors into messages with positions in the file."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft, Place
from confml.config.part import underscored
from confml.config.schema import part_at
from confml.data.table_files import is_table_name
from confml.errors import did_you_mean, nearest
from confml.yaml import got

_MAPPINGS = ("model_type", "model_attributes_type", "dict_type", "mapping_type")


def note_errors(error: ValidationError, draft: Draft) -> None:
    """Note the errors of pydantic in the problems of the draft."""
    for details in error.errors(include_url=False):
        place = tuple(details["loc"])
        if details["type"] == "extra_forbidden":
            _unknown_key(place, draft)
        elif details["type"] == "missing":
            _missing_key(place, draft)
        elif details["type"] != "too_short" or not details["input"]:  # all its entries may be wrong
            _wrong_value(place, details, draft)


def _wrong_value(place: Place, details: Mapping[str, Any], draft: Draft) -> None:
    kind, context, value = details["type"], details.get("ctx", {}), details["input"]
    expected, hint = context.get("expected"), context.get("hint")
    if kind == "value_error":
        return draft.add(place, str(context["error"]))
    if kind in ("tuple_type", "list_type"):
        is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
        expected, hint = "a list", f"write [{value}]" if is_scalar else None
    elif kind in _MAPPINGS:
        model = part_at(place)
        expected = f"a mapping with keys out of {', '.join(model.keys())}" if model else None
        if model and model.rest:
            expected = "a name, or a mapping with the key 'name'"
        expected = expected or "a mapping of names to values"
    elif kind == "too_short":
        expected = "at least one entry"
    if isinstance(value, str) and is_table_name(value) and place[0] == "datasets":
        expected, hint = "the name of a card or a mapping", f"write {{csv: {value}, label: COLUMN}}"
    draft.add(place, f"expected {expected or details['msg'].lower()}, got {got(value)}", hint)


def _unknown_key(place: Place, draft: Draft) -> None:
    *above, key = place
    model, path = part_at(above), draft.name_of(above)
    hint = did_you_mean(str(key), model.keys() if model else [], list_all=model is not DatasetSpec)
    if model is DatasetSpec:
        hint = hint or "a card has no other keys; csv: or generate: begins a data set of your own"
    elif not path and key in DatasetSpec.keys():
        hint = f"it is a key of a data set: datasets: [{{csv: FILE, label: COLUMN, {key}: ...}}]"
    draft.say(place, f"unknown key '{key}'{f' in {path}' if path else ''}", hint, at_key=True)


def _missing_key(place: Place, draft: Draft) -> None:
    *above, key = place
    model, path, keys = part_at(above), draft.name_of(above), draft.root.at(above)
    example = model.documented(underscored(str(key)))[1].partition(" or ")[0] if model else ""
    hint = f"for example '{key}: {example}'" if example else None
    if keys.child(key) is not None:
        return draft.add(place, "expected a value, got nothing", hint)
    if similar := nearest(str(key), keys.content if keys.is_mapping else ()):
        hint = f"did you mean it by '{similar}'?"
    elif key == "name" and keys.is_mapping and [node.is_mapping for node in keys.content.values()] == [True]:
        hint = f"write {{name: {next(iter(keys.content))}, ...}}"
    draft.say(above, f"missing key '{key}'{f' in {path}' if path else ''}", hint)
