"""The text of CSV files: from bytes to text, and from text to columns of fields with their lines.

`pyarrow.csv` divides the records. Blocks that RFC 4180 does not allow, or whose records have different
lengths, are divided by `csv.reader`, which finds the line of a mistake. Everything is read as text:
`pyarrow` would make 7 of 007, dates of texts, and bytes of Latin-1.
"""

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from confml.data.memory import check_width
from confml.data.text_table import BLANKS, numbered_names, rows_without_values
from confml.errors import ConfigError, DataError

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": " ", "\\t": "\t"}
_SNIFFED = (",", ";", "\t", "|")
_LOOKED_AT = 200  # records from which the separator is detected
_HEAD = 1 << 20  # characters from which it is detected
_LONGEST = 1 << 24  # characters of a record
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Control characters in latin-1; dashes, quotes and the euro sign in cp1252.
_WINDOWS = re.compile(rb"[\x80-\x9f]")
_NOT_TEXT = (
    (b"PK\x03\x04", "a zip file or an Excel workbook", "save it as CSV, or call an Excel workbook .xlsx"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as CSV"),
    (b"\x1f\x8b", "a gzip file inside another", "unpack it first"),
    (b"PAR1", "a Parquet file", "call it .parquet"),
    (b"%PDF", "a PDF file", "export the table as CSV"),
)


class CsvFormat(NamedTuple):
    """Encoding and separator of a CSV file, None where they are detected, and whether it has a header.

    missing_values: the texts of missing values, None for the usual ones.
    """

    encoding: str | None = None
    separator: str | None = None
    header: bool = True
    missing_values: tuple[str, ...] | None = None


class Header(NamedTuple):
    """The names of columns, the line that they stand on, and the separator."""

    names: list[str]
    line: int
    separator: str


# ---- bytes to text


def text_blocks(
    path: Path,
    stream: BinaryIO,
    encoding: str | None,
    usual: str | None,
    sizes: Iterator[int],
    limit: int | None = None,
) -> Iterator[bytes]:
    """Yield the text of a stream in blocks, in UTF-8 and with plain line ends.

    encoding: of the file, or None. usual: that of the training file, for a file that has neither a byte-order
    mark nor text in UTF-8. sizes: of the blocks in bytes. limit: bytes.

    Raises DataError with the line for bytes that are not text in the encoding.
    """
    for name in filter(None, (encoding, usual)):
        check_encoding(name)
    data = stream.read(next(sizes))
    for magic, kind, remedy in _NOT_TEXT:
        if data.startswith(magic):
            raise DataError(f"this is {kind}, not a CSV file", where=str(path), hint=remedy)
    marked = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    chosen = marked or encoding or usual or "utf-8"  # a mark is as good as certain
    is_certain = bool(marked or encoding or not usual)
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(chosen)(), translate=True)
    line, size, is_end = 1, 0, False
    while not is_end:
        is_first_of_letters = not is_certain and not data.isascii() and b"\0" not in data
        rest = stream.read(next(sizes)) if is_first_of_letters else b""
        data, is_end = data + rest, not data
        size += len(data)
        if limit is not None and size > limit:
            message = f"it unpacks to more than the {limit} bytes that are expected"
            raise DataError(message, where=str(path))
        if is_first_of_letters:
            is_certain = True
            with contextlib.suppress(UnicodeDecodeError):  # text of one byte per letter is rarely valid UTF-8
                codecs.getincrementaldecoder("utf-8")().decode(data, final=not rest)
                chosen, state = "utf-8", decoder.getstate()
                decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(chosen)(), translate=True)
                decoder.setstate(state)  # of a line break at the end of a block
        try:
            text = decoder.decode(data, final=is_end)
        except UnicodeError as error:
            if isinstance(error, UnicodeDecodeError):
                line += error.object.count(b"\n", 0, error.start)
            alternative = "cp1252" if _WINDOWS.search(data) else "latin-1"
            alternative = alternative if chosen.startswith("utf-8") else "utf-8"
            hint = f"set encoding: {alternative} (--encoding {alternative})"
            raise DataError(f"not {chosen} text", where=f"{path}, line {line}", hint=hint) from None
        if "\0" in text:
            line += text.count("\n", 0, text.index("\0"))
            hint = "if the file is UTF-16, set encoding: utf-16-le or utf-16-be"
            message = "there are zero bytes: this is not text"
            raise DataError(message, where=f"{path}, line {line}", hint=hint)
        yield text.removeprefix("\ufeff" if line == 1 else "").encode(errors="replace")
        line += text.count("\n")
        data = stream.read(next(sizes))


def check_encoding(encoding: str) -> None:
    """Raise ConfigError for an encoding that Python does not have."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        hint = "utf-8, latin-1 and cp1252 are common ones"
        raise ConfigError(f"unknown encoding '{encoding}'", hint=hint) from None


# ---- text to tables


def read_blocks(
    path: Path,
    blocks: Iterator[bytes],
    form: CsvFormat,
    rows: int | None,
    expected: Collection[str] = (),
    tried: str | None = None,
) -> tuple[Header, Iterator[tuple[pa.Table, np.ndarray]]]:
    """Return the header of a CSV file, and its rows with their lines in one table per block.

    blocks: of text in UTF-8. form: of the file. rows: that may be in memory as lists of fields; None for all
    of them. expected: names of columns; without a separator in ``form``, the one is taken that finds most of
    them in the header; ``tried`` is tried first.

    Raises DataError with the line for text that is not a table.
    """
    text = b""
    for block in blocks:
        text += block
        is_enough = len(text) > _HEAD or text.count(b"\n") >= 2 * _LOOKED_AT
        if is_enough and b"\n" in text.lstrip() or len(text) > _LONGEST:
            break
    if not text or text.isspace():
        raise DataError("the file is empty: it has no header line", where=str(path))
    first_lines = text[:_HEAD].split(b"\n", 2 * _LOOKED_AT)
    if len(text) > _HEAD:
        first_lines = first_lines[:-1] or text.split(b"\n", 1)[:1]  # the last one is cut, or the rest
    first_lines = first_lines[: 2 * _LOOKED_AT]
    head = list(map(bytes.decode, first_lines))
    if form.separator is None:
        separator = _likeliest(head, expected, tried)
    else:
        separator = separator_of(form.separator)
    lines = iter(head)
    line, names = next(records_of(lines, separator, path), (0, []))
    if not names:
        raise DataError("every field of the file is empty: it has no header line", where=str(path))
    check_width(len(names), f"{path}, line {line}")
    first = line
    if form.header:
        first = 1 + len(head) - sum(1 for _ in lines)
    else:
        names = numbered_names(len(names))
    body = text[sum(len(before) + 1 for before in first_lines[: first - 1]) :]
    header = Header(names, line, separator)
    return header, _tables(path, header, first, body, blocks, rows)


def _tables(
    path: Path, header: Header, line: int, text: bytes, blocks: Iterator[bytes], rows: int | None
) -> Iterator[tuple[pa.Table, np.ndarray]]:
    """Yield the rows of a text that begins on a line and goes on in blocks."""
    is_first = True
    for block in chain([b""], blocks, [None]):
        text, end = text + (block or b""), len(text)
        if block is not None:
            end = _end_of_records(text)
            if not end and len(text) < _LONGEST:
                continue
        parsed = _parsed(text[:end], header)
        if parsed is None:
            lines = _lines_in(chain([text], blocks))
            records = records_of(lines, header.separator, path, line)
            while (part := list(islice(records, rows))) or is_first:
                yield _even(path, header, part, is_first)
                is_first = False
            return
        data, of_rows, breaks = parsed
        yield data, of_rows + line
        text, line, is_first = text[end:], line + breaks, False


def _lines_in(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text in blocks."""
    pending = b""
    for block in blocks:
        *whole, pending = (pending + block).split(b"\n")
        yield from map(bytes.decode, whole)
    yield pending.decode()


def _end_of_records(text: bytes) -> int:
    """Return the end of the last record of a text that is followed by another; 0 if there is none."""
    end = text.rfind(b"\n")
    quotes = text.count(b'"', 0, end) if end >= 0 and b'"' in text else 0
    while end >= 0 and quotes % 2:
        start = text.rfind(b"\n", 0, end)
        quotes -= text.count(b'"', start + 1, end)
        end = start
    return end + 1


def _parsed(data: bytes, header: Header) -> tuple[pa.Table, np.ndarray, int] | None:
    """Return the rows of whole records, (n,) their lines from 0, and the number of line breaks.

    None if a record has not as many fields as the header, and if quotes stand anywhere but at both ends of a
    field, or in pairs inside: there `csv.reader` and `pyarrow` differ.
    """
    separator, names = header.separator, list(map(str, range(len(header.names))))
    if not separator.isascii():
        return None
    if separator == " ":
        data = "\n".join(" ".join(line.split()) for line in data.decode().split("\n")).encode()
    raw = np.frombuffer(data, dtype=np.uint8)
    breaks = ends = np.flatnonzero(raw == ord("\n"))
    lines = np.arange(len(breaks) + 1)
    has_quotes = b'"' in data
    if has_quotes:
        quotes = np.flatnonzero(raw == ord('"'))
        if not _are_regular(raw, quotes, separator):
            return None
        is_end = np.searchsorted(quotes, breaks) % 2 == 0
        ends, lines = breaks[is_end], np.concatenate([[0], np.flatnonzero(is_end) + 1])
    starts = np.concatenate([[0], ends + 1])
    lengths = np.append(ends, len(raw)) - starts
    lines, lengths = lines[lengths > 0], lengths[lengths > 0]
    if not len(lines):
        return pa.table([pa.array([], pa.string())] * len(names), names=names), lines, len(breaks)
    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(data),
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=min(max(1 << 20, 1000 * int(lengths.max())), len(data) + 1),
                column_names=names,
            ),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=has_quotes),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), check_utf8=False),
        )
    except pa.ArrowInvalid:
        return None
    inside = "" if has_quotes else separator + "\n"
    possible = BLANKS
    if data.isascii() and np.count_nonzero(raw < ord(" ")) == len(breaks):  # the usual case, in one pass
        possible = " \n"
    if blanks := "".join(blank for blank in possible if blank not in inside and blank.encode() in data):
        table = pa.table([pc.utf8_trim(column, blanks) for column in table.columns], names=names)
    empty = rows_without_values(table)
    if empty.any():
        table, lines = table.filter(pa.array(~empty)), lines[~empty]
    return table, lines, len(breaks)


def _are_regular(raw: np.ndarray, quotes: np.ndarray, separator: str) -> bool:
    """Return whether quotes enclose whole fields, and others stand in pairs inside them."""
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    twins = np.flatnonzero(opening[1:] == closing[:-1] + 1)
    before = np.where(opening > 0, raw[opening - 1], ord("\n"))
    after = np.where(closing + 1 < len(raw), raw[np.minimum(closing + 1, len(raw) - 1)], ord("\n"))
    before, after = np.delete(before, twins + 1), np.delete(after, twins)
    return bool(np.isin(np.concatenate([before, after]), [ord("\n"), ord(separator)]).all())


def _even(
    path: Path, header: Header, records: list[tuple[int, list[str]]], is_first: bool
) -> tuple[pa.Table, np.ndarray]:
    """Return records that have the length of the header; empty fields after those of the header do not count.

    is_first: whether they are the first ones of the file. Raises DataError for records of another length.
    """
    expected = len(header.names)
    needed = max(at for at, name in enumerate(header.names, start=1) if name)
    ragged = [
        (line, len(fields)) for line, fields in records if len(fields) < needed or any(fields[expected:])
    ]
    if ragged:
        line, width = ragged[0]
        rest = f", and {len(ragged) - 1} more such lines" if len(ragged) > 1 else ""
        hint = "a field that contains the separator must be in double quotes"
        if is_first and len(ragged) == len(records):
            hint = f"no row fits: is line {header.line} the header, with a name for every column?"
        message = f"{width} fields, expected {needed} as in the header{rest}"
        raise DataError(message, where=f"{path}, line {line}", hint=hint)
    rows = [[*fields, *[""] * expected][:expected] for _, fields in records]
    columns = list(zip(*rows, strict=True)) or [()] * expected
    names = list(map(str, range(expected)))
    lines = np.array([line for line, _ in records], dtype=np.int64)
    return pa.table([pa.array(column, pa.string()) for column in columns], names=names), lines


# ---- separators and records


def separator_of(text: str) -> str:
    """Return the separator that a character or a word stands for. Raises ConfigError for anything else."""
    separator = SEPARATORS.get(text, text)
    if len(separator) != 1 or separator in "\"\n'":
        words = ", ".join(word for word in SEPARATORS if word.isalpha())
        raise ConfigError(
            f"separator must be one character, got '{text}'", hint=f"or one of the words {words}"
        )
    return separator


def _likeliest(head: list[str], expected: Collection[str], tried: str | None) -> str:
    """Return the separator that finds most of the expected columns in the header.

    Of these, it is the one that cuts the first records into most columns, equally many in each if one does
    so. Blanks also stand inside texts: they separate only if nothing else separates as well.
    """
    candidates = [*_SNIFFED, " "]
    if expected:
        candidates = [*([] if tried is None else [separator_of(tried)]), *candidates, *SEPARATORS.values()]

    def score(candidate: str) -> tuple[int, bool, bool, int]:
        records: list[list[str]] = [[]]
        with contextlib.suppress(DataError):  # broken quotes: said where the file is really read
            records += (fields for _, fields in islice(records_of(head, candidate, Path()), _LOOKED_AT))
        widths = list(map(len, records[1:]))
        common = len({*expected} & {" ".join(name.split()) for name in records[:2][-1]})
        is_even = len(set(widths)) == 1 and widths[0] > 1
        is_usual = candidate != " " and max(widths, default=0) > 1
        return common, is_even, is_usual, widths[0] if is_even or is_usual else 0

    return max(candidates, key=score)


def records_of(
    lines: Iterable[str], separator: str, path: Path, line: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that hold anything, with the line on which each begins.

    line: the number of the first of the ``lines``. Raises DataError for broken quotes.
    """
    if separator == " ":
        lines = (" ".join(line.split()) for line in lines)
    # The csv module refuses fields above a limit of the whole process. It is only ever raised: that is safe
    # for other threads.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
    reader = csv.reader(
        (f"{line}\n" for line in lines), delimiter=separator, skipinitialspace=separator != "\t", strict=True
    )
    while True:
        begins = line + reader.line_num
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            words = (
                "a quoted field does not end" if "end of data" in str(error) else f"broken quotes: {error}"
            )
            where = f"{path}, line {begins}"
            raise DataError(words, where=where, hint='a quote inside a quoted field is written ""') from None
        fields = [entry.strip() for entry in fields]
        if any(fields):
            yield begins, fields
