"""Table files of any format (CSV, Parquet, Excel): opened, and read as `TextTable`, whole or in chunks."""

import contextlib
import io
import itertools
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confml.data import csv_text
from confml.data.frame_table import read_frame
from confml.data.memory import available_memory
from confml.data.text_table import TextTable, short
from confml.errors import ConfigError, DataError, printable

FRAMES = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel"}
_TEXTS = (".csv", ".tsv", ".txt", ".dat")
_COMPRESSED = (".gz", ".bz2", ".zst")
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_BLOCK = 1 << 26  # bytes of a file that are read at once


def table_name(path: Path | str) -> str:
    """Return the name of a table file without its endings: ``loans`` for ``loans.csv.gz``."""
    path = Path(path)
    return Path(path.stem).stem if path.suffix.lower() in _COMPRESSED else path.stem


def is_table_name(name: str) -> bool:
    """Return whether a path has the ending of a table file, such as ``.csv``, ``.csv.gz`` or ``.xlsx``."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes[-2:]]
    return bool(suffixes) and (suffixes[-1] in FRAMES or any(suffix in _TEXTS for suffix in suffixes))


# ---- files


def require_regular(path: Path, pipes: bool = False) -> None:
    """Raise DataError for a path that exists and is not a regular file. pipes: whether a pipe is accepted."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # reported where the file is opened
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or pipes and stat.S_ISFIFO(mode)):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        hint = "save its content as a file; confml predict reads new rows from standard input, as -"
        raise DataError(f"this is {kind}, not a regular file", where=str(path), hint=hint)


def file_error(path: Path, error: OSError) -> DataError:
    """Return the error of a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        try:
            beside = [file.name for file in path.parent.iterdir() if file.is_file()]
        except OSError:
            return DataError(f"no such file, nor a folder {path.parent}", where=str(path))
        return DataError("no such file", where=str(path), hint="", near=(path.name, beside))
    if isinstance(error, IsADirectoryError):
        return DataError("this is a folder, not a table file", where=str(path))
    return DataError(f"cannot be read: {error.strerror or error}", where=str(path))


def opened(path: Path, pipes: bool = False) -> BinaryIO:
    """Return a file that is open for reading. Raises DataError for one that cannot be opened."""
    require_regular(path, pipes)
    try:
        return open(path, "rb")
    except OSError as error:
        raise file_error(path, error) from None


@contextlib.contextmanager
def _unpacked(path: Path, stream: BinaryIO) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a stream that may be compressed; with the largest number of bytes that it may unpack to."""
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    begin = buffered.peek(8)
    kind = next((kind for magic, kind in _MAGIC.items() if begin.startswith(magic)), None)
    if kind is None:
        yield buffered, None
        return
    try:
        with pa.CompressedInputStream(buffered, kind) as unpacked:
            yield unpacked, (available_memory() or 1 << 32) // 8
    except DataError:
        raise
    except (OSError, ValueError) as error:
        message = f"the compressed data are broken ({kind}): {printable(error, 200)}"
        raise DataError(message, where=str(path)) from None


# ---- whole tables


def read_table(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    has_header: bool = True,
    sheet: str | None = None,
) -> TextTable:
    """Read a table file.

    ``.parquet`` and ``.xlsx`` files are read with pandas; any other file is CSV, plain or compressed by gzip,
    bzip2 or Zstandard. separator: of a CSV file, one character or one of the words of `SEPARATORS`; ``" "``
    stands for any run of blanks. encoding: of a CSV file, by default that of its byte-order mark, or UTF-8.
    has_header: False for a file whose columns are called column-1, column-2 and so on. sheet: of a workbook,
    the first by default. Raises DataError with the file and the line for a file that is not a table.
    """
    path = Path(path)
    if kind := FRAMES.get(path.suffix.lower()):
        opened(path).close()
        return read_frame(path, kind, has_header, sheet)
    _refuse_sheet(path, sheet)
    form = csv_text.CsvFormat(encoding, separator, has_header)
    with opened(path) as file, _unpacked(path, file) as (stream, limit):
        blocks = csv_text.text_blocks(path, stream, encoding, None, itertools.repeat(_BLOCK), limit)
        header, parts = csv_text.read_blocks(path, blocks, form, None)
        tables, lines = zip(*parts, strict=True)
    table = _under(path, header, pa.concat_tables(tables), np.concatenate(lines))
    if len(header.names) == 1:
        separators = "comma, semicolon, tab, bar or blanks" if separator is None else repr(header.separator)
        raise DataError(
            f"there is only one column, '{short(header.names[0], 60)}': nothing is separated by {separators}",
            where=str(path),
            hint="give the right separator",
        )
    if not len(table):
        raise DataError(f"there are no rows under the header (line {header.line})", where=str(path))
    if separator is None and header.separator != ",":
        words = {"\t": "tabs", " ": "blanks", ";": "semicolons", "|": "bars"}[header.separator]
        table.notes.insert(0, f"{path.name}: the columns seem to be separated by {words}")
    return table


def _under(path: Path, header: csv_text.Header, data: pa.Table, lines: np.ndarray) -> TextTable:
    """Return the rows under a header, without the last columns that have neither a name nor a field."""
    width = len(header.names)
    while not header.names[width - 1] and not pc.any(pc.not_equal(data.column(width - 1), "")).as_py():
        width -= 1
    names, where = header.names[:width], f"{path}, line {header.line}"
    return TextTable.of(
        path, names, data.select(range(width)), lines, where=where, separator=header.separator
    )


def column_names_of(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    has_header: bool = True,
    sheet: str | None = None,
) -> list[str]:
    """Return the names of the columns of a table file, from its beginning. Raises as `read_table`."""
    path, usual = Path(path), csv_text.CsvFormat(header=has_header)
    if kind := FRAMES.get(path.suffix.lower()):
        opened(path).close()
        return read_frame(path, kind, has_header, sheet, names_only=True).names
    require_regular(path)
    return next(table_chunks(path, rows=1, separator=separator, encoding=encoding, usual=usual)).names


def _refuse_sheet(path: Path, sheet: str | None) -> None:
    if sheet is not None:
        raise ConfigError(f"{path} has no sheets: sheet is for Excel workbooks")


# ---- tables in chunks

CHUNK_ROWS = 4096


def table_chunks(
    path: Path | str,
    stream: BinaryIO | None = None,
    *,
    rows: int = CHUNK_ROWS,
    separator: str | None = None,
    encoding: str | None = None,
    expected: Collection[str] = (),
    usual: csv_text.CsvFormat | None = None,
    sheet: str | None = None,
) -> Iterator[TextTable]:
    """Iterate over the rows of a table file in chunks: at least one, without rows if the file has none.

    stream: the bytes of a CSV file, such as standard input; ``path`` then names it in messages. expected:
    names of columns; without ``separator``, the separator is the one that finds most of them in the header.
    usual: the format of the training file. Its encoding is used without ``encoding`` and without a byte-order
    mark, and its separator is tried first. Text that is valid UTF-8 is read as UTF-8. sheet:
    of a workbook.
    A CSV file needs memory for one chunk and one block of text, a Parquet file or an Excel workbook is read
    as a whole. Raises DataError as `confml.data.table_files.read_table` does.
    """
    usual = usual or csv_text.CsvFormat()
    path = Path(path)
    if stream is None and path.suffix.lower() in FRAMES:
        yield from chunks_of(read_table(path, has_header=usual.header, sheet=sheet), rows)
        return
    _refuse_sheet(path, sheet)
    source = contextlib.nullcontext(stream) if stream is not None else opened(path, pipes=True)
    with source as packed, _unpacked(path, packed) as (unpacked, _):
        # Small ones first, for the first answers; larger ones take less time for many columns.
        sizes = (1 << min(exponent, 20) for exponent in itertools.count(16))
        blocks = csv_text.text_blocks(path, unpacked, encoding, usual.encoding, sizes)
        form = csv_text.CsvFormat(encoding, separator, usual.header)
        header, parts = csv_text.read_blocks(path, blocks, form, rows, expected, usual.separator)
        table = _under(path, header, *next(parts))
        yield table.part(0, rows)
        table = table.part(rows, len(table))
        for data, lines in parts:
            data = data.select(range(len(table.names))).rename_columns(table.names)
            lines = np.concatenate([table.lines, lines])
            table = replace(table, data=pa.concat_tables([table.data, data]), lines=lines)
            for _ in range(len(table) // rows):
                yield table.part(0, rows)
                table = table.part(rows, len(table))
        if len(table):
            yield from chunks_of(table, rows)


def chunks_of(table: TextTable, rows: int = CHUNK_ROWS) -> Iterator[TextTable]:
    """Iterate over the rows of a table in chunks: at least one, without rows if the table has none."""
    for first in range(0, max(1, len(table)), rows):
        yield table.part(first, rows)
