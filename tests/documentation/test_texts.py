"""Links, the README's length, one version, and reference pages that have everything."""

import re
import sys

import pytest
import yaml
from documentation.blocks import ROOT, pages, text_of

import confml

sys.path.insert(0, str(ROOT / "docs"))
import reference_pages  # noqa: E402

LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)\)")
PROSE = [*pages(), ROOT / "CHANGELOG.md"]
SITE = ROOT / "docs" / "pages"
NAVIGATION = yaml.safe_load((ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
GENERATED = {*reference_pages.PAGES, "page.png"}  # in the site and not in the repository


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(path):
    for link in LINK.findall(text_of(path)):
        target = link.partition("#")[0]
        if not target or target.startswith("https://"):
            continue
        file = (path.parent / target).resolve()
        assert file.exists() or file in {SITE / name for name in GENERATED}, link


def _listed(entries):
    """Iterate over the pages of the navigation."""
    for entry in entries:
        page = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from _listed(page) if isinstance(page, list) else [page]


def test_every_page_is_in_the_navigation():
    written = {path.relative_to(SITE).as_posix() for path in SITE.rglob("*.md")}
    assert sorted(_listed(NAVIGATION)) == sorted({*written, *GENERATED} - {"page.png"})


def test_the_documentation_is_short():
    """At most 30 pages, and 25,000 words besides outputs and measured tables, which programs write."""
    written = [*SITE.rglob("*.md"), ROOT / "docs" / "glossary.md", ROOT / "README.md"]
    assert len(list(_listed(NAVIGATION))) <= 30
    programs = r"<!-- measured: (?!end).*?<!-- measured: end -->|^```(?:text|csv)\n.*?^```$"
    texts = [re.sub(programs, "", text_of(path), flags=re.DOTALL | re.MULTILINE) for path in written]
    assert sum(bool(re.search(r"\w", word)) for text in texts for word in text.split()) <= 25_000


def test_pages_that_docstrings_name_exist():
    titles = {text_of(path).partition("\n")[0].removeprefix("# ") for path in pages()}
    for path in (ROOT / "confml").rglob("*.py"):
        for title in re.findall(r'[Tt]he page\s+"([^"]+)"', path.read_text(encoding="utf-8")):
            assert " ".join(title.split()) in titles, path


def test_there_is_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == confml.__version__


def test_reference_has_everything():
    from confml.cli import cli
    from confml.config.schema import Config
    from confml.report.described import known_types

    reference = {path: page() for path, page in reference_pages.PAGES.items()}
    for key in Config.keys():
        assert f"<code>{key}</code>" in reference["reference/config.md"]
    for command in cli.commands:
        assert re.search(rf"^#+ confml {command}", reference["reference/commands.md"], re.MULTILINE)
    page_of = {"method": "methods", "step": "methods", "figure": "files"}
    page_of |= {"published-table": "config", "protocol": "config"}
    for kind, page in page_of.items():
        for name in known_types()[kind].names():
            heading = rf"^##+ {re.escape(name)}(?: {{#.*}})?$"
            assert re.search(heading, reference[f"reference/{page}.md"], re.MULTILINE), name
    for kind, page in {"metric": "terms", "view": "terms", "warning": "config"}.items():
        text = reference[f"reference/{page}.md"].replace("&#95;", "_")
        for name in known_types()[kind].names():
            assert f"<code>{name}</code>" in text or f"`{name}`" in text, name
    for name in confml.__all__:
        assert name.startswith("_") or f".{name}\n" in reference_pages.api_text(), name
