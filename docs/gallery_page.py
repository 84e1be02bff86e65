"""The page of all kinds of figures, from the runs of ``make gallery``."""

from __future__ import annotations

import re
from pathlib import Path

FIGURES = "gallery-figures"

_INTRO = """# Gallery

Every kind of figure, drawn from the configs in `configs/gallery` on data that need no
download. `make gallery` draws them again. Each figure is written as SVG, PDF and PNG, and its
caption states data set, protocol and number of splits. The
[reference of figures](reference/figures.md) lists the options.
"""

_MISSING = """
The figures are not part of this build: run `make gallery` (some minutes), then `make docs`.
"""


def gallery_page(folder: Path) -> tuple[str, list[Path]]:
    """Return the page as Markdown, and the figures that it shows. folder: ``results/gallery``."""
    parts, pictures = [], []
    for index in sorted(folder.glob("*/figures/index.md")):
        run = index.parent.parent.name
        text = re.sub(r"\A# .*\n", f"## {run}\n", index.read_text(encoding="utf-8"))
        text = re.sub(r"^# ", "### ", text, flags=re.MULTILINE)
        names = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
        pictures += [index.parent / name for name in names]
        text = re.sub(r"\]\((?!http)([^)]+)\)", rf"]({FIGURES}/{run}/\1)", text)
        parts.append(text)
    return _INTRO + ("\n" + "\n".join(parts) if parts else _MISSING), pictures
