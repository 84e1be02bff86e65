"""``dropped.csv``: training rows and features that steps removed."""

from collections.abc import Iterator

from confml.report.run.results import Variant
from confml.report.tables.table import Row, Table


def rows(variant: Variant) -> Iterator[Row]:
    """One row for every training row or feature that steps removed; counts are in ``metrics.csv``.

    ``what``, ``name``: ``row`` and its number, counted as in ``regions/``, or ``attribute`` and its name.
    """
    for result in variant.splits:
        key = *variant.key, result.cell.split
        yield from ((*key, "row", str(row)) for row in result.dropped_rows.tolist())
        yield from ((*key, "attribute", name) for name in result.dropped_attributes)


TABLE = Table(
    "dropped.csv",
    "training rows and features that steps removed",
    "dataset method params split what name",
    rows,
    needs="steps that remove training rows or features",
)
