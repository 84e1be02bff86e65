"""Columns and lines of the data set that a model is fitted to."""

import numpy as np

from confml.config.dataset_spec import DatasetSpec
from confml.data.csv_text import CsvFormat
from confml.data.dataset import DataSet
from confml.data.new_rows import RowCoder


def row_coder(spec: DatasetSpec, data: DataSet) -> RowCoder:
    """Return the coder of new rows in the columns of a data set."""
    missing = spec.missing or ("mean" if np.isnan(data.table).any() else "error")
    unused = (*(spec.ignore or ()), *(spec.id or ()), *((spec.groups,) if spec.groups else ()))
    csv_format = CsvFormat(spec.encoding, spec.separator, spec.header is not False, spec.missing_values)
    return RowCoder(data, _label_of(spec), unused, missing, spec.decimal or ".", csv_format)


def _label_of(spec: DatasetSpec) -> str | None:
    """Return the name of the label column, None for generated data."""
    if spec.kind == "card":
        from confml.data.cards import read_card

        return read_card(spec.card or spec.name).label
    if spec.kind == "openml":
        from confml.data.openml import label_of

        return label_of(spec.as_dict())
    return spec.label if spec.kind == "csv" else None


def line_texts(data: DataSet, rows: np.ndarray) -> np.ndarray:
    """Return (m,) the line of each row as text; those of a test file that was pooled are marked ``test:``."""
    lines = (data.part_row(rows) + 1 if data.lines is None else data.lines[rows]).tolist()
    of_test = np.zeros(len(data), dtype=bool)
    if data.test_rows is not None:
        of_test[data.test_rows] = True
    texts = [f"test:{line}" if test else str(line) for line, test in zip(lines, of_test[rows], strict=True)]
    return np.array(texts, dtype=str)
