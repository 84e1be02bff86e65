"""Table of a run's report: the largest confidence of each method."""

from confml.report.tables.table import KEY, Table, by_view


def rows(splits, variant):
    """Return the largest confidence of the test examples of each split."""
    for result, case in splits:
        yield result.cell.split, case.confidence.max()


TABLE = Table(
    "largest-confidence.csv",
    "largest confidence of the test examples of each split",
    (*KEY, "split", "confidence"),
    by_view(rows),
)
