"""Checks of the protocol, of levels and thresholds, and of figures and published tables."""

import contextlib
import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from confml.config import grids
from confml.config.draft import Draft
from confml.config.method_entry import MethodEntry
from confml.config.part import hyphenated
from confml.config.protocol import Protocol
from confml.config.schema import FigureSpec, NoiseSpec, PaperSpec, StepSpec
from confml.data.memory import most, raised_by
from confml.errors import ConfmlError, did_you_mean
from confml.plugins.parameters import without_rounding_error
from confml.yaml import got


def check_protocol(draft: Draft) -> None:
    """Note keys that the kind of the protocol does not use."""
    protocol = draft.section(Protocol, "protocol")
    if protocol is None:
        return
    for field, kinds in Protocol.ONLY_FOR.items():
        idle = field in protocol.model_fields_set and protocol.kind not in kinds
        if idle and not (field == "repeats" and protocol.repeats == 1):
            hint = f"it is for {' and '.join(filter(None, (', '.join(kinds[:-1]), kinds[-1])))}"
            message = f"{protocol.kind} has no {hyphenated(field)}"
            draft.add(("protocol", hyphenated(field)), message, hint, at_key=True)
    if protocol.kind == "ordered" and protocol.by is None:
        draft.add(("protocol",), "ordered needs by, the column of the order", "by: date, with id: [date]")
    splits = protocol.repeats * (protocol.folds if protocol.kind == "k-fold" else 1)
    cells = splits * sum(grids.size(entry.sweep) for _, entry in draft.entries(MethodEntry, "methods"))
    if splits > (limit := most("SPLITS", 1_000_000)):
        message = f"{splits:,} splits per data set are more than the limit of {limit:,}"
        draft.add(("protocol", "repeats"), message, raised_by("SPLITS"), at_key=True)
    elif cells > (limit := most("FITS", 10_000_000)):
        message = f"{cells:,} fits per data set are more than the limit of {limit:,}"
        draft.add(("methods",), message, raised_by("FITS"), at_key=True)
    if protocol.kind == "online":
        _check_online(draft, protocol)


def _check_online(draft: Draft, protocol: Protocol) -> None:
    """Note methods, steps and keys that need a training part, which protocol online does not have."""
    from confml.methods.registry import method_class
    from confml.steps.registry import known_steps, step_class

    if protocol.repeats > 1 and protocol.order == "given":
        message, hint = "with order: given every repeat is the same", "order: shuffled"
        draft.add(("protocol", "repeats"), message, hint, at_key=True)
    # Unknown names are noted by `check_methods` and `check_steps`.
    for loc, entry in draft.entries(MethodEntry, "methods"):
        with contextlib.suppress(ConfmlError):
            if not hasattr(method_class(entry.name), "evaluate_online"):
                message = f"'{entry.name}' does not learn one example at a time"
                draft.say((*loc, "name"), message, "tcm-nn does")
        for key in (*(("tune",) if entry.tune else ()), *entry.wrappers):
            draft.add((*loc, key), "protocol online has no training part for it", at_key=True)
    for loc, step in draft.entries(StepSpec, "steps"):
        with contextlib.suppress(ConfmlError):
            if step_class(step.name).learns:
                message = f"step '{step.name}' is fitted to a training part, and protocol online has none"
                by_row = ", ".join(name for name, cls in known_steps().items() if not cls.learns)
                hint = f"steps that transform each example by itself: {by_row}"
                draft.say((*loc, "name"), message, hint)
    noise = draft.section(NoiseSpec, "noise")
    if noise is not None and noise.on == "train":
        draft.add(("noise", "on"), "protocol online has no training part", "on: all")


def check_repeats(draft: Draft, key: str) -> None:
    """Note a level or threshold that is listed twice."""
    numbers = draft.values.get(key)
    identities: set[str] = set()
    for index, number in enumerate(numbers if isinstance(numbers, list) else ()):
        identity = grids.identity(without_rounding_error(number) if isinstance(number, float) else number)
        if identity in identities:
            draft.add((key, index), f"{got(number)} is listed twice")
        identities.add(identity)


def check_figures(
    draft: Draft,
    names: Collection[str] | None,
    check_options: Callable[[str, Mapping[str, Any]], object] | None = None,
) -> None:
    """Note figures that do not exist, are listed twice, or have options that ``check_options`` refuses."""
    identities: set[str] = set()
    for loc, figure in draft.entries(FigureSpec, "figures"):
        name, identity = figure.name, grids.identity([figure.name, figure.options])
        if names is not None and name not in names:
            draft.say((*loc, "name"), f"unknown figure '{name}'", did_you_mean(name, names))
        elif identity in identities:
            draft.say((*loc, "name"), f"figure '{name}' is listed twice with the same options")
        elif check_options is not None:
            check = functools.partial(check_options, name)
            draft.check_each((*loc, "options"), figure.options, check)
        identities.add(identity)


def check_paper(draft: Draft, tables: Collection[str] | None) -> None:
    """Note published tables that do not exist or are listed twice."""
    paper = draft.section(PaperSpec, "paper")
    if paper is None or tables is None:
        return
    for index, table in enumerate(paper.table):
        loc = ("paper", "table", index)
        if table not in tables:
            draft.say(loc, f"unknown table '{table}'", did_you_mean(table, tables))
        elif table in paper.table[:index]:
            draft.say(loc, f"table '{table}' is listed twice")
