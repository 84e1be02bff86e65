"""`read_table`: a table file of any format (CSV, Parquet, Excel) as a `TextTable`."""

from __future__ import annotations

from pathlib import Path

from confml.data._frame_files import read_frame
from confml.data.csv_text import read_csv, read_header
from confml.data.text_table import TextTable

FRAMES = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel"}


def read_table(path: Path, separator: str | None = None, encoding: str | None = None) -> TextTable:
    """Read a table file with a header line.

    ``.parquet`` and ``.xlsx`` files are read with pandas (the first sheet); any other file is CSV, plain or
    compressed by gzip, bzip2 or Zstandard. separator, encoding: of a CSV file, detected if omitted.
    Raises DataError with the file and the line for a file that cannot be read as a table.
    """
    path = Path(path)
    kind = FRAMES.get(path.suffix.lower())
    if kind is not None:
        return read_frame(path, kind)
    return read_csv(path, separator, encoding)


def column_names_of(path: Path, separator: str | None = None, encoding: str | None = None) -> list[str]:
    """Return the names of the columns of a table file without reading its rows. Raises as `read_table`."""
    path = Path(path)
    if path.suffix.lower() in FRAMES:
        return read_table(path).names
    return read_header(path, separator, encoding)
