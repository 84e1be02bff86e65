"""``dropped/``: training rows and features that steps removed."""

from collections.abc import Iterator

from confml.report.files import csv_lines
from confml.report.run.results import Variant
from confml.report.tables.table import CellFiles


def files(variant: Variant) -> Iterator[tuple[str, Iterator[str]]]:
    """One file for every finished cell whose steps removed rows or features; counts are in ``metrics.csv``.

    ``what,name``: ``row`` and its number, counted as in the region tables, or ``attribute`` and its name.
    """
    for result in variant.splits:
        rows = [("row", str(row)) for row in result.dropped_rows.tolist()]
        rows += [("attribute", name) for name in result.dropped_attributes]
        if rows:
            yield f"{variant.run.region_paths[result.cell.key]}.csv", csv_lines(("what", "name"), rows)


TABLE = CellFiles(
    "dropped",
    "training rows and features that steps removed",
    files,
    needs="steps that remove training rows or features",
)
