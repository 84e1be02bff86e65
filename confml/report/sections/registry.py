"""The sections of a report, found by their classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from confml.plugins.registry import PluginRegistry
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.results import RunResults

sections = PluginRegistry[Section]("section", "confml.report.sections", Section, "confml.sections")


def known_sections() -> dict[str, type[Section]]:
    """Return every section by name, in the order of the report: confml's own and those of other packages."""
    known = sections.known()
    return dict(sorted(known.items(), key=lambda item: (item[1].place, item[0])))


def sections_of(results: RunResults, folder: Path) -> list[Section]:
    """Return the sections of one run's report, in order."""
    return [section(results, folder) for section in known_sections().values() if section.applies(results)]
