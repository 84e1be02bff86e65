"""``failures.csv``: failed cells with the reason, and the calls that led to an error of a method."""

from collections.abc import Iterator

from confml.report.report import Report
from confml.report.run.cells import cell_order
from confml.report.tables.table import Row, Table


def rows(report: Report) -> Iterator[Row]:
    for failure in sorted(report.run.failures, key=lambda failure: cell_order(failure.cell)):
        cell = failure.cell
        yield cell.dataset, cell.method, cell.variant, cell.split, failure.error, failure.calls


TABLE = Table(
    "failures.csv",
    "fits that failed, with the reason",
    "dataset method params split error calls",
    rows,
    of_run=True,
)
