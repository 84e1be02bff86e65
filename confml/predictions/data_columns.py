"""Columns and lines of the data set that a model is fitted to."""

import numpy as np

from confml.config.dataset_spec import DatasetSpec
from confml.data.dataset import DataSet


def missing_rule(spec: DatasetSpec, data: DataSet) -> str:
    if spec.missing is not None:
        return spec.missing
    return "mean" if np.isnan(data.table).any() else "error"


def label_of(spec: DatasetSpec) -> str | None:
    """Return the name of the label column, None for generated data."""
    if spec.kind == "card":
        from confml.data.cards import read_card

        return read_card(spec.card or spec.name).label
    if spec.kind == "openml":
        from confml.data.openml import label_of as label_of_openml

        return label_of_openml(spec.as_dict())
    return spec.label if spec.kind == "csv" else None


def unused_columns(spec: DatasetSpec) -> tuple[str, ...]:
    return (*(spec.ignore or ()), *(spec.id or ()), *((spec.groups,) if spec.groups else ()))


def line_texts(data: DataSet, rows: np.ndarray) -> np.ndarray:
    """Return (m,) the line of each row as text; those of a test file that was pooled are marked ``test:``."""
    lines = (data.part_row(rows) + 1 if data.lines is None else data.lines[rows]).tolist()
    of_test = np.zeros(len(data), dtype=bool)
    if data.test_rows is not None:
        of_test[data.test_rows] = True
    texts = [f"test:{line}" if test else str(line) for line, test in zip(lines, of_test[rows], strict=True)]
    return np.array(texts, dtype=str)
