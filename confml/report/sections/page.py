"""The page of a run: ``report.html``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from confml.report.answers.evidence import Evidence
from confml.report.items import Document, Item
from confml.report.page.material import Material
from confml.report.page.run_page import run_page
from confml.report.sections.base import Section

if TYPE_CHECKING:
    from confml.report.run.one_pass import ViewBlock
    from confml.runner.results import CellResult


class Page(Section):
    """``report.html``: the answer, the tables and curves of every data set, and their origin, on one page.

    It opens without a network and needs no other file. It fits no model: it shows the tables of the other
    sections and the stored predictions. The data set is loaded again only where its card has ``image:``, for
    pictures of test examples.
    """

    name = "page"
    place = 200
    files = {"report.html": "all results on one page, for a browser"}
    collectors = (Evidence,)

    def start(self) -> None:
        self._material = Material(self.results)

    def prepare(self, blocks: Sequence[ViewBlock]) -> None:
        self._material.prepare(blocks)

    def add(self, result: CellResult) -> None:
        self._material.add(result)

    def finish_variant(self) -> None:
        self._material.finish_variant()

    def see(self, item: Item) -> None:
        self._material.see(item)

    def items(self) -> Iterator[Item]:
        yield Document("report.html", run_page(self._material, self.folder))
