"""A table file of any format (CSV, Parquet, Excel) as `TextTable`, whole or in chunks."""

import codecs
import io
from collections.abc import Collection, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from confml.data import csv_text as text
from confml.data.csv_text import read_csv, read_header
from confml.data.frame_table import read_frame
from confml.data.text_table import TextTable, checked_names, file_error, numbered_names, require_regular
from confml.data.unpack import BROKEN, compression_of, in_words, open_compressed
from confml.errors import ConfigError, DataError

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


CHUNK_ROWS = 4096
_HEAD_LINES = 400  # lines from which the separator is detected
_LONGEST_FIELD = 1 << 24  # characters
_BLOCK = 1 << 16  # bytes


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
    elif sheet is not None:
        raise ConfigError(f"{path} has no sheets: sheet is for Excel workbooks")
    elif stream is not None:
        yield from _chunks(path, stream, rows, separator, encoding, expected, usual)
    else:
        require_regular(path, pipes=True)
        try:
            opened = open(path, "rb")
        except OSError as error:
            raise file_error(path, error) from None
        with opened:
            yield from _chunks(path, opened, rows, separator, encoding, expected, usual)


def chunks_of(table: TextTable, rows: int = CHUNK_ROWS) -> Iterator[TextTable]:
    """Iterate over the rows of a table in chunks: at least one, without rows if the table has none."""
    for first in range(0, max(1, len(table.rows)), rows):
        part = slice(first, first + rows)
        notes = table.notes if first == 0 else []
        yield TextTable(
            table.path,
            table.names,
            table.rows[part],
            table.lines[part],
            table.separator,
            table.unit,
            list(notes),
        )


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
        raise DataError("every field of the file is empty: it has no header line", where=str(path))
    part = list(islice(records, rows))
    if not usual.header:
        part, header = [(at, header), *part], numbered_names(len(header))
    if part:
        header = text.even_records(path, header, at, part)
    names, notes = checked_names(path, header, f"{path}, line {at}")
    while True:
        yield TextTable(path, names, [row for _, row in part], [line for line, _ in part], taken, notes=notes)
        part, notes = list(islice(records, rows)), []
        if not part:
            return
        text.even_records(path, names, at, part)


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
        yield from _decoded(path, buffered, encoding, usual)
        return
    try:
        with open_compressed(kind, buffered) as unpacked:
            yield from _decoded(path, unpacked, encoding, usual)
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        message = f"the compressed data are broken ({kind}): {in_words(error)}"
        raise DataError(message, where=str(path)) from None


def _decoded(path: Path, stream: Any, encoding: str | None, usual: str | None) -> Iterator[str]:
    data = stream.read(_BLOCK)
    text.check_is_text(path, data)
    chosen = text.marked_encoding(data) or encoding or usual or "utf-8"
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(chosen)(), translate=True)
    is_unsure = chosen == usual and encoding is None and not text.is_utf8(chosen)
    pending, line = "", 1
    while True:
        if is_unsure and not data.isascii():
            _check_is_not_utf8(path, data, chosen)
            is_unsure = False
        try:
            block = decoder.decode(data, final=not data)
        except UnicodeError as error:
            raise DataError(
                f"not {chosen} text: {error}",
                where=f"{path}, line {line} or later",
                hint=f"name the encoding of this file: --encoding {text.other_encoding(chosen, data)}",
            ) from None
        if "\0" in block:
            raise DataError("there are zero bytes: this is not text", where=f"{path}, line {line} or later")
        if line == 1 and not pending:
            block = block.removeprefix("\ufeff")
        *whole, pending = (pending + block).split("\n")
        line += len(whole)
        yield from whole
        if not data:
            break
        data = stream.read(_BLOCK)
    if pending:
        yield pending


def _check_is_not_utf8(path: Path, data: bytes, usual: str) -> None:
    """Raise DataError for a block of UTF-8 text where another encoding is usual.

    Text of an encoding with one byte per letter is hardly ever valid UTF-8. Read in it, text in UTF-8 would
    be other text without an error.
    """
    if b"\0" in data:  # of two bytes per letter
        return
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return
    raise DataError(
        f"this is text in UTF-8, and the training file has the encoding {usual}",
        where=str(path),
        hint=f"name the encoding of this file: --encoding utf-8 (or --encoding {usual})",
    )
