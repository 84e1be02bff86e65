"""Checks of the protocol: keys that its kind does not use, and methods and steps that it cannot run."""

from __future__ import annotations

from confml.config import grids
from confml.config.draft import Draft
from confml.config.method_entry import MethodEntry
from confml.config.part import hyphenated
from confml.config.protocol import Protocol
from confml.config.schema import NoiseSpec, StepSpec
from confml.data.memory import most, raised_by
from confml.errors import ConfmlError


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
    splits = protocol.repeats * (protocol.folds if protocol.kind == "k-fold" else 1)
    if splits > (limit := most("SPLITS", 1_000_000)):
        message = f"{splits:,} splits per data set are more than the limit of {limit:,}"
        draft.add(("protocol", "repeats"), message, raised_by("SPLITS"), at_key=True)
        return
    cells = splits * sum(grids.size(entry.sweep) for _, entry, _ in draft.entries(MethodEntry, "methods"))
    if cells > (limit := most("CELLS", 10_000_000)):
        message = f"{cells:,} cells per data set are more than the limit of {limit:,}"
        draft.add(("methods",), message, raised_by("CELLS"), at_key=True)
    if protocol.kind == "online":
        _check_online(draft, protocol)


def _check_online(draft: Draft, protocol: Protocol) -> None:
    """Note methods, steps and keys that need a training part, which protocol online does not have."""
    from confml.methods.registry import method_class
    from confml.steps.registry import known_steps, step_class

    if protocol.repeats > 1 and protocol.order == "given":
        message, hint = "with order: given every repeat is the same", "order: shuffled"
        draft.add(("protocol", "repeats"), message, hint, at_key=True)
    if "label_order" in protocol.model_fields_set and protocol.delay[0] == protocol.delay[1]:
        message = "labels that all have the same delay arrive in the given order"
        draft.add(("protocol", "label-order"), message, "delay: [10, 50]", at_key=True)
    for place, entry, _ in draft.entries(MethodEntry, "methods"):
        try:
            learns = method_class(entry.name).learns_online
        except ConfmlError:
            continue  # `check_methods` notes it
        if not learns:
            draft.say((*place, "name"), f"'{entry.name}' does not learn one example at a time", "tcm-nn does")
        for key, given in (("tune", entry.tune), *entry.wrappers.items()):
            if given:
                draft.add((*place, key), "protocol online has no training part for it", at_key=True)
    steps = known_steps()
    for place, step, _ in draft.entries(StepSpec, "steps"):
        try:
            learns = step_class(step.name).learns
        except ConfmlError:
            continue  # `check_steps` notes it
        if learns:
            message = f"step '{step.name}' learns on a training part, and protocol online has none"
            by_row = ", ".join(name for name, cls in steps.items() if not cls.learns)
            draft.say((*place, "name"), message, f"steps that transform each example by itself: {by_row}")
    noise = draft.section(NoiseSpec, "noise")
    if noise is not None and noise.on == "train":
        draft.add(("noise", "on"), "protocol online has no training part", "on: all")
