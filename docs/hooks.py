"""MkDocs hooks: add the generated pages, the changelog and the gallery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gallery_page import gallery_page
from mkdocs.structure.files import File, Files
from notebook_pages import notebook_text
from reference_pages import PAGES, figure_kinds

ROOT = Path(__file__).parent.parent


def on_files(files: Files, config: Any) -> Files:
    """Add pages that are not in ``docs/pages``."""
    texts = {path: page() for path, page in PAGES.items()}
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        texts[name.lower()] = (ROOT / name).read_text(encoding="utf-8").replace("](docs/pages/", "](")
    for path in sorted(Path(config["docs_dir"]).glob("notebooks/*.ipynb")):
        texts[f"notebooks/{path.stem}.md"] = notebook_text(path)
    texts["gallery.md"], pictures = gallery_page(ROOT / "results", figure_kinds())
    for section in config["nav"]:
        texts |= dict(_index(*next(iter(section.items())), texts, Path(config["docs_dir"])))
    for path, text in texts.items():
        files.append(File.generated(config, path, content=text))
    pictures["page.png"] = ROOT / "docs" / "page.png"
    for path, source in pictures.items():
        files.append(File.generated(config, path, abs_src_path=str(source)))
    return files


def _index(title: str, entries: Any, texts: dict[str, str], folder: Path) -> Iterator[tuple[str, str]]:
    """Iterate over the first page of a section: its pages, each with its first sentence."""
    if not isinstance(entries, list) or not isinstance(entries[0], str) or entries[0] in texts:
        return
    rows = []
    for name, path in (next(iter(one.items())) for one in entries[1:]):
        text = texts[path] if path in texts else (folder / path).read_text(encoding="utf-8")
        rows.append(f"| [{name}]({Path(path).name}) | {first_sentence(text)} |")
    yield entries[0], "\n".join([f"# {title}", "", "| page | content |", "| --- | --- |", *rows, ""])


def first_sentence(page: str) -> str:
    """Return the first sentence of a page, without "This page shows"."""
    paragraph = next(
        one for one in page.split("\n\n") if one.strip() and not re.match(r"\s*(#|```|!|<|\|)", one)
    )
    sentence = re.split(r"(?<=[.:?])\s", " ".join(paragraph.split()))[0].rstrip(":")
    short = re.sub(r"^This page (?:shows|has) ", "", sentence)
    return short[:1].upper() + short[1:]
