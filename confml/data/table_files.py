"""Table files of any format (CSV, Parquet, Excel): opened, and read as `TextTable`, whole or in chunks."""

import contextlib
import io
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from confml.data import csv_text as text
from confml.data.frame_table import read_frame
from confml.data.memory import available_memory
from confml.data.text_table import TextTable, numbered_names
from confml.data.unpack import BROKEN, compression_of, decompress, in_words, open_compressed
from confml.errors import ConfigError, DataError

FRAMES = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "excel", ".xlsm": "excel"}
_TEXTS = (".csv", ".tsv", ".txt", ".dat")
_COMPRESSED = (".gz", ".bz2", ".zst")


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
    """Raise DataError for a path that is there and is no regular file. pipes: whether a pipe is accepted."""
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
            beside = [other.name for other in path.parent.iterdir() if other.is_file()]
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


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a text file, uncompressed."""
    try:
        with opened(path) as stream:
            data = stream.read()
            if kind := compression_of(data):
                data = decompress(kind, data, (available_memory() or 1 << 32) // 8)
    except OSError as error:
        raise file_error(path, error) from None
    except DataError as error:
        raise DataError(error.message, where=str(path), hint=error.hint) from None
    text.check_is_text(path, data)
    return data


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
    return text.parse(path, text.decode(path, _read_bytes(path), encoding), separator, has_header)


def column_names_of(
    path: Path,
    separator: str | None = None,
    encoding: str | None = None,
    has_header: bool = True,
    sheet: str | None = None,
) -> list[str]:
    """Return the names of the columns of a table file, from its beginning. Raises as `read_table`."""
    path, usual = Path(path), text.CsvFormat(header=has_header)
    if path.suffix.lower() in FRAMES:
        return read_table(path, has_header=has_header, sheet=sheet).names
    require_regular(path)
    return next(table_chunks(path, rows=0, separator=separator, encoding=encoding, usual=usual)).names


def _refuse_sheet(path: Path, sheet: str | None) -> None:
    if sheet is not None:
        raise ConfigError(f"{path} has no sheets: sheet is for Excel workbooks")


# ---- tables in chunks

CHUNK_ROWS = 4096
_HEAD_LINES = 400  # lines from which the separator is detected
_LONGEST_FIELD = 1 << 24  # characters


def table_chunks(
    path: Path | str,
    stream: BinaryIO | None = None,
    *,
    rows: int = CHUNK_ROWS,
    separator: str | None = None,
    encoding: str | None = None,
    expected: Collection[str] = (),
    usual: text.CsvFormat | None = None,
    sheet: str | None = None,
) -> Iterator[TextTable]:
    """Iterate over the rows of a table file in chunks: at least one, without rows if the file has none.

    stream: the bytes of a CSV file, such as standard input; ``path`` then names it in messages. expected:
    names of columns; without ``separator``, the separator is the one that finds most of them in the header.
    usual: the format of the training file. Its encoding is used without ``encoding`` and without a byte-order
    mark, and its separator is tried first. Text in UTF-8 where another encoding is usual is an error. sheet:
    of a workbook.
    A CSV file needs memory for one chunk, a Parquet file or an Excel workbook is read as a whole. Raises
    DataError as `confml.data.table_files.read_table` does.
    """
    usual = usual or text.CsvFormat()
    path = Path(path)
    if stream is None and path.suffix.lower() in FRAMES:
        yield from chunks_of(read_table(path, has_header=usual.header, sheet=sheet), rows)
        return
    _refuse_sheet(path, sheet)
    with contextlib.nullcontext(stream) if stream is not None else opened(path, pipes=True) as source:
        yield from _chunks(path, source, rows, separator, encoding, expected, usual)


def chunks_of(table: TextTable, rows: int = CHUNK_ROWS) -> Iterator[TextTable]:
    """Iterate over the rows of a table in chunks: at least one, without rows if the table has none."""
    for first in range(0, max(1, len(table)), rows):
        part = slice(first, first + rows)
        columns = {name: texts[part] for name, texts in table.columns.items()}
        notes = [] if first else list(table.notes)
        yield replace(table, columns=columns, lines=table.lines[part], notes=notes)


def _chunks(
    path: Path,
    stream: BinaryIO,
    rows: int,
    separator: str | None,
    encoding: str | None,
    expected: Collection[str],
    usual: text.CsvFormat,
) -> Iterator[TextTable]:
    lines = _lines(path, stream, encoding, usual.encoding)
    head = list(islice(lines, _HEAD_LINES))
    if not any(line.strip() for line in head):
        raise DataError("the file is empty: it has no header line", where=str(path))
    taken = text.separator_of(separator) if separator else _likeliest(head, path, expected, usual.separator)
    records = text.records_of(chain(head, lines), taken, path, _LONGEST_FIELD)
    at, header = next(records, (0, []))
    if not header:
        raise DataError(text.NO_HEADER, where=str(path))
    part = list(islice(records, rows))
    if not usual.header:
        part, header = [(at, header), *part], numbered_names(len(header))
    width, table = len(header), text.table_of(path, header, at, part, taken)
    yield table
    names = table.names
    while part := list(islice(records, rows)):
        for fields in (fields for _, fields in part if len(fields) == width > len(names)):
            del fields[len(names) :]  # the first chunk has nothing in these columns, nor has the header
        text.even_records(path, names, at, part)
        columns, numbers = text.columns_in(iter(part), len(names))
        yield replace(table, columns=dict(zip(names, columns, strict=True)), lines=numbers, notes=[])


def _likeliest(head: list[str], path: Path, expected: Collection[str], usual: str | None) -> str:
    """Return the separator that finds most of the expected columns in the header, or else most columns."""
    sniffed = text.sniff("\n".join(head))
    best, most = sniffed, 0
    first = () if usual is None else (text.separator_of(usual),)
    for candidate in dict.fromkeys((*first, sniffed, *text.SEPARATORS.values())):
        try:
            _, header = next(text.records_of(iter(head), candidate, path, _LONGEST_FIELD), (0, []))
        except DataError:  # broken quotes: reported where the file is read
            continue
        found = len(set(expected) & {" ".join(name.split()) for name in header})
        if found > most:
            best, most = candidate, found
    return best


def _lines(path: Path, stream: BinaryIO, encoding: str | None, usual: str | None) -> Iterator[str]:
    """Yield the lines of a stream without their ends."""
    for one in filter(None, (encoding, usual)):
        text.check_encoding(one)
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    kind = compression_of(buffered.peek(8)[:8])
    if kind is None:
        yield from text.decoded_lines(path, buffered, encoding, usual)
        return
    try:
        with open_compressed(kind, buffered) as unpacked:
            yield from text.decoded_lines(path, unpacked, encoding, usual)
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        message = f"the compressed data are broken ({kind}): {in_words(error)}"
        raise DataError(message, where=str(path)) from None
