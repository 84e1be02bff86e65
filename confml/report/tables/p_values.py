"""``p-values/``: p-values of the true labels and their counts.

``ks_statistic`` in ``metrics.csv`` is the distance of the column ``p_smoothed`` from the uniform
distribution. An online pass has the same columns in its own table (`confml.report.tables.online`).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from confml.measures import Case
from confml.measures.p_values import has_counts, is_online
from confml.report.files import column_lines, field, numbers
from confml.report.run.cells import view_ending
from confml.report.run.results import Variant
from confml.report.tables.table import CellFiles

COUNT_COLUMNS = ("n_greater", "n_equal", "tau", "n_counted")


def files(variant: Variant) -> Iterator[tuple[str, Iterator[str]]]:
    """One file per view with p-values and counts; an online pass has the same columns in its own file."""
    for view, splits in variant.views.items():
        for result, case in splits:
            if has_counts(case.prediction) and not is_online(case.prediction):
                path = f"{variant.run.region_paths[result.cell.key]}{view_ending(view, result.views)}"
                yield path, column_lines([p_value_table(case, result.rows)])


def p_value_table(case: Case, rows: np.ndarray) -> tuple[list[str], list[Sequence[str]]]:
    """Return header and columns (of finished CSV fields) for n test examples.

    ``row,label``, the true label's ``p_value``, its counts (`count_columns`) and ``p_smoothed``. An absent
    class has p-value 0 and no counts.
    """
    at = np.arange(len(case.truth)), case.true_columns
    p = np.where(case.true_columns >= 0, case.prediction.scores[at], 0.0)
    columns: list[Sequence[str]] = [
        [str(row) for row in np.asarray(rows).tolist()],
        [field(label) for label in case.truth.tolist()],
        numbers(p),
        *count_columns(case),
        numbers(case.smoothed),
    ]
    return ["row", "label", "p_value", *COUNT_COLUMNS, "p_smoothed"], columns


def count_columns(case: Case) -> list[Sequence[str]]:
    """Return the columns `COUNT_COLUMNS` of the true labels' p-values, empty where the view has no counts.

    ``n_greater``, ``n_equal``: nonconformity scores greater than and equal to the example's own, which is one
    of the equal. ``n_counted``: N, the number of examples counted. ``p_value`` is (n_greater + n_equal) / N
    and ``p_smoothed`` is (n_greater + tau n_equal) / N, which is also ``p_value`` where the method has
    ``smoothed: true``.
    """
    prediction, extra = case.prediction, case.prediction.extra
    taus = case.taus
    empty = [""] * len(case.truth)
    if not {"n_greater", "n_equal"} <= set(extra):
        return [empty, empty, empty if taus is None else numbers(taus), empty]
    at = np.arange(len(case.truth)), case.true_columns
    greater, equal, p = extra["n_greater"][at], extra["n_equal"][at], prediction.scores[at]
    counts = greater + extra.get("tau", 1.0) * equal
    known = (case.true_columns >= 0) & (p > 0)  # p is 0 where a tau was drawn as 0
    counted = np.rint(np.divide(counts, p, out=np.zeros(len(p)), where=known))
    return [
        _whole(greater, case.true_columns >= 0),
        _whole(equal, case.true_columns >= 0),
        empty if taus is None else numbers(taus),
        _whole(counted, known),
    ]


def _whole(values: np.ndarray, known: np.ndarray) -> list[str]:
    """Return whole numbers (n,) as fields, empty if unknown."""
    return [str(int(value)) if is_known else "" for value, is_known in zip(values, known, strict=True)]


TABLE = CellFiles(
    "p-values",
    "p-values of the true labels and their counts",
    files,
    needs="p-values with counts",
)
