"""Data frames of any library, Parquet files and Excel workbooks as `TextTable`."""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confml.data.memory import check_width, require_memory
from confml.data.text_table import (
    BLANKS,
    TextTable,
    cell_text,
    is_numeric,
    numbered_names,
    quoted,
    rows_without_values,
)
from confml.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_UNNAMED_INDEX = re.compile("__index_level_[0-9]+__")  # in Parquet files that pandas wrote


def frame_table(frame: Any, name: str) -> TextTable:
    """Return the rows of a data frame; an index of pandas is left out, and ``lines`` count its rows from 1.

    frame: of pandas, or anything that `pyarrow.table` takes: of polars, a relation of DuckDB, ... name: its
    name in messages. Raises DataError for other objects, and for columns of one name.
    """
    header, data = _columns_of(frame, name)
    if not header:
        raise DataError("the DataFrame has no columns", where=name)
    lines = np.arange(1, data.num_rows + 1)
    return TextTable.of(Path(name), header, data, lines, where=name, unit="row")


def _columns_of(frame: Any, name: str) -> tuple[list[str], pa.Table]:
    """Return the names of columns, and the columns as numbers or as text."""
    if hasattr(frame, "iloc"):
        header = list(map(str, frame.columns))
        columns = [_of_pandas(frame.iloc[:, j]) for j in range(len(header))]
    else:
        try:
            table = pa.table(frame)
        except (TypeError, ValueError, pa.ArrowException):
            message = f"expected a path or a data frame that pyarrow reads, got {type(frame).__name__}"
            raise DataError(message, where=name) from None
        header, columns = table.column_names, list(map(_as_text, table.columns))
    return header, pa.table(columns, names=list(map(str, range(len(header)))))


def _of_pandas(column: "pd.Series") -> pa.ChunkedArray:
    if column.dtype.kind in "iuf" and not hasattr(column, "sparse"):
        return pa.chunked_array([pa.array(column, from_pandas=True)])
    values = column.astype(object).where(column.notna(), None)
    return pa.chunked_array([pa.array(map(cell_text, values.tolist()), pa.string())])


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of numbers as it is, and any other one as text."""
    if is_numeric(column.type):
        return column
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.fill_null(pc.utf8_trim(column.cast(pa.string()), BLANKS), "")
    return pa.chunked_array([pa.array(map(cell_text, column.to_pylist()), pa.string())])


# ---- files


def read_frame(
    path: Path, kind: str, has_header: bool = True, sheet: str | None = None, names_only: bool = False
) -> TextTable:
    """Return the table in a file. ``kind``: ``parquet`` or ``excel``. sheet: of a workbook, by default the
    first; its first row is the header if ``has_header``. names_only: whether rows may be left out.

    Raises DataError for a file that cannot be read. A workbook needs the package openpyxl.
    """
    where, first = str(path), 1
    notes: list[str] = []
    try:
        if kind == "parquet":
            header, data = _read_parquet(path, names_only)
        else:
            changed = path.stat().st_mtime_ns
            header, data, first, notes = _read_workbook(path.absolute(), has_header, sheet, changed)
    except DataError:
        raise
    except Exception as error:  # pandas and the packages below it raise whatever they like for broken files
        file = "a Parquet file" if kind == "parquet" else "an Excel workbook"
        words = " ".join(str(error).split())[:200]
        raise DataError(f"this is not {file} that can be read: {words}", where=where) from None
    if not header:
        raise DataError("the table has no columns", where=where)
    empty = rows_without_values(data)
    if empty.all() and not names_only:
        raise DataError("the table has no rows", where=where)
    lines = np.arange(first, first + data.num_rows)
    table = TextTable.of(path, header, data, lines, where=f"{path}, header", unit="row", notes=notes)
    table.keep(~empty)
    return table


def _read_parquet(path: Path, names_only: bool) -> tuple[list[str], pa.Table]:
    """Return the columns of a Parquet file without an unnamed index of pandas, and without rows if
    ``names_only``."""
    from pyarrow import parquet

    about = parquet.read_metadata(path)
    check_width(about.num_columns, str(path))
    cells = about.num_rows * about.num_columns
    require_memory(16 * cells, f"a table of {about.num_rows:,} rows", where=str(path))
    table = parquet.read_schema(path).empty_table() if names_only else parquet.read_table(path)
    names = [name for name in table.column_names if not _UNNAMED_INDEX.fullmatch(name)]
    return _columns_of(table.select(names), str(path))


@functools.lru_cache(maxsize=2)  # a config's check and its data set read the same workbook
def _read_workbook(
    path: Path, has_header: bool, sheet: str | None, changed: int
) -> tuple[list[str], pa.Table, int, list[str]]:
    """Return the columns of a sheet of a workbook, the number of its first row of values, and notes.

    changed: the time of the file's last change.
    """
    import pandas as pd

    notes = []
    with pd.ExcelFile(path) as book:
        sheets = list(map(str, book.sheet_names))
        if sheet is not None and sheet not in sheets:
            raise DataError(f"there is no sheet '{sheet}'", where=str(path), near=(sheet, sheets))
        if len(sheets) > 1 and sheet is None:
            notes.append(
                f"{path.name}: the first of {len(sheets)} sheets is read, '{sheets[0]}'; "
                f"sheet: (--sheet) reads another one: {quoted(sheets[1:])}"
            )
        frame = pd.read_excel(book, sheet_name=sheet or sheets[0], header=None, dtype=object)
    names, first = numbered_names(frame.shape[1]), 1
    if has_header and len(frame):
        names = ["" if pd.isna(name) else cell_text(name) for name in frame.iloc[0]]
        frame, first = frame.iloc[1:], 2
    return names, _columns_of(frame, str(path))[1], first, notes
