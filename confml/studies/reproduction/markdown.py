"""`markdown_table`, `joined` and `anchor`: parts of the Markdown pages of the reproduction."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from confml.published import Entry, PublishedTable, known_tables
from confml.report.files import read_csv, write_file
from confml.report.sections.published_tables import Line, grid_of, notes_of
from confml.report.tables.grid import latex, markdown


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


def write_stored_tables(folder: Path) -> Iterator[Path]:
    """Write Markdown and LaTeX for each published table that is stored below ``folder``."""
    for path, text in stored_tables(folder):
        yield write_file(path, text)


def stored_tables(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each form of the tables stored below ``folder``."""
    tables = known_tables()
    for path in sorted(folder.glob("**/tables/*.csv")):
        if path.stem in tables:
            table = tables[path.stem]
            lines = stored_lines(table, path)
            grid = grid_of(table, lines, notes_of(table, lines))
            yield path.with_suffix(".md"), markdown(grid, aligned=True)
            yield path.with_suffix(".tex"), latex(grid, path.stem)


def stored_lines(table: PublishedTable, path: Path) -> list[Line]:
    """Return the lines of a table from its CSV file."""
    return [
        Line(
            Entry(tuple(row[key] for key in table.keys), row["quantity"], row["paper"], None),
            float(row["confml"]) if row["confml"] else None,
            float(row["sd"]) if row["sd"] else None,
            int(row["splits"]) if row["splits"] else None,
            row["status"],
            int(row["points"]) if row.get("points") else None,
        )
        for row in read_csv(path)
    ]
