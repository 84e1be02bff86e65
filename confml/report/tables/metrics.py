"""``metrics.csv``: every metric of every cell, one number per row."""

from collections.abc import Iterator

from confml.report.report import Report
from confml.report.tables.table import Row, Table

COLUMNS = "dataset method params split view metric level value"


def rows(report: Report) -> Iterator[Row]:
    for cell, values in report.run.metrics:
        key = cell.dataset, cell.method, cell.variant, cell.split
        yield from ((*key, *name, value) for name, value in values.items())


TABLE = Table(
    "metrics.csv",
    "every metric, one number per row",
    COLUMNS,
    rows,
    of_run=True,
)
