"""Failed cells, and the names and the order of cells in a report."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confml.plugins.parameters import value_text
from confml.report.files import natural
from confml.runner.plan import Cell


@dataclass(frozen=True)
class Failure:
    """A failed cell, its error, and the calls of the method that led to it (`calls_of`)."""

    cell: Cell
    error: str
    calls: str = ""


def calls_of(traceback: Any) -> str:
    """Return the calls of a traceback outside confml, as ``own.py:12 fit > own.py:20 check``.

    It is the last call if all are inside. Files are named without their folders, so that a run has the same
    bytes on every machine.
    """
    if not isinstance(traceback, str):
        return ""
    calls = re.findall(r'^  File "(.+)", line (\d+), in (.+)$', traceback.rpartition(_TRACEBACK)[2], re.M)
    inside = [number for number, (path, _, _) in enumerate(calls) if _INSIDE.search(path)]
    after = calls[inside[0] :] if inside else calls  # not those of an engine
    outside = [call for call in after if not _INSIDE.search(call[0])] or calls[-1:]
    files = [re.split(r"[\\/]", path)[-1] for path, _, _ in outside]
    return " > ".join(f"{file}:{line} {name}" for file, (_, line, name) in zip(files, outside, strict=True))


_TRACEBACK = "Traceback (most recent call last):"
_INSIDE = re.compile(
    r"[\\/]confml[\\/](?:(?:data|measures|methods|neighbours|plugins|runner|steps)[\\/]|_\w+\.py$)"
)


def with_values(label: str, params: Mapping[str, Any]) -> str:
    """Return a label with parameters and values, such as "draws=60" of samples=bootstrap."""
    words = [label]
    for name, value in params.items():
        owner, _, setting = name.rpartition("__")
        short = owner in ("", "conformal", "venn") or owner in params
        words.append(f"{setting if short else name.replace('__', ' ')}={value_text(value)}")
    return " ".join(words)


def with_details(label: str, *details: str) -> str:
    """Return a label with the view and the run, where they are given: "tcm-nn (p-value)"."""
    text = ", ".join(filter(None, details))
    return f"{label} ({text})" if text else label


def cell_order(cell: Cell) -> tuple:
    """Sort key of a cell: data set, method, parameters (numbers by value), split."""
    return (cell.dataset, cell.method, params_order(cell.params), cell.variant, natural(cell.split), cell.key)


def params_order(params: Mapping[str, Any]) -> tuple:
    """Sort key of parameters: numbers by value, before anything else by its text."""
    return tuple(
        (name, 0, float(value), "")
        if isinstance(value, int | float) and not isinstance(value, bool)
        else (name, 1, 0.0, str(value))
        for name, value in params.items()
    )
