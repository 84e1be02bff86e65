"""p-values of the true labels with the counts they are computed from: ``p-values/<data set>/...csv``.

``ks_statistic`` in ``metrics.csv`` is the distance of the column ``p_smoothed`` from the uniform
distribution. An online pass has the same columns in its own table (`confml.report.online`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confml.measures import Case
from confml.measures.martingales import is_online
from confml.measures.validity import has_counts, smoothed_p_values, smoothing_taus
from confml.report.files import field, numbers, safe_name, write_columns
from confml.report.regions import region_paths

if TYPE_CHECKING:
    from confml.report.results import RunResults

COUNT_COLUMNS = ("n_greater", "n_equal", "tau", "n_counted")


def write_p_values(results: RunResults, folder: Path) -> Iterator[Path]:
    """Write the table of each view with p-values and counts, except those of online passes."""
    paths = None
    for result in results.finished():
        for view, prediction in result.views.items():
            case = Case(prediction, result.truth)
            if not has_counts(prediction) or is_online(case):
                continue
            paths = paths or region_paths(results)
            stem = folder / "p-values" / paths[result.cell.key]
            ending = f".{safe_name(view)}.csv" if len(result.views) > 1 else ".csv"
            header, columns = p_value_table(case, result.rows)
            yield write_columns(stem.with_name(stem.name + ending), header, columns)


def p_value_table(case: Case, rows: np.ndarray) -> tuple[list[str], list[Sequence[str]]]:
    """Return header and columns (of finished CSV fields) for n test examples.

    ``row,label``, the true label's ``p_value``, its counts (`count_columns`) and ``p_smoothed``. A class that
    training never saw has p-value 0 and no counts.
    """
    at = np.arange(len(case.truth)), case.true_columns
    p = np.where(case.true_columns >= 0, case.prediction.scores[at], 0.0)
    columns: list[Sequence[str]] = [
        [str(row) for row in np.asarray(rows).tolist()],
        [field(label) for label in case.truth.tolist()],
        numbers(p),
        *count_columns(case),
        numbers(smoothed_p_values(case)),
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
    taus = smoothing_taus(prediction)
    if not {"n_greater", "n_equal"} <= set(extra):
        empty = [""] * len(case.truth)
        return [empty, empty, empty if taus is None else numbers(taus), empty]
    at = np.arange(len(case.truth)), case.true_columns
    greater, equal, p = extra["n_greater"][at], extra["n_equal"][at], prediction.scores[at]
    counts = greater + extra.get("tau", 1.0) * equal
    known = (case.true_columns >= 0) & (p > 0)  # p is 0 where a tau was drawn as 0
    counted = np.rint(np.divide(counts, p, out=np.zeros(len(p)), where=known))
    return [
        _whole(greater, case.true_columns >= 0),
        _whole(equal, case.true_columns >= 0),
        numbers(taus),
        _whole(counted, known),
    ]


def _whole(values: np.ndarray, known: np.ndarray) -> list[str]:
    """Return whole numbers (n,) as fields, empty where they are not known."""
    return [str(int(value)) if is_known else "" for value, is_known in zip(values, known, strict=True)]
