"""`markdown_table`, `joined` and `anchor`: parts of the Markdown pages of the reproduction."""

import re
from collections.abc import Sequence


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence], left: int) -> list[str]:
    """Return the lines of a GitHub table. left: number of columns that are aligned to the left."""
    rules = ["---" if place < left else "---:" for place in range(len(headings))]
    lines = [headings, rules, *rows]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]


def anchor(title: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def joined(parts: Sequence[str]) -> str:
    """Return the parts of a page with an empty line between them."""
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"
