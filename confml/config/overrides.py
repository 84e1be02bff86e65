"""``--set KEY=VALUE``: override values of a config on the command line.

The key is a dotted path; entries of lists are identified by their number from 0 or by their name. The value
is YAML: ``protocol.repeats=5``, ``methods.0.k=3``, ``methods.tcm-nn.k=3``, ``levels=[0.01, 0.1]``.
"""

import re
from collections.abc import Sequence
from typing import Any

from confml.config.draft import Draft
from confml.config.schema import part_at
from confml.errors import ConfigError, ConfigErrors, did_you_mean
from confml.yaml import Mark, got, parse, spelling
from confml.yaml.located import Loc


def apply_overrides(draft: Draft, options: Sequence[str]) -> None:
    """Apply each KEY=VALUE in turn; a ConfigError of an override is noted in the problems of the draft."""
    for rank, option in enumerate(options, start=1):
        mark = Mark(rank=rank, source=f"--set {option if len(option) <= 80 else option[:77] + '...'}")
        path, equals, text = option.partition("=")
        keys = path.strip().split(".")
        try:
            if not equals or not all(keys):
                raise ConfigError("expected KEY=VALUE, such as protocol.repeats=5")
            _set(draft, keys, parse(text, problems=draft.problems, mark=mark).values, mark)
        except ConfigErrors:
            continue  # `parse` has noted them
        except ConfigError as error:
            draft.problems.add(mark, error.message, error.hint)


def _set(draft: Draft, keys: Sequence[str], new: Any, mark: Mark) -> None:
    """Set a value at the path ``keys``; mappings on the way are made, and short forms are expanded."""
    loc, parent, value = Loc(), [draft.values], draft.values
    key: Any = 0  # of ``value`` in ``parent``
    while keys:
        model, here = part_at(loc), ".".join(map(str, loc))
        if value is None:
            value = parent[key] = {}
            draft.replace_marks(loc, mark)
        elif isinstance(value, str) and model and model.short:
            value = parent[key] = {model.short: value}
        elif model and model.one_key and isinstance(value, dict) and len(value) == 1:
            ((name, inner),) = value.items()
            if name not in model.keys() and isinstance(inner, dict | None):
                value = parent[key] = {model.short: name, **(inner or {})}
        parent = value
        if isinstance(parent, list):
            key, keys = _index(parent, here, keys)
        elif isinstance(parent, dict):
            is_parameter = model is None or model.rest is not None
            key, keys = (is_parameter and spelling(parent, keys[0])) or keys[0], keys[1:]
        else:
            raise ConfigError(f"{here} is {got(parent)} and has no '{keys[0]}'")
        loc = (*loc, key)
        value = parent[key] if isinstance(parent, list) else parent.get(key)
    parent[key] = new
    draft.replace_marks(loc, mark)


def _index(entries: Sequence[Any], here: str, keys: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return the index of the entry of a list that ``keys`` begin with, and the other keys."""
    names = [_names(entry) for entry in entries]
    for length in range(len(keys), 0, -1):  # names have dots in them: sklearn.svm.SVC
        name = ".".join(keys[:length])
        matches = [index for index, of_entry in enumerate(names) if name in of_entry]
        if len(matches) > 1:
            hint = f"write {' or '.join(f'{here}.{index}' for index in matches)}"
            raise ConfigError(f"'{name}' is in {here} more than once", hint=hint)
        if matches:
            return matches[0], keys[length:]
    if re.fullmatch(r"\d{1,9}", keys[0]) and int(keys[0]) < len(entries):
        return int(keys[0]), keys[1:]
    hint = did_you_mean(keys[0], sum(names, []), list_all=False) or f"it has {len(entries)} entries, from 0"
    raise ConfigError(f"{here} has no entry '{keys[0]}'", hint=hint)


def _names(entry: Any) -> list[str]:
    """Return the names of a list entry: its name and its label."""
    if not isinstance(entry, dict):
        return [entry] if isinstance(entry, str) else []
    keys = ("name", "label", *(() if "name" in entry else ("generate", "card")))
    names = [entry.get(key) for key in keys]
    names += [key for key, inner in entry.items() if len(entry) == 1 and isinstance(inner, dict)]
    return [name for name in names if isinstance(name, str)]
