"""Functions that several programs of this folder share."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by the names of the columns; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[Any]], left: int) -> str:
    """Return a GitHub table. left: number of columns that are aligned to the left."""
    rules = ["---" if column < left else "---:" for column in range(len(headings))]
    lines = [[str(cell).replace("|", "\\|") for cell in line] for line in (headings, rules, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
