"""Columns of predictions, shared by the region tables of a run and the answers for new rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from confml.measures.prediction import Prediction, score_columns
from confml.report.files import fields, number_columns, quoted


def score_header(prediction: Prediction) -> list[str]:
    """Return the header of `score_fields`."""
    return ["prediction", "confidence", "credibility", *score_columns(prediction)]


def score_fields(prediction: Prediction, confidence: np.ndarray) -> list[list[str]]:
    """Return the columns of a region table from ``prediction`` to the scores and their extras."""
    credibility = prediction.credibility
    shown = [confidence, *([] if credibility is None else [credibility])]
    columns = number_columns(np.column_stack([*shown, *score_columns(prediction).values()]))
    if credibility is None:
        columns.insert(1, [""] * len(prediction))
    return [fields(prediction.labels.tolist()), *columns]


def region_fields(region: np.ndarray, classes: Sequence[str]) -> list[str]:
    """Return the (n,) CSV fields of a (n, c) region: its labels joined by ``|``."""
    escaped = [label.replace("\\", "\\\\").replace("|", "\\|") for label in classes]
    return of_regions(region, lambda columns: quoted("|".join([escaped[column] for column in columns])))


def of_regions(region: np.ndarray, make: Callable[[list[int]], Any]) -> list[Any]:
    """Return what ``make`` returns for the columns of each row of a (n, c) region; equal rows share it."""
    packed = np.packbits(region, axis=1)
    keys = packed.view(f"V{packed.shape[1]}").ravel().tolist() if packed.size else []
    rows = {key: at for at, key in enumerate(keys)}
    by_key = {key: make(np.flatnonzero(region[at]).tolist()) for key, at in rows.items()}
    return [by_key[key] for key in keys]
