"""MkDocs hooks: add the generated reference pages, the changelog and the gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gallery_page import gallery_page
from mkdocs.structure.files import File, Files
from reference_pages import PAGES, figure_kinds

ROOT = Path(__file__).parent.parent


def on_files(files: Files, config: Any) -> Files:
    """Add pages that are not in ``docs/pages``."""
    for path, page in PAGES.items():
        files.append(File.generated(config, path, content=page()))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        files.append(File.generated(config, name.lower(), content=(ROOT / name).read_text(encoding="utf-8")))
    text, pictures = gallery_page(ROOT / "results", figure_kinds())
    files.append(File.generated(config, "gallery.md", content=text))
    for path, source in pictures.items():
        files.append(File.generated(config, path, abs_src_path=str(source)))
    picture = ROOT / "docs" / "picture.svg"
    files.append(File.generated(config, "picture.svg", abs_src_path=str(picture)))
    return files
