"""A pandas DataFrame as a `TextTable`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from confml.data._frame_files import cell_text
from confml.data.text_table import TextTable, checked_names
from confml.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def frame_table(frame: pd.DataFrame, name: str) -> TextTable:
    """Return the rows of a DataFrame as text; its index is left out, and ``lines`` count its rows from 1.

    name: what messages call it. Numbers become text that reads back as the same number. Raises DataError for
    columns of one name.
    """
    if not len(frame.columns):
        raise DataError("the DataFrame has no columns", where=name)
    names, notes = checked_names(Path(name), [str(column) for column in frame.columns], name)
    columns = [[cell_text(value) for value in frame.iloc[:, j].tolist()] for j in range(frame.shape[1])]
    rows = [list(fields) for fields in zip(*columns, strict=True)]
    return TextTable(Path(name), names, rows, list(range(1, len(rows) + 1)), unit="row", notes=notes)
