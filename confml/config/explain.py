"""Turn pydantic's errors into messages with positions in the file."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft, Place
from confml.config.part import Part, underscored
from confml.config.schema import part_at
from confml.data.table_files import is_table_name
from confml.errors import did_you_mean, nearest
from confml.yaml import got


def note_errors(error: ValidationError, draft: Draft) -> None:
    """Note the errors of pydantic in the problems of the draft."""
    for one in error.errors(include_url=False):
        _note(one, tuple(one["loc"]), draft)


def _note(error: Mapping[str, Any], place: Place, draft: Draft) -> None:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(place, draft)
    if kind == "missing":
        return _missing_key(place, draft)
    node, path = draft.root.at(place), draft.name_of(place)
    value = error["input"] if node.is_mapping or node.is_list else node.content
    if kind == "value_error":
        draft.problems.add(node.mark, _with_path(path, str(context.get("error", error["msg"]))))
        return
    expected, hint = context.get("expected"), context.get("hint")
    if kind in ("tuple_type", "list_type"):
        expected = "a list"
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            hint = f"write [{value}]"
    elif kind in ("model_type", "model_attributes_type", "dict_type", "mapping_type"):
        expected = _shape(part_at(place))
    elif kind == "too_short":
        if value:  # all its entries are wrong, which other messages report
            return
        expected = "at least one entry"
    if expected is None:
        draft.problems.add(node.mark, _with_path(path, error["msg"].lower()), hint)
        return
    if isinstance(value, str) and is_table_name(value) and path.startswith("datasets."):
        expected, hint = "the name of a card or a mapping", f"write {{csv: {value}, label: COLUMN}}"
    draft.problems.add(node.mark, _with_path(path, f"expected {expected}, got {got(value)}"), hint)


def _unknown_key(place: Place, draft: Draft) -> None:
    *above, key = place
    model, holder, path = part_at(above), draft.root.at(above), draft.name_of(above)
    known = model.keys() if model else []
    start = str(key).partition(":")[0]
    hint: str | None
    if start != key and start in known:
        hint = f"put a space after ':', as in '{start}: {str(key).partition(':')[2]}'"
    elif path.startswith("datasets.") and nearest(str(key), known) is None:
        hint = "a card has no other keys; csv: or generate: begins a data set of your own"
    elif not path and str(key) in DatasetSpec.keys():
        hint = f"it is a key of a data set: datasets: [{{csv: FILE, label: COLUMN, {key}: ...}}]"
    else:
        hint = did_you_mean(str(key), known)
    node = holder.child(key) or draft.root.at(place)
    inside = f" in {path}" if path else ""
    draft.problems.add(node.key_mark or node.mark, f"unknown key '{key}'{inside}", hint)


def _missing_key(place: Place, draft: Draft) -> None:
    *above, key = place
    model, holder, path = part_at(above), draft.root.at(above), draft.name_of(above)
    example = model.documented(underscored(str(key)))[1].partition(" or ")[0] if model else ""
    hint = f"for example '{key}: {example}'" if example else None
    given = holder.child(key) if holder.is_mapping else None
    if given is not None:  # the key has no value
        draft.problems.add(
            given.mark, _with_path(draft.name_of(place), "expected a value, got nothing"), hint
        )
        return
    if holder.is_mapping and len(holder.content) == 1 and key == "name" and path:
        ((only, inner),) = holder.content.items()
        if inner.is_mapping:
            hint = f"write {{name: {only}, ...}}"
    elif holder.is_mapping and nearest(str(key), holder.content):
        hint = f"did you mean it by '{nearest(str(key), holder.content)}'?"
    inside = f" in {path}" if path else ""
    draft.problems.add(holder.mark, f"missing key '{key}'{inside}", hint)


def _shape(model: type[Part] | None) -> str:
    if model is None:
        return "a mapping of names to values"
    keys = ", ".join(model.keys())
    if model.rest is not None:
        return "a name, or a mapping with the key 'name'"
    return f"a mapping with keys out of {keys}"


def _with_path(path: str, message: str) -> str:
    return f"{path}: {message}" if path else message
