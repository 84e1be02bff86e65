"""What a config must be beyond its form: names that exist, parameters that fit, nothing twice.

Every check reads whatever of the config has the right form, so that one run shows all mistakes at once.
Data sets have a file of their own, `check_datasets`; methods and steps too, `check_methods`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from confml.config import grids
from confml.config.explain import Place, dotted
from confml.config.part import Part, hyphenated
from confml.config.schema import FigureSpec, MethodEntry, NoiseSpec, PaperSpec, Protocol, StepSpec
from confml.errors import ConfmlError, did_you_mean
from confml.plugins.parameters import BadValue, UnknownParameter
from confml.yaml import Mark, Node, Problems, got, spelling

Entry = TypeVar("Entry", bound=Part)


class Checker:
    """A config under check: its nodes, the folder that paths count from, and the problems found."""

    def __init__(self, root: Node, folder: Path | None, problems: Problems):
        self.root, self.problems = root, problems
        self.context = {"folder": folder}

    def add(self, place: Place, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Note a problem at the value (or the key) of a place; its path stands ahead of the message."""
        path = dotted(self.root, place)
        self.say(place, f"{path}: {message}" if path else message, hint, at_key=at_key)

    def say(self, place: Place, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """The same without the path, for messages that say what they are about."""
        self.problems.add(self.mark(place, at_key=at_key), message, hint)

    def mark(self, place: Place, *, at_key: bool = False) -> Mark:
        node = self.root.at(place)
        return node.key_mark or node.mark if at_key else node.mark

    def line(self, place: Place, *, at_key: bool = True) -> str:
        """`` on line 3``, or nothing for a value that stands on no line."""
        line = self.mark(place, at_key=at_key).line
        return f" on line {line}" if line else ""

    def part(self, model: type[Entry], place: Place) -> tuple[Entry | None, bool]:
        """The value at a place as a model, and whether all of it has the right form.

        Keys with a wrong value are left out, so that the rest of the entry is checked all the same.
        """
        value = self.root.at(place).plain()
        try:
            return self._validate(model, value), True
        except ValidationError as error:
            pruned = all([_leave_out(value, one["loc"]) for one in error.errors(include_url=False)])
        try:
            return (self._validate(model, value) if pruned else None), False
        except ValidationError:
            return None, False

    def entries(self, model: type[Entry], key: str) -> Iterator[tuple[tuple, Entry, bool]]:
        """(place, entry, whether it is whole) for all entries of a list that can be read."""
        listed = self.root.child(key)
        for index in range(len(listed.content) if listed is not None and listed.is_list else 0):
            entry, whole = self.part(model, (key, index))
            if entry is not None:
                yield (key, index), entry, whole

    def section(self, model: type[Entry], key: str) -> Entry | None:
        """A mapping of the config, or None where there is none that can be read."""
        node = self.root.child(key)
        return self.part(model, (key,))[0] if node is not None and node.content is not None else None

    def tell(self, error: ConfmlError, parameter: str, value: Any, place: Place) -> None:
        """Note the error that a registry raises for one parameter or option."""
        if isinstance(error, UnknownParameter):
            place = place[:-1] if isinstance(place[-1], int) else place
            self.say(place, error.message, error.hint, at_key=True)
        elif isinstance(error, BadValue) and error.parameter == parameter:
            self.add(place, f"expected {error.expected}, got {got(value)}", error.hint)
        else:
            self.add(place, error.message, error.hint)

    def same_key_twice(self, place: Place) -> None:
        """A parameter spelt both with - and with _ is given twice."""
        node = self.root.at(place)
        seen: dict[str, str] = {}
        for key in node.content if node.is_mapping else ():
            name = key.replace("-", "_")
            if name in seen:
                mark = node.content[key].key_mark or node.mark
                self.problems.add(mark, f"'{key}' is the same parameter as '{seen[name]}', given already")
            seen[name] = key

    def _validate(self, model: type[Entry], value: Any) -> Entry:
        return model.model_validate(value, context=self.context, by_alias=True, by_name=False)


def check_protocol(checker: Checker) -> None:
    """Keys that say nothing under the protocol's kind."""
    protocol = checker.section(Protocol, "protocol")
    if protocol is None:
        return
    for field, kinds in Protocol.ONLY_FOR.items():
        idle = field in protocol.model_fields_set and protocol.kind not in kinds
        if idle and not (field == "repeats" and protocol.repeats == 1):
            hint = f"it is for {' and '.join(filter(None, (', '.join(kinds[:-1]), kinds[-1])))}"
            message = f"{protocol.kind} has no {hyphenated(field)}"
            checker.add(("protocol", hyphenated(field)), message, hint, at_key=True)
    if protocol.kind == "online":
        _check_online(checker, protocol)


def _check_online(checker: Checker, protocol: Protocol) -> None:
    """What has no meaning where there is no training part ahead of the examples, or cannot learn them."""
    from confml.methods.registry import method_class
    from confml.steps.registry import known_steps

    if protocol.repeats > 1 and protocol.order == "given":
        message, hint = "the given order gives the same each time", "order: shuffled"
        checker.add(("protocol", "repeats"), message, hint, at_key=True)
    for place, entry, _ in checker.entries(MethodEntry, "methods"):
        try:
            learns = method_class(entry.name).learns_online
        except ConfmlError:
            continue  # told elsewhere
        if not learns:
            checker.say(
                (*place, "name"), f"'{entry.name}' does not learn one example at a time", "tcm-nn does"
            )
        for key, given in (("tune", entry.tune), ("conformal", entry.conformal)):
            if given:
                checker.add((*place, key), "protocol online has no training part for it", at_key=True)
    steps = known_steps()
    for place, step, _ in checker.entries(StepSpec, "steps"):
        if step.name in steps and steps[step.name].learns:
            message = f"step '{step.name}' learns on a training part, and protocol online has none"
            by_row = ", ".join(name for name, cls in steps.items() if not cls.learns)
            checker.say((*place, "name"), message, f"steps that treat each example by itself: {by_row}")
    noise = checker.section(NoiseSpec, "noise")
    if noise is not None and noise.on == "train":
        checker.add(("noise", "on"), "protocol online has no training part", "on: all")


def check_repeats(checker: Checker, key: str) -> None:
    """A level or threshold that is listed twice."""
    listed = checker.root.child(key)
    if listed is None or not listed.is_list:
        return
    seen: set[str] = set()
    for index, node in enumerate(listed.content):
        value = grids.identity(node.plain())
        if value in seen:
            checker.add((key, index), f"{got(node.plain())} stands in the list twice")
        seen.add(value)


def check_figures(
    checker: Checker,
    known: Iterable[str] | None,
    check_options: Callable[[str, Mapping[str, Any]], None] | None = None,
) -> None:
    """Figures that do not exist, that stand twice, or whose options ``check_options`` refuses."""
    known = None if known is None else list(known)
    seen: set[str] = set()
    for place, figure, _ in checker.entries(FigureSpec, "figures"):
        at_name = (*place, "name")
        if known is not None and figure.name not in known:
            checker.say(at_name, f"unknown figure '{figure.name}'", did_you_mean(figure.name, known))
            continue
        identity = grids.identity([figure.name, figure.options])
        if identity in seen:
            checker.say(at_name, f"figure '{figure.name}' stands in the list twice with the same options")
        seen.add(identity)
        if check_options is not None:
            for option, value in figure.options.items():
                try:
                    check_options(figure.name, {option: value})
                except ConfmlError as error:
                    checker.tell(error, option, value, (*place, "options", option))


def check_paper(checker: Checker, known: Iterable[str] | None) -> None:
    """Published tables that do not exist."""
    paper = checker.section(PaperSpec, "paper")
    if paper is None or known is None:
        return
    known = list(known)
    for index, table in enumerate(paper.table):
        place = ("paper", "table", index)
        if table not in known:
            checker.say(place, f"unknown table '{table}'", did_you_mean(table, known))
        elif table in paper.table[:index]:
            checker.say(place, f"table '{table}' stands in the list twice")


def _leave_out(value: Any, loc: Place) -> bool:
    """Take the key that ``loc`` leads to, or the last one on the way to it, out of plain ``value``."""
    holder, name, node = None, None, value
    for part in loc:
        if isinstance(node, dict):
            part = spelling(node, part)
            if part not in node:
                break
            holder, name, node = node, part, node[part]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]  # a list with a wrong item goes as a whole
        else:
            break
    if holder is None:
        return False
    holder.pop(name, None)
    return True
