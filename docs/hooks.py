"""MkDocs hooks: add the generated pages and their pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from reference_pages import PAGES, api_text, figure_pictures

ROOT = Path(__file__).parent.parent


def on_files(files: Files, config: Any) -> Files:
    """Add pages and pictures that are not in ``docs/pages``."""
    for path, page in PAGES.items():
        files.append(File.generated(config, path, content=page()))
    for path, source in {**figure_pictures(), "page.png": ROOT / "docs" / "page.png"}.items():
        files.append(File.generated(config, path, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Add the public names to the page on Python."""
    return f"{markdown}\n{api_text()}" if page.file.src_uri == "howto/python.md" else markdown
