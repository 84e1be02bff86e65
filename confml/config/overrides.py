"""``--set KEY=VALUE``: override values of a config on the command line.

The key is a dotted path; entries of lists are identified by their number from 0 or by their name. The value
is YAML: ``protocol.repeats=5``, ``methods.0.k=3``, ``methods.tcm-nn.k=3``, ``levels=[0.01, 0.1]``.
"""

import re
from collections.abc import Callable, Sequence

from confml.config.draft import Draft, Place
from confml.config.part import Part
from confml.errors import ConfigErrors, did_you_mean
from confml.yaml import Mark, Node, Problems, got, parse, spelling

PartAt = Callable[[Place], type[Part] | None]


def apply_overrides(draft: Draft, options: Sequence[str], part_at: PartAt) -> None:
    """Apply each KEY=VALUE in turn; wrong overrides are noted in the problems of the draft.

    part_at: returns the model of the mapping at a place, which determines its short forms.
    """
    problems = draft.problems
    for rank, option in enumerate(options, start=1):
        shown = option if len(option) <= 80 else option[:77] + "..."
        mark = Mark(rank=rank, source=f"--set {shown}")
        path, equals, text = option.partition("=")
        parts = path.strip().split(".")
        if not equals or not all(parts):
            problems.add(mark, "expected KEY=VALUE, such as protocol.repeats=5")
            continue
        try:
            value = parse(text, "", problems, mark)
        except ConfigErrors:
            continue  # noted in problems
        _Setter(mark, problems, part_at).set(draft.root, [], parts, value)


class _Setter:
    def __init__(self, mark: Mark, problems: Problems, part_at: PartAt):
        self.mark, self.problems, self.part_at = mark, problems, part_at

    def set(self, node: Node, done: list[str | int], parts: list[str], value: Node) -> None:
        """Set ``value`` at the path ``parts`` below ``node``, whose own path is ``done``."""
        self._open(node, done)
        if node.is_list:
            self._set_item(node, done, parts, value)
        elif node.is_mapping:
            self._set_key(node, done, parts, value)
        else:
            here = ".".join(map(str, done))
            self.problems.add(self.mark, f"{here} is {got(node.content)} and has no '{parts[0]}'")

    def _set_key(self, node: Node, done: list[str | int], parts: list[str], value: Node) -> None:
        key, rest = parts[0], parts[1:]
        model = self.part_at(done)
        if model is None or model.rest is not None:  # parameters
            key = spelling(node.content, key)
        if not rest:
            value.key_mark = self.mark
            node.content[key] = value
            return
        child = node.child(key)
        if child is None or child.content is None:
            node.content[key] = Node({}, self.mark, self.mark)
        self.set(node.content[key], [*done, key], rest, value)

    def _set_item(self, node: Node, done: list[str | int], parts: list[str], value: Node) -> None:
        here = ".".join(map(str, done))
        for length in range(len(parts), 0, -1):  # names have dots in them: sklearn.svm.SVC
            name = ".".join(parts[:length])
            found = [index for index, item in enumerate(node.content) if name in _names(item)]
            if len(found) > 1:
                which = " or ".join(f"{here}.{index}" for index in found)
                self.problems.add(self.mark, f"'{name}' is in {here} more than once", f"write {which}")
                return
            if found:
                return self._descend(node, found[0], done, parts[length:], value)
        count = len(node.content)
        if re.fullmatch(r"\d{1,9}", parts[0]):
            if int(parts[0]) < count:
                return self._descend(node, int(parts[0]), done, parts[1:], value)
            extent = f"entries 0 to {count - 1}" if count > 1 else f"{count} entr{'y, 0' if count else 'ies'}"
            self.problems.add(self.mark, f"{here} has no entry {parts[0]}", f"it has {extent}")
            return
        known = [name for item in node.content for name in _names(item)]
        hint = did_you_mean(parts[0], known) or (f"use a number, such as {here}.0" if count else None)
        self.problems.add(self.mark, f"{here} has no entry '{parts[0]}'", hint)

    def _descend(self, node: Node, index: int, done: list, parts: list[str], value: Node) -> None:
        if parts:
            return self.set(node.content[index], [*done, index], parts, value)
        node.content[index] = value

    def _open(self, node: Node, done: list[str | int]) -> None:
        """Expand a short form, such as knn to {name: knn}, so that keys can be added."""
        model = self.part_at(done)
        if model is None or model.short is None:
            return
        if isinstance(node.content, str):
            node.content = {model.short: Node(node.content, node.mark, node.mark)}
        elif model.one_key and node.is_mapping and len(node.content) == 1:
            ((name, inner),) = node.content.items()
            if name not in model.keys() and (inner.is_mapping or inner.content is None):
                named = Node(name, inner.key_mark or inner.mark, inner.key_mark)
                node.content = {model.short: named, **(inner.content or {})}


def _names(item: Node) -> list[str]:
    """Return the names of a list entry: its name and its label."""
    if isinstance(item.content, str):
        return [item.content]
    if not item.is_mapping:
        return []
    named = [item.content[key].content for key in ("name", "label") if key in item.content]
    if "name" not in item.content:
        named += [item.content[key].content for key in ("generate", "card") if key in item.content]
        if len(item.content) == 1:
            named += [key for key, inner in item.content.items() if inner.is_mapping]
    return [name for name in named if isinstance(name, str)]
