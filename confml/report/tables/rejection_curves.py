"""``rejection-curves.csv``: accuracy-rejection curves."""

from collections.abc import Iterator, Sequence

import numpy as np

from confml.measures.rejection import band
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view

RATES = np.arange(51) / 50  # rejection rates: 0, 0.02, ... 1
COLUMNS = (
    *(*KEY, "rejection_rate", "splits", "sure_incorrect", "sure_incorrect_sd"),
    *("sure_incorrect_low", "sure_incorrect_high", "risk", "risk_sd"),
)


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """One row per view and rejection rate.

    sure_incorrect: errors among the accepted as a share of all, mean over the splits, with sd, smallest and
    largest; risk: as a share of the accepted. Rates that a split cannot attain have no row. Splits without
    test examples, or with a NaN confidence, have no curve.
    """
    curves = [case.curve for _, case in splits if case.curve is not None]
    wrong, risk = band(curves, RATES), band(curves, RATES, what="risk")
    columns = [column.tolist() for column in (*wrong[1:], risk.mean, risk.sd)]
    for at in np.flatnonzero(~np.isnan(wrong.mean)).tolist():
        numbers = (round(column[at], 12) for column in columns)  # 0.02, not 0.0200000000018
        yield RATES[at], len(curves), *numbers


TABLE = Table(
    "rejection-curves.csv",
    "errors against rejection rate",
    COLUMNS,
    by_view(rows, lambda case: len(case.truth) > 0 and case.curve is not None),
)
