"""`read_table`: a table file of any format (CSV, Parquet, Excel) as a `TextTable`."""

from pathlib import Path

from confml.data._frame_files import read_frame
from confml.data.csv_text import read_csv, read_header
from confml.data.text_table import TextTable
from confml.errors import ConfigError

FRAMES = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel"}


_TEXTS = (".csv", ".tsv", ".txt", ".dat")


def is_table_name(name: str) -> bool:
    """Return whether a path has the ending of a table file, such as ``.csv``, ``.csv.gz`` or ``.xlsx``."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes[-2:]]
    return bool(suffixes) and (suffixes[-1] in FRAMES or any(suffix in _TEXTS for suffix in suffixes))


def read_table(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    has_header: bool = True,
    sheet: str | None = None,
) -> TextTable:
    """Read a table file.

    ``.parquet`` and ``.xlsx`` files are read with pandas; any other file is CSV, plain or compressed by gzip,
    bzip2 or Zstandard. separator, encoding: of a CSV file, detected if omitted. has_header: False for a
    file whose columns are called column-1, column-2 and so on. sheet: of a workbook, the first by default.
    Raises DataError with the file and the line for a file that cannot be read as a table.
    """
    path = Path(path)
    kind = FRAMES.get(path.suffix.lower())
    if kind is not None:
        return read_frame(path, kind, has_header, sheet)
    if sheet is not None:
        raise ConfigError(f"{path} has no sheets: sheet is for Excel workbooks")
    return read_csv(path, separator, encoding, has_header)


def column_names_of(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    has_header: bool = True,
    sheet: str | None = None,
) -> list[str]:
    """Return the names of the columns of a table file without reading its rows. Raises as `read_table`."""
    path = Path(path)
    if path.suffix.lower() in FRAMES:
        return read_table(path, has_header=has_header, sheet=sheet).names
    return read_header(path, separator, encoding, has_header)
