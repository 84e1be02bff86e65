"""``timings.csv``: seconds of fits, predictions and inner selection."""

from collections.abc import Iterator

from confml.report.numbers.summaries import TIME_METRICS
from confml.report.run.results import Variant
from confml.report.tables.table import Row, Table

COLUMNS = (
    "dataset method params split fit_seconds predict_seconds tuning_seconds configurations prepare_seconds"
)


def rows(variant: Variant) -> Iterator[Row]:
    """Seconds of fits, predictions and inner selection on one thread.

    configurations: number of grid points in the inner selection, each fitted on every inner fold.
    prepare_seconds: part of fit_seconds that is spent once per training part, for any grid.
    """
    for result in variant.splits:
        tuning, views = result.tuning, result.views
        yield (
            *(*variant.key, result.cell.split, views.fit_seconds, views.predict_seconds),
            tuning.get("seconds") if tuning else None,
            len(tuning["scores"]) if tuning else None,
            views.prepare_seconds,
        )


TABLE = Table(
    "timings.csv",
    "seconds of fit, prediction and inner selection",
    COLUMNS,
    rows,
    metrics=TIME_METRICS,
)
