"""Notebooks as Markdown pages."""

from __future__ import annotations

import json
from pathlib import Path


def notebook_text(path: Path) -> str:
    """Return the cells of a notebook as a page, with a link to the file after the title."""
    parts: list[str] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    parts.insert(1, f"[Download this notebook]({path.name}), and open it with Jupyter.")
    return "\n\n".join(parts) + "\n"
