"""DataFrames, Parquet files and Excel workbooks as `TextTable`, read with pandas."""

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from confml.data.memory import check_width, gigabytes, most, raised_by, require_memory
from confml.data.text_table import TextTable, number_text, numbered_names
from confml.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def frame_table(frame: "pd.DataFrame", name: str) -> TextTable:
    """Return the rows of a DataFrame as text; its index is left out, and ``lines`` count its rows from 1.

    name: its name in messages. Numbers become text that reads back as the same number. Raises DataError for
    columns of one name.
    """
    if not len(frame.columns):
        raise DataError("the DataFrame has no columns", where=name)
    header = [str(column) for column in frame.columns]
    lines = np.arange(1, len(frame) + 1)
    return TextTable.of(Path(name), header, _data(_texts(frame)), lines, where=name, unit="row")


def _data(columns: list[list[str]]) -> pa.Table:
    names = list(map(str, range(len(columns))))
    return pa.table([pa.array(column, pa.string()) for column in columns], names=names)


_PACKAGES = {"parquet": ("pyarrow", "a Parquet file"), "excel": ("openpyxl", "an Excel workbook")}


def read_frame(path: Path, kind: str, has_header: bool = True, sheet: str | None = None) -> TextTable:
    """Return the table in a file. ``kind``: ``parquet`` or ``excel``. sheet: of a workbook, by default the
    first; its first row is the header if ``has_header``.

    Numbers become text that reads back as the same number. Raises DataError for a file that cannot be read
    and where the package that reads it is not installed.
    """
    package, what = _PACKAGES[kind]
    if not _installed(package):
        raise DataError(
            f"reading {what} needs the package {package}, which is not installed",
            where=str(path),
            hint="pip install 'confml[files]', or save the table as CSV",
        )
    names, columns, lines, notes = _read(path, kind, what, has_header, sheet)
    if not names:
        raise DataError("the table has no columns", where=str(path))
    kept = np.array([any(fields) for fields in zip(*columns, strict=True)])  # not rows without a value
    if not kept.any():
        raise DataError("the table has no rows", where=str(path))
    lines = np.array(lines)
    table = TextTable.of(path, names, _data(columns), lines, where=f"{path}, header", unit="row", notes=notes)
    table.keep(kept)
    return table


def _texts(frame: "pd.DataFrame") -> list[list[str]]:
    """Return the columns of a DataFrame as text."""
    return [[cell_text(value) for value in frame.iloc[:, j].tolist()] for j in range(frame.shape[1])]


def _read(path: Path, kind: str, what: str, has_header: bool, sheet: str | None):
    """Return the names, the columns as text, the row numbers and the notes of a file."""
    import pandas as pd

    notes: list[str] = []
    try:
        if kind == "parquet":
            import pyarrow.parquet as pq

            _check_parquet(path)
            frame = pq.read_table(path).to_pandas(integer_object_nulls=True)  # floats would round them
            if frame.index.names != [None]:
                frame = frame.reset_index()
            names = [str(name) for name in frame.columns]
            first = 1
        else:
            _check_workbook(path)
            with pd.ExcelFile(path) as book:
                sheets = [str(name) for name in book.sheet_names]
                if sheet is not None and sheet not in sheets:
                    raise DataError(f"there is no sheet '{sheet}'", where=str(path), near=(sheet, sheets))
                if len(sheets) > 1 and sheet is None:
                    others = ", ".join(f"'{name}'" for name in sheets[1:6])
                    notes.append(
                        f"{path.name}: the first of {len(sheets)} sheets is read, '{sheets[0]}'; "
                        f"sheet: (--sheet) reads another one: {others}"
                    )
                chosen = sheets[0] if sheet is None else sheet
                frame = pd.read_excel(book, sheet_name=chosen, header=None, dtype=object)
            if has_header:
                names = [cell_text(name) for name in frame.iloc[0]] if len(frame) else []
                frame, first = frame.iloc[1:], 2
            else:
                names, first = numbered_names(frame.shape[1]), 1
        columns = _texts(frame)
    except DataError:
        raise
    except MemoryError:
        message = f"the memory does not suffice to read {what} of {path.stat().st_size:,} bytes"
        raise DataError(message, where=str(path), hint="use fewer rows or columns, or CSV") from None
    except Exception as error:  # pandas and the packages below it raise whatever they like for broken files
        words = " ".join(str(error).split())[:200]
        raise DataError(f"this is not {what} that can be read: {words}", where=str(path)) from None
    return names, columns, range(first, first + len(frame)), notes


def _check_parquet(path: Path) -> None:
    """Raise DataError for a table that is too wide, or too large for the memory, before it is read."""
    from pyarrow.parquet import read_metadata

    about = read_metadata(path)
    check_width(about.num_columns, str(path))
    cells = about.num_rows * about.num_columns
    require_memory(16 * cells, f"a table of {about.num_rows:,} rows", where=str(path))


def _check_workbook(path: Path) -> None:
    """Raise DataError for a workbook that unpacks to more than the limit."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > (limit := most("UNPACKED", 1 << 30)):
        message = f"the workbook unpacks to {gigabytes(size)}, and the limit is {gigabytes(limit)}"
        raise DataError(message, where=str(path), hint=f"save it as CSV; {raised_by('UNPACKED')}")


def cell_text(value) -> str:
    """Return a cell as a CSV file would hold it; a missing one is empty."""
    import pandas as pd

    if isinstance(value, str):
        return value.strip()
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return ""
    if isinstance(value, float):
        return number_text(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


def _installed(package: str) -> bool:
    import importlib

    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True
