"""The text of a CSV file as rows of fields: encoding, separator, quotes, header; each row with its line.

The fields are divided by `csv.reader`, from the first quote or blank on. `pandas.read_csv` is not used: it
gives no lines for messages, fills short rows, and converts values before they can be checked.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from confml.data._words import short
from confml.data.memory import available_memory
from confml.data.text_table import (
    TextTable,
    check_width,
    checked_names,
    file_error,
    numbered_names,
    require_regular,
)
from confml.data.unpack import compression_of, decompress
from confml.errors import ConfigError, DataError

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "blanks": " ", "\\t": "\t"}
_SNIFFED = (",", ";", "\t", "|")
_LOOKED_AT = 200  # records from which the separator is detected
_TOGETHER = 1024  # lines that are looked at together
_HEAD = 1 << 20  # bytes that the header is read from
_BOMS = (  # the longer ones first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WINDOWS = re.compile(
    rb"[\x80-\x9f]"
)  # control characters in latin-1, dashes, quotes and the euro sign in cp1252
_NO_HEADER = "every field of the file is empty: it has no header line"
_NOT_TEXT = (
    (b"PK\x03\x04", "a zip file or an Excel workbook", "save it as CSV, or call an Excel workbook .xlsx"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as CSV"),
    (b"\x1f\x8b", "a gzip file inside another", "unpack it first"),
    (b"PAR1", "a Parquet file", "call it .parquet"),
    (b"%PDF", "a PDF file", "export the table as CSV"),
)


class CsvFormat(NamedTuple):
    """Encoding and separator of a CSV file, None where they are found out, and whether it has a header."""

    encoding: str | None = None
    separator: str | None = None
    header: bool = True


def read_csv(
    path: Path, separator: str | None = None, encoding: str | None = None, has_header: bool = True
) -> TextTable:
    """Read a CSV file with a header line; without one, columns are called as in `numbered_names`.

    separator: one character, or one of the words of `SEPARATORS`; ``" "`` stands for any run of blanks. None
        finds it out. encoding: None for UTF-8, or the encoding that a byte-order mark names.
    Raises DataError with the file and the line for a file that cannot be read as a table.
    """
    text = _decode(path, _read(path), encoding)
    taken = _taken(path, text, separator)
    records = list(_records(text, taken, path))
    if not records:
        raise DataError(_NO_HEADER, where=str(path))
    line, header = records.pop(0) if has_header else (records[0][0], numbered_names(len(records[0][1])))
    if len(header) == 1 and all(len(fields) == 1 for _, fields in records):
        known = "comma, semicolon, tab, bar or blanks" if separator is None else repr(taken)
        raise DataError(
            f"there is only one column, '{short(header[0], 60)}': nothing is separated by {known}",
            where=str(path),
            hint="give the right separator",
        )
    if not records:
        raise DataError(f"there are no rows under the header (line {line})", where=str(path))
    header = even_records(path, header, line, records)
    names, notes = checked_names(path, header, f"{path}, line {line}")
    if separator is None and taken != ",":
        notes.insert(0, f"{path.name}: columns are separated by {_in_words(taken)}, as it seems")
    return TextTable(path, names, [row for _, row in records], [at for at, _ in records], taken, notes=notes)


def read_header(
    path: Path, separator: str | None = None, encoding: str | None = None, has_header: bool = True
) -> list[str]:
    """Return the names of the columns, from the beginning of the file. Raises as `read_csv`."""
    data = _read(path, _HEAD)
    if len(data) == _HEAD:  # cut at a line, whose end is one byte at least in every encoding
        data = data[: data.rindex(b"\n") + 1] if b"\n" in data else data
        try:
            text = _decode(path, data, encoding)
        except DataError:  # the cut went through a character of several bytes
            text = _decode(path, _read(path), encoding)
    else:
        text = _decode(path, data, encoding)
    line, header = next(_records(text, _taken(path, text, separator), path), (0, []))
    if not header:
        raise DataError(_NO_HEADER, where=str(path))
    if not has_header:
        return numbered_names(len(header))
    return checked_names(path, header, f"{path}, line {line}")[0]


def _taken(path: Path, text: str, separator: str | None) -> str:
    """Return the separator given, or the one found in the text."""
    if not text.strip():
        raise DataError("the file is empty", where=str(path))
    return separator_of(separator) if separator is not None else sniff(text)


# ---- bytes to text


def _read(path: Path, most: int = -1) -> bytes:
    """Return the bytes of a file, uncompressed; only the first ``most`` if the file is not compressed."""
    require_regular(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read(most)
            if compression_of(data):
                data += stream.read()
    except OSError as error:
        raise file_error(path, error) from None
    kind = compression_of(data)
    if kind is not None:
        try:
            data = decompress(kind, data, (available_memory() or 1 << 32) // 8)
        except DataError as error:
            raise DataError(error.message, where=str(path), hint=error.hint) from None
    check_is_text(path, data)
    return data


def check_is_text(path: Path, data: bytes) -> None:
    """Raise DataError for data that begin like a file of another kind."""
    for magic, what, todo in _NOT_TEXT:
        if data.startswith(magic):
            raise DataError(f"this is {what}, not a CSV file", where=str(path), hint=todo)


def marked_encoding(data: bytes) -> str | None:
    """Return the encoding that a byte-order mark names, None without a mark."""
    return next((name for bom, name in _BOMS if data.startswith(bom)), None)


def _decode(path: Path, data: bytes, encoding: str | None) -> str:
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


def other_encoding(chosen: str, data: bytes) -> str:
    """Return a likely encoding of data that are not text in the chosen one."""
    if not chosen.startswith("utf-8"):
        return "utf-8"
    return "cp1252" if _WINDOWS.search(data) else "latin-1"


def is_utf8(encoding: str) -> bool:
    """Return whether a known encoding is UTF-8, under any of its names."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


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
            for _, fields in _records(text, candidate, Path()):
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


def _records(text: str, separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that hold anything, with the line on which each begins."""
    yield from records_of(text.split("\n"), separator, path, len(text) + 1)


def records_of(
    lines: Iterable[str], separator: str, path: Path, longest: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records in lines without their ends, as `_records`; fields have at most ``longest``
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


def _in_words(separator: str) -> str:
    return {"\t": "tabs", " ": "blanks", ";": "semicolons", "|": "bars"}.get(separator, repr(separator))
