"""Compressed files and archives: gzip, bzip2, Zstandard, zip, UNIX compress, shell archives.

pyarrow reads the first three, the standard library zip. Neither has a reader of UNIX compress, and a shell
archive is read here because it would otherwise be run.
"""

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from confml.errors import DataError


def uncompress_z(data: bytes, member: str | None = None) -> bytes:
    """Return the content of a file of UNIX ``compress`` (``.Z``).

    Lempel-Ziv-Welch (Welch 1984) with codes of 9 bits that grow to at most ``data[2] & 31``, low bits first;
    code 256 clears the table. Codes are written in groups of eight, and the rest of a group is padding when
    the width of the codes changes or the table is cleared. Raises ValueError for broken data.
    """
    if data[:2] != b"\x1f\x9d" or not 0x89 <= data[2] <= 0x90:
        raise ValueError("it is not a file of UNIX compress, with codes of 9 to 16 bits in block mode")
    widest, table = data[2] & 31, [bytes([byte]) for byte in range(256)] + [b""]
    width, last, out = 9, b"", []
    bit, group = 24, 24  # places of the next code and of its group of eight
    while bit + width <= 8 * len(data):
        at = bit >> 3
        code = int.from_bytes(data[at : at + 4], "little") >> (bit & 7) & ((1 << width) - 1)
        bit += width
        if code == 256:
            del table[257:]
            entry = b""
        else:
            if code > len(table) or (code == len(table) and not last):
                raise ValueError(f"broken compress data: code {code} near byte {at} is not in the table yet")
            entry = table[code] if code < len(table) else last + last[:1]  # the code that this step makes
            if last and len(table) < 1 << widest:
                table.append(last + entry[:1])
        out.append(entry)
        last = entry
        grows = code != 256 and len(table) == 1 << width and width < widest
        if grows or code == 256:
            bit = group = group - (group - bit) // (8 * width) * (8 * width)
            width = width + 1 if grows else 9
    return b"".join(out)


_SHAR_FILE = re.compile(
    rb"""^\s*(?:sed\s+(?:-e\s+)?(['"]?)s/\^X//\1|cat)\s+   # what each line is passed through
    (?:<<\s*(?P<mark1>\S+)\s*>\s*(?P<name1>\S+)|>\s*(?P<name2>\S+)\s*<<\s*(?P<mark2>\S+))""",
    re.VERBOSE,
)


def shar_member(data: bytes, member: str | None) -> bytes:
    """Return a file of a shell archive: lines of its here-document, without the X that ``sed`` removes.

    Nothing of the archive is run. Raises ValueError for an archive without the file or its end.
    """
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        found = _SHAR_FILE.match(line)
        if found and (found["name1"] or found["name2"]).strip(b"'\"") == str(member).encode():
            end = lines.index((found["mark1"] or found["mark2"]).strip(b"'\"\\"), number)
            sed = b"sed" in found[0]
            return b"".join(body.removeprefix(b"X" if sed else b"") + b"\n" for body in lines[number:end])
    raise ValueError(f"there is no file '{member}' in the shell archive")


READERS: dict[str, Callable[[bytes, str | None], bytes]] = {
    "compress-z": uncompress_z,
    "shar-member": shar_member,
}
"""Readers of the files that cards name with ``unpack``, which pooch does not have."""

LARGEST = 1 << 32  # bytes that a file may unpack to where nothing else is known
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
# The readers raise all of these for broken archives; nothing else is caught.
BROKEN = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    RuntimeError,  # a compression method that zipfile does not have is one of these
    KeyError,
    ValueError,
    IndexError,
    OverflowError,
    struct.error,
)


def compression_of(data: bytes) -> str | None:
    """Return ``gzip``, ``bzip2``, ``zstandard``, or None for data that begin with none of their marks."""
    return next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), None)


def decompress(kind: str, data: bytes, limit: int | None = None) -> bytes:
    """Return the content of compressed ``data``; several parts in one file are read one after another.

    Raises DataError, without a place, for broken data and where more than ``limit`` bytes come out.
    """
    try:
        with open_compressed(kind, io.BytesIO(data)) as stream:
            return read_limited(stream, limit)
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the compressed data are broken ({kind}): {in_words(error)}") from None


def zip_member(source: Path | BinaryIO, member: str, limit: int | None = None) -> bytes:
    """Return a file of a zip archive. Raises DataError, without a place, as `decompress` does."""
    try:
        with zipfile.ZipFile(source) as archive:
            names = archive.namelist()
            if member not in names:
                raise DataError(f"the zip file has no member '{member}'", hint=there_are(names))
            info = archive.getinfo(member)
            if info.flag_bits & 1:
                raise DataError(f"the member '{member}' of the zip file is encrypted")
            with archive.open(info) as stream:
                return read_limited(stream, limit)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the compressed data are broken (zip): {in_words(error)}") from None


def read_limited(stream, limit: int | None = None) -> bytes:
    """Return all bytes of a stream. Raises DataError where there are more than ``limit``."""
    limit = LARGEST if limit is None else limit
    parts, count = [], 0
    while part := stream.read(min(1 << 20, limit + 1 - count)):
        parts.append(part)
        count += len(part)
        if count > limit:
            raise too_large(limit)
    return b"".join(parts)


def too_large(limit: int) -> DataError:
    return DataError(f"it unpacks to more than the {limit} bytes that are expected")


def in_words(error: BaseException) -> str:
    """Return the cause in one line."""
    if isinstance(error, EOFError) or "Truncated" in str(error):
        return "it ends before its end mark"
    return " ".join(str(error).split()) or type(error).__name__


def there_are(names: list[str]) -> str:
    """Return a hint that lists the members of an archive."""
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    return f"there are {shown}" if names else "it is empty"


def open_compressed(kind: str, stream: BinaryIO) -> pa.CompressedInputStream:
    """Return a reader of the content of a compressed stream; parts are read one after another."""
    return pa.CompressedInputStream(stream, {"bzip2": "bz2", "zstandard": "zstd"}.get(kind, kind))
