"""The page of a run: ``report.html``."""

from collections.abc import Iterator
from pathlib import Path

from confml._json import to_json
from confml.report.answers.evidence import Evidence
from confml.report.answers.standings import standings_of
from confml.report.archives import has_archives
from confml.report.items import Document, Item
from confml.report.page.headline import answer_of
from confml.report.page.material import Material
from confml.report.page.run_page import run_page
from confml.report.sections.base import Section, has_content, known_sections
from confml.report.tables.short_table import summary_text


class Page(Section):
    """``report.html``: the answer, the tables and curves of every data set, and their origin, on one page.

    It opens without a network and needs no other file. It fits no model: it shows the tables and figures of
    the other sections.
    """

    name = "page"
    place = 200
    files = {
        "report.html": "all results on one page, for a browser",
        "summary.md": "the answer, the short table, and warnings, as Markdown",
        "answer.json": "the answer: advice with price and guarantee, for each data set and over all",
    }
    collectors = (Evidence,)

    def start(self) -> None:
        self._material = Material(self.results)

    def see(self, item: Item) -> None:
        self._material.see(item)

    def items(self) -> Iterator[Item]:
        self.results.status("writing the page")
        found = answer_of([self._material], standings_of(self.results))
        text = to_json(found.as_dict(), indent=1)
        yield Document("answer.json", text + "\n")
        yield Document("summary.md", summary_text(self.results, found, self._material.notes))
        yield Document("report.html", run_page(self._material, self.folder, found, self._files()))

    def _files(self) -> list[tuple[str, str]]:
        """Return names and contents of the files that this report has written and that are not empty."""
        paths, found = self._material.paths, []
        for section in known_sections().values():
            for name, about in section.files.items() if section.applies(self.results) else ():
                if name not in paths or (name.endswith(".csv") and not has_content(self.folder / name)):
                    continue
                folder = not Path(name).suffix
                archived = folder and has_archives(self.results) and name not in ("figures", "tables")
                found.append((f"{name}.zip" if archived else f"{name}/" * folder or name, about))
        return found
