"""Checks of what is reported: levels, thresholds, figures and published tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confml.config import grids
from confml.config.draft import Draft
from confml.config.schema import FigureSpec, PaperSpec
from confml.errors import ConfmlError, did_you_mean
from confml.yaml import got


def check_repeats(draft: Draft, key: str) -> None:
    """Note a level or threshold that is listed twice."""
    listed = draft.root.child(key)
    if listed is None or not listed.is_list:
        return
    seen: set[str] = set()
    for index, node in enumerate(listed.content):
        value = grids.identity(node.plain())
        if value in seen:
            draft.add((key, index), f"{got(node.plain())} is listed twice")
        seen.add(value)


def check_figures(
    draft: Draft,
    known: Iterable[str] | None,
    check_options: Callable[[str, Mapping[str, Any]], object] | None = None,
) -> None:
    """Note figures that do not exist, are listed twice, or have options that ``check_options`` refuses."""
    known = None if known is None else list(known)
    seen: set[str] = set()
    for place, figure, _ in draft.entries(FigureSpec, "figures"):
        at_name = (*place, "name")
        if known is not None and figure.name not in known:
            draft.say(at_name, f"unknown figure '{figure.name}'", did_you_mean(figure.name, known))
            continue
        identity = grids.identity([figure.name, figure.options])
        if identity in seen:
            draft.say(at_name, f"figure '{figure.name}' is listed twice with the same options")
        seen.add(identity)
        if check_options is not None:
            for option, value in figure.options.items():
                try:
                    check_options(figure.name, {option: value})
                except ConfmlError as error:
                    draft.add_error(error, option, value, (*place, "options", option))


def check_paper(draft: Draft, known: Iterable[str] | None) -> None:
    """Note published tables that do not exist or are listed twice."""
    paper = draft.section(PaperSpec, "paper")
    if paper is None or known is None:
        return
    known = list(known)
    for index, table in enumerate(paper.table):
        place = ("paper", "table", index)
        if table not in known:
            draft.say(place, f"unknown table '{table}'", did_you_mean(table, known))
        elif table in paper.table[:index]:
            draft.say(place, f"table '{table}' is listed twice")
