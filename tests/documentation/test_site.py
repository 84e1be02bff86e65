"""The site builds without warnings, all its links lead somewhere, and it loads nothing from a network."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from documentation.blocks import ROOT

pytest.importorskip("mkdocs", reason="needs the extra 'docs'")


class Page(HTMLParser):
    """The places and links of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places |= {values[key] for key in ("id", "name") if values.get(key)}
        links = [values[key] for key in ("href", "src") if values.get(key)]
        # A reader may follow a link into the network; the page itself loads nothing from there.
        self.links += [link for link in links if tag != "a" or not link.startswith("https://")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    done = subprocess.run(
        [*command, "-f", str(ROOT / "docs" / "mkdocs.yml"), "-d", str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_all_links_lead_somewhere(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 25
    for path, page in pages.items():
        for link in page.links:
            if link.startswith("data:") or path.name == "404.html":
                continue
            assert not re.match(r"\w+:|//", link), (path, link)
            name, _, anchor = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name not in ("", ".") else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), (path, link)
            if anchor and target in pages and not anchor.startswith("__"):
                assert anchor in pages[target].places, (path, link)


def test_search_has_the_reference(site):
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = ")
    for words in ("singleton rate", "confml bayes-error", "class-coverage.csv", "OnlineTCMNN"):
        assert words in index
    home = (site / "index.html").read_text(encoding="utf-8")
    for script in ("iframe-worker.js", "search-input.js"):
        assert re.search(rf"<script[^>]*{script}", home) and (site / script).exists()
