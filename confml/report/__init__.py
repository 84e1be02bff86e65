"""Reports of a run, made from stored results: files, figures, and the tables that ``confml run`` prints.

A report is a list of sections (`confml.report.sections`), each found like a method. Only sections with
``refits`` fit models, and no section removes results.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confml.report.console import print_json as print_json
    from confml.report.console import print_run as print_run
    from confml.report.figures import check_figure as check_figure
    from confml.report.figures import known_figures as known_figures
    from confml.report.results import RunResults as RunResults
    from confml.report.run_cells import DatasetInfo as DatasetInfo
    from confml.report.run_cells import Failure as Failure
    from confml.report.sections.published_tables import combined_tables as combined_tables
    from confml.report.sections.published_tables import published_table as published_table
    from confml.report.stored import open_run as open_run
    from confml.report.write import update_report as update_report
    from confml.report.write import write_items as write_items
    from confml.report.write import write_report as write_report

# Imported when they are first used: `confml.report.files` is needed where no report is written.
_HOMES = {
    "console": (
        "print_json",
        "print_run",
    ),
    "figures": (
        "check_figure",
        "known_figures",
    ),
    "results": ("RunResults",),
    "run_cells": (
        "DatasetInfo",
        "Failure",
    ),
    "sections.published_tables": (
        "combined_tables",
        "published_table",
    ),
    "stored": ("open_run",),
    "write": (
        "update_report",
        "write_items",
        "write_report",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DatasetInfo",
    "Failure",
    "RunResults",
    "check_figure",
    "combined_tables",
    "known_figures",
    "open_run",
    "print_json",
    "print_run",
    "published_table",
    "update_report",
    "write_items",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
