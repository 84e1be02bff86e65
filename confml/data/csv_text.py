"""The text of CSV files: from bytes to text, and from text to records of fields with their lines.

The fields are divided by `csv.reader`, from the first quote or blank on. `pandas.read_csv` is not used: it
gives no lines for messages, fills short rows, and converts values before they can be checked.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from confml.data.memory import check_width
from confml.data.text_table import TextTable, numbered_names, short
from confml.errors import ConfigError, DataError

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": " ", "\\t": "\t"}
_SNIFFED = (",", ";", "\t", "|")
_BLOCK = 1 << 16  # bytes that are decoded at a time
_LOOKED_AT = 200  # records from which the separator is detected
_TOGETHER = 1024  # lines that are looked at together
_BOMS = (  # the longer ones first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Control characters in latin-1; dashes, quotes and the euro sign in cp1252.
_WINDOWS = re.compile(rb"[\x80-\x9f]")
NO_HEADER = "every field of the file is empty: it has no header line"
_UTF8 = ("utf-8", "utf-8-sig")
_NOT_TEXT = (
    (b"PK\x03\x04", "a zip file or an Excel workbook", "save it as CSV, or call an Excel workbook .xlsx"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as CSV"),
    (b"\x1f\x8b", "a gzip file inside another", "unpack it first"),
    (b"PAR1", "a Parquet file", "call it .parquet"),
    (b"%PDF", "a PDF file", "export the table as CSV"),
)


class CsvFormat(NamedTuple):
    """Encoding and separator of a CSV file, None where they are detected, and whether it has a header."""

    encoding: str | None = None
    separator: str | None = None
    header: bool = True


# ---- tables


def parse(path: Path, content: str, separator: str | None = None, has_header: bool = True) -> TextTable:
    """Return the table in the text of a whole CSV file. Parameters are as of `read_table`.

    Raises DataError with the file and the line for text that is not a table.
    """
    if not content.strip():
        raise DataError("the file is empty", where=str(path))
    taken = sniff(content) if separator is None else separator_of(separator)
    records = records_in(content, taken, path)
    line, header = first = next(records, (0, []))
    if not header:
        raise DataError(NO_HEADER, where=str(path))
    if not has_header:
        records, header = chain([first], records), numbered_names(len(header))
    columns, lines = columns_in(records, len(header))
    if len(header) == 1 and columns:
        known = "comma, semicolon, tab, bar or blanks" if separator is None else repr(taken)
        raise DataError(
            f"there is only one column, '{short(header[0], 60)}': nothing is separated by {known}",
            where=str(path),
            hint="give the right separator",
        )
    if columns and not lines:
        raise DataError(f"there are no rows under the header (line {line})", where=str(path))
    if columns and header[-1]:
        table = TextTable.of(path, header, columns, lines, f"{path}, line {line}", separator=taken)
    else:
        whole = list(records_in(content, taken, path))
        table = table_of(path, header, line, whole[1:] if has_header else whole, taken)
    if separator is None and taken != ",":
        words = {"\t": "tabs", " ": "blanks", ";": "semicolons", "|": "bars"}.get(taken, repr(taken))
        table.notes.insert(0, f"{path.name}: columns are separated by {words}, as it seems")
    return table


def table_of(
    path: Path, header: list[str], line: int, records: list[tuple[int, list[str]]], separator: str
) -> TextTable:
    """Return the table of records under a header. Raises DataError for records of another length."""
    if records:
        header = even_records(path, header, line, records)
    columns, lines = columns_in(iter(records), len(header))
    return TextTable.of(path, header, columns, lines, f"{path}, line {line}", separator=separator)


def columns_in(records: Iterator[tuple[int, list[str]]], count: int) -> tuple[list[list[str]], list[int]]:
    """Return the columns of records and their lines; no columns if a record has not ``count`` fields.

    Few records are held at a time: lists of fields take as much memory as the fields.
    """
    columns: list[list[str]] = [[] for _ in range(count)]
    lines: list[int] = []
    while part := list(islice(records, _TOGETHER)):
        at, rows = zip(*part, strict=True)
        if {*map(len, rows)} != {count}:
            return [], lines
        lines += at
        for column, fields in zip(columns, zip(*rows, strict=True), strict=True):
            column += fields
    return columns, lines


# ---- bytes to text


def check_is_text(path: Path, data: bytes) -> None:
    """Raise DataError for data that begin like a file of another kind."""
    for magic, what, todo in _NOT_TEXT:
        if data.startswith(magic):
            raise DataError(f"this is {what}, not a CSV file", where=str(path), hint=todo)


def marked_encoding(data: bytes) -> str | None:
    """Return the encoding that a byte-order mark names, None without a mark."""
    return next((name for bom, name in _BOMS if data.startswith(bom)), None)


def decode(path: Path, data: bytes, encoding: str | None) -> str:
    """Return the text of a whole file with plain line ends; raise DataError with the byte that is wrong."""
    if encoding is not None:
        check_encoding(encoding)
    marked = marked_encoding(data)
    chosen = marked or encoding or "utf-8"  # a mark is as good as certain, whatever was said
    try:
        text = data.decode(chosen)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"byte {error.start + 1} of the file, 0x{data[error.start]:02X}"
        other = other_encoding(chosen, data)
        hint = f"say encoding: {other} (--encoding {other})"
        raise DataError(f"not {chosen} text ({byte})", where=f"{path}, line {line}", hint=hint) from None
    except UnicodeError as error:
        raise DataError(f"not {chosen} text: {error}", where=str(path)) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        hint = "if the file is UTF-16, set encoding: utf-16-le or utf-16-be"
        raise DataError("there are zero bytes: this is not text", where=f"{path}, line {line}", hint=hint)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def decoded_lines(path: Path, stream: BinaryIO, encoding: str | None, usual: str | None) -> Iterator[str]:
    """Yield the lines of a stream of text without their ends.

    encoding: of the file, or None. usual: that of the training file, for a file without a byte-order mark.

    Raises DataError with the line for bytes that are not text in the encoding.
    """
    data = stream.read(_BLOCK)
    check_is_text(path, data)
    chosen = marked_encoding(data) or encoding or usual or "utf-8"
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(chosen)(), translate=True)
    is_unsure = chosen == usual and encoding is None and codecs.lookup(chosen).name not in _UTF8
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
                hint=f"name the encoding of this file: --encoding {other_encoding(chosen, data)}",
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


def other_encoding(chosen: str, data: bytes) -> str:
    """Return a likely encoding of data that are not text in the chosen one."""
    if not chosen.startswith("utf-8"):
        return "utf-8"
    return "cp1252" if _WINDOWS.search(data) else "latin-1"


def check_encoding(encoding: str) -> None:
    """Raise ConfigError for an encoding that Python does not have."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        hint = "utf-8, latin-1 and cp1252 are common ones"
        raise ConfigError(f"unknown encoding '{encoding}'", hint=hint) from None


# ---- text to records


def separator_of(given: str) -> str:
    """Return the separator that a character or a word stands for. Raises ConfigError for anything else."""
    taken = SEPARATORS.get(given, given)
    if len(taken) != 1 or taken in "\"\n'":
        words = ", ".join(word for word in SEPARATORS if word.isalpha())
        raise ConfigError(
            f"separator must be one character, got '{given}'", hint=f"or one of the words {words}"
        )
    return taken


def sniff(text: str) -> str:
    """Return the separator that cuts the first records into most columns, equally many in each if one does
    so.
    """
    text = "\n".join(text.split("\n", 2 * _LOOKED_AT)[: 2 * _LOOKED_AT])
    best, best_score = None, (False, 1)
    for candidate in (*_SNIFFED, " "):
        widths = []
        try:
            for _, fields in records_in(text, candidate, Path()):
                widths.append(len(fields))
                if len(widths) == _LOOKED_AT:
                    break
        except DataError:  # broken quotes: said where the file is really read
            pass
        even = len(set(widths)) == 1
        score = (even, widths[0] if widths else 0)
        if candidate == " " and (best_score[0] or not even):
            continue  # blanks also stand inside texts: only if nothing else separates as well
        if score[1] > 1 and score > best_score:
            best, best_score = candidate, score
    return best or ","


def records_in(text: str, separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that hold anything, with the line on which each begins."""
    yield from records_of(_lines_in(text), separator, path, len(text) + 1)


def _lines_in(text: str) -> Iterator[str]:
    """Yield the lines of a text, of which few are held at a time."""
    start = 0
    while start >= 0:
        stop = text.find("\n", start + _BLOCK)
        yield from (text[start:stop] if stop >= 0 else text[start:]).split("\n")
        start = stop + 1 if stop >= 0 else -1


def records_of(
    lines: Iterable[str], separator: str, path: Path, longest: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records in lines without their ends, as `records_in`; fields have at most ``longest``
    characters. Raises DataError for broken quotes.
    """
    lines, passed = iter(lines), 0
    if separator == " ":
        lines = (" ".join(line.split()) for line in lines)
    else:
        while part := list(islice(lines, _TOGETHER)):
            if not _is_plain("".join(part), separator, longest):
                lines = chain(part, lines)
                break
            for number, line in enumerate(part, passed + 1):
                if line.strip(separator):
                    yield number, line.split(separator)
            passed += len(part)
        else:
            return
    # The csv module refuses fields above a limit of the whole process. It is only ever raised: that is safe
    # for other threads.
    csv.field_size_limit(max(csv.field_size_limit(), min(longest, 2**31 - 1)))
    reader = csv.reader(
        (line + "\n" for line in lines), delimiter=separator, skipinitialspace=separator != "\t", strict=True
    )
    while True:
        begins = passed + reader.line_num + 1
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


def _is_plain(text: str, separator: str, longest: int) -> bool:
    """Return whether a text has no quotes, no blanks and no long fields, so that lines are divided as they
    are.
    """
    if '"' in text or len(text) > longest:
        return False
    text = text.replace("\t", "") if separator == "\t" else text
    return not text or text.split(None, 1) == [text]


def even_records(path: Path, header: list[str], line: int, records: list[tuple[int, list[str]]]) -> list[str]:
    """Return the header, once every record has its length; empty fields at the ends of all lines do not
    count. Raises DataError for records of another length.
    """
    widths = {len(fields) for _, fields in records} | {len(header)}
    longest = max(widths)
    check_width(longest, f"{path}, line {line}")
    if len(widths) == 1 and header[-1]:
        return header
    while longest > 1 and all(len(fields) < longest or not fields[-1] for fields in _all(header, records)):
        longest -= 1  # a separator at the end of lines
        for fields in _all(header, records):
            del fields[longest:]
    ragged = [(at, len(fields)) for at, fields in records if len(fields) != len(header)]
    if not ragged:
        return header
    at, got = ragged[0]
    rest = f", and {len(ragged) - 1} more such lines" if len(ragged) > 1 else ""
    hint = "a field with the separator inside must stand in double quotes"
    if len(ragged) == len(records) and all(length == len(header) + 1 for _, length in ragged):
        hint = (
            f"every row has one field more: does the header (line {line}) lack a name for the first column?"
        )
    elif len(ragged) == len(records):
        hint = f"no row fits: is line {line} the header?"
    raise DataError(
        f"{got} fields, expected {len(header)} as in the header{rest}", where=f"{path}, line {at}", hint=hint
    )


def _all(header: list[str], records: list[tuple[int, list[str]]]) -> Iterator[list[str]]:
    yield header
    for _, fields in records:
        yield fields
