"""`items_of`: the items of all sections of a report, made in one pass over the finished cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from confml.report.collectors import Collector
from confml.report.items import Item
from confml.report.metric_rows import Metrics
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.blocks import ViewBlock
    from confml.report.results import RunResults


def items_of(results: RunResults, sections: Sequence[Section]) -> Iterator[Item]:
    """Yield the items of the sections, as `marked_items` does."""
    return (item for item, _ in marked_items(results, sections))


def marked_items(results: RunResults, sections: Sequence[Section]) -> Iterator[tuple[Item, bool]]:
    """Yield the items of the sections, and whether they are of one cell.

    Those of each cell are first, then those of all cells together. Each cell is read once and given to every
    section, and to the collectors that the sections name.
    """
    kinds: list[type[Collector]] = [Metrics, *(kind for section in sections for kind in section.collectors)]
    last: tuple[str, str, str] | None = None

    def prepare(blocks: Sequence[ViewBlock]) -> None:
        for section in sections:
            section.prepare(blocks)

    for result in results.read(*kinds, prepare=prepare):
        here = (result.cell.dataset, result.cell.method, result.cell.variant)
        if last is not None and last != here:
            _finish(sections, with_dataset=last[0] != here[0])
        for section in sections:
            for item in section.add(result):
                yield item, True
        last = here
    if last is not None:
        _finish(sections, with_dataset=True)
    for section in sections:
        for item in section.items():
            yield item, False


def _finish(sections: Sequence[Section], with_dataset: bool) -> None:
    for section in sections:
        section.finish_variant()
        if with_dataset:
            section.finish_dataset()
