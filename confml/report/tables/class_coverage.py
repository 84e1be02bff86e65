"""``class-coverage.csv``: coverage of each class, with the band of valid p-values."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from confml.measures import Case
from confml.measures.coverage_band import coverage_band
from confml.measures.prediction import Prediction
from confml.methods.divisions import DIVISIONS, GROUP, UNKNOWN
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view
from confml.runner.results import CellResult

COLUMNS = (*KEY, "class", "level", "rows", "counted", "coverage", "band_low", "band_high")


def has_p_values(case: Case) -> bool:
    return case.prediction.kind == "p-value"


def group_names(result: CellResult, prediction: Prediction) -> np.ndarray:
    """Return the name (n,) of the group of each test example in the only division of ``by``, else "".

    The codes of groups differ between fits. The names of a division with the label are those of one label.
    """
    codes = prediction.extra.get(GROUP)
    if codes is None or codes.shape[1] > 1:
        return np.full(len(prediction), "")
    (division,) = result.views.fit_details.other[DIVISIONS]
    step = len(prediction.classes) if division["label"] else 1
    return np.array([*division["groups"], ""])[np.where(codes[:, 0] == UNKNOWN, UNKNOWN, codes[:, 0] * step)]


def calibration_parts(splits: Sequence[Split]) -> dict[tuple[Any, str], tuple[int, int | None]]:
    """Return the parts (rows, counted) of `coverage_band` by true label and group of ``by``, sorted.

    rows: number of different test examples of all splits; counted: smallest number of examples that their
    p-values are computed from on a split, None for an online pass.
    """
    if not splits:
        return {}
    columns: dict[str, list[np.ndarray]] = {"label": [], "group": [], "row": [], "counted": []}
    for result, case in splits:
        columns["label"].append(case.truth)
        columns["group"].append(group_names(result, case.prediction))
        columns["row"].append(np.asarray(result.rows))
        columns["counted"].append(np.full(len(case.truth), np.nan) if case.counted is None else case.counted)
    frame = pd.DataFrame({name: np.concatenate(parts).tolist() for name, parts in columns.items()})
    parts = frame.groupby(["label", "group"]).agg(rows=("row", "nunique"), counted=("counted", "min"))
    return {
        key: (int(rows), None if math.isnan(counted) else int(counted))
        for key, rows, counted in zip(parts.index.tolist(), *parts.to_numpy().T.tolist(), strict=True)
    }


def fewest(sizes: Iterable[int | None]) -> int | None:
    """Return the smallest number; None if one of them is None."""
    numbers = list(sizes)
    return None if None in numbers else min(number for number in numbers if number is not None)


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Coverage of each class, with the band of valid p-values (`confml.measures.coverage_band`).

    ``rows``: number of different test rows of the class. ``counted``: number of examples that its p-values
    are computed from, including the new one (smallest of the splits). ``coverage``: over all splits.
    ``band_low``, ``band_high``: 95 % band of the coverage of one test part with ``rows`` rows if the p-values
    are valid for the class. It is exact for split conformal prediction without ties. Weighted p-values
    (``shift``) have none. The coverage is over all splits: of valid classes, at most one in 40 is below its
    band by chance. A coverage above it means conservative p-values. Only label-conditional p-values are valid
    for every class.
    """
    levels, grouped = variant.run.config.levels, variant.run.has_groups(variant.dataset)
    smoothed = any("tau" in case.prediction.extra for _, case in splits)
    classes: dict[Any, list[tuple[int, int | None]]] = {}
    for (label, _), part in calibration_parts(splits).items():
        classes.setdefault(label, []).append(part)
    covered: dict[tuple[Any, float], list[tuple[int, int]]] = {}
    for _, case in splits:
        for level in levels:
            for label, counts in case.class_coverage(level).items():
                covered.setdefault((label, level), []).append(counts)
    for label, parts in classes.items():
        n, counted = sum(rows for rows, _ in parts), fewest(counted for _, counted in parts)
        for level in levels:
            tests, hits = map(sum, zip(*covered[label, level], strict=True))
            band = (math.nan, math.nan) if grouped else coverage_band(parts, level, smoothed)
            yield label, level, n, counted, hits / tests, *band


TABLE = Table(
    "class-coverage.csv",
    "coverage of each class, with the 95 % band of valid p-values on one split (exact for split conformal "
    "prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits)",
    COLUMNS,
    by_view(rows, has_p_values),
    needs="p-values",
)
