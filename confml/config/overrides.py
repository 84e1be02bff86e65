"""``--set KEY=VALUE``: override values of a config on the command line.

The key is a dotted path; entries of lists are identified by their number from 0 or by their name. The value
is YAML: ``protocol.repeats=5``, ``methods.0.k=3``, ``methods.tcm-nn.k=3``, ``levels=[0.01, 0.1]``.
"""

import re
from collections.abc import Sequence

from confml.config.draft import Draft, Place
from confml.config.schema import part_at
from confml.errors import ConfigError, ConfigErrors, did_you_mean
from confml.yaml import Mark, Node, got, parse, spelling


def apply_overrides(draft: Draft, options: Sequence[str]) -> None:
    """Apply each KEY=VALUE in turn; a ConfigError of an override is noted in the problems of the draft."""
    for rank, option in enumerate(options, start=1):
        shown = option if len(option) <= 80 else option[:77] + "..."
        mark = Mark(rank=rank, source=f"--set {shown}")
        path, equals, text = option.partition("=")
        keys = path.strip().split(".")
        try:
            if not equals or not all(keys):
                raise ConfigError("expected KEY=VALUE, such as protocol.repeats=5")
            _set(draft.root, (), keys, parse(text, "", draft.problems, mark))
        except ConfigErrors:
            continue  # `parse` has noted them
        except ConfigError as error:
            draft.problems.add(mark, error.message, error.hint)


def _set(node: Node, place: Place, keys: Sequence[str], value: Node) -> None:
    """Set ``value`` at the path ``keys`` below ``node``, whose own place is ``place``."""
    _expand(node, place)
    here = ".".join(map(str, place))
    key: str | int
    if node.is_list:
        key, rest = _index(node.content, here, keys)
    elif node.is_mapping:
        key, rest = keys[0], keys[1:]
        model = part_at(place)
        if model is None or model.rest is not None:  # parameters
            key = spelling(node.content, key)
        inner = node.content.get(key)
        if rest and (inner is None or inner.content is None):
            node.content[key] = Node({}, value.mark, value.mark)
    else:
        raise ConfigError(f"{here} is {got(node.content)} and has no '{keys[0]}'")
    if rest:
        return _set(node.content[key], (*place, key), rest, value)
    node.content[key] = Node(value.content, value.mark, value.mark)


def _index(entries: Sequence[Node], here: str, keys: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return the index of the entry of a list that ``keys`` begin with, and the other keys."""
    names = [_names(entry) for entry in entries]
    for length in range(len(keys), 0, -1):  # names have dots in them: sklearn.svm.SVC
        name = ".".join(keys[:length])
        matches = [index for index, known in enumerate(names) if name in known]
        if len(matches) > 1:
            hint = f"write {' or '.join(f'{here}.{index}' for index in matches)}"
            raise ConfigError(f"'{name}' is in {here} more than once", hint=hint)
        if matches:
            return matches[0], keys[length:]
    if re.fullmatch(r"\d{1,9}", keys[0]) and int(keys[0]) < len(entries):
        return int(keys[0]), keys[1:]
    hint = did_you_mean(keys[0], sum(names, []), list_all=False) or f"it has {len(entries)} entries, from 0"
    raise ConfigError(f"{here} has no entry '{keys[0]}'", hint=hint)


def _expand(node: Node, place: Place) -> None:
    """Expand a short form, such as knn to {name: knn}, so that keys can be added."""
    model = part_at(place)
    if model is None or model.short is None:
        return
    if isinstance(node.content, str):
        node.content = {model.short: Node(node.content, node.mark, node.mark)}
    elif model.one_key and node.is_mapping and len(node.content) == 1:
        ((name, inner),) = node.content.items()
        if name not in model.keys() and (inner.is_mapping or inner.content is None):
            mark = inner.key_mark or inner.mark
            node.content = {model.short: Node(name, mark, mark), **(inner.content or {})}


def _names(entry: Node) -> list[str]:
    """Return the names of a list entry: its name and its label."""
    if not entry.is_mapping:
        return [entry.content] if isinstance(entry.content, str) else []
    keys = ("name", "label", *(() if "name" in entry.content else ("generate", "card")))
    names = [entry.content[key].content for key in keys if key in entry.content]
    names += [key for key, inner in entry.content.items() if len(entry.content) == 1 and inner.is_mapping]
    return [name for name in names if isinstance(name, str)]
