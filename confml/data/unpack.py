"""Compressed files and archives: gzip, bzip2, Zstandard, zip, UNIX compress, shell archives.

The standard library reads the first two and zip. It has no reader of UNIX compress, and a shell archive is
read here because it would otherwise be run.
"""

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from confml.errors import DataError

_CLEAR, _FIRST = 256, 257  # codes of UNIX compress in block mode: start anew; the first free one


def unpack(
    kind: str, data: bytes, member: str | None = None, *, where: str, limit: int | None = None
) -> bytes:
    """Return the file that an archive or a compressed file holds.

    kind: ``gzip`` and ``compress-z`` decompress; ``zip-member`` and ``shar-member`` take out ``member``.
    Nothing of a shell archive is ever run. limit: bytes that the file may have. Raises DataError, placed at
    ``where``, for broken data, for a member that is not there and for a file that is too large.
    """
    try:
        if kind == "gzip":
            return decompress("gzip", data, limit)
        if kind == "compress-z":
            return uncompress_z(data, limit)
        if kind == "zip-member":
            return zip_member(io.BytesIO(data), str(member), limit)
        if kind == "shar-member":
            return _shar_member(data, str(member))
    except DataError as error:
        message = f"cannot be unpacked ({kind}): {error.message}"
        raise DataError(message, where=where, hint=error.hint) from None
    raise ValueError(f"unknown way to unpack: {kind}")


def uncompress_z(data: bytes, limit: int | None = None) -> bytes:
    """Return the content of a file of UNIX ``compress`` (``.Z``), of at most ``limit`` bytes.

    Lempel-Ziv-Welch (Welch 1984) with codes of 9 bits that grow to at most ``data[2] & 31``, low bits first.
    The peculiarity of the format: codes are written in groups of eight, and the rest of a group is padding
    whenever the width of the codes changes or the table is cleared. Raises DataError for broken data.
    """
    if data[:2] != b"\x1f\x9d" or len(data) < 3:
        raise DataError("this is not a file of UNIX compress: it does not begin with 1F 9D")
    widest, block_mode = data[2] & 31, bool(data[2] & 128)
    if not 9 <= widest <= 16:
        raise DataError(f"codes of {widest} bits are not known to UNIX compress (9 to 16 are)")
    first = _FIRST if block_mode else _CLEAR
    table = [bytes([byte]) for byte in range(256)] + [b""] * (first - 256)
    width, last, out = 9, b"", []
    left = LARGEST if limit is None else limit
    bit, group, end = 24, 24, 8 * len(data)  # places in bits: of the next code, of its group of eight
    while bit + width <= end:
        at = bit >> 3
        code = int.from_bytes(data[at : at + 4], "little") >> (bit & 7) & ((1 << width) - 1)
        bit += width
        if block_mode and code == _CLEAR:
            bit = group = _end_of_group(bit, group, width)
            del table[first:]
            width, last = 9, b""
            continue
        if code < len(table):
            entry = table[code]
        elif code == len(table) and last:
            entry = last + last[:1]  # the code that this very step makes
        else:
            raise DataError(f"broken compress data: code {code} near byte {at} is not in the table yet")
        out.append(entry)
        left -= len(entry)
        if left < 0:
            raise too_large(LARGEST if limit is None else limit)
        if last and len(table) < 1 << widest:
            table.append(last + entry[:1])
        last = entry
        if len(table) == 1 << width and width < widest:
            bit = group = _end_of_group(bit, group, width)
            width += 1
    return b"".join(out)


def _end_of_group(bit: int, group: int, width: int) -> int:
    """Return where the next group of codes begins: after a whole number of groups of eight codes."""
    size = 8 * width
    return group + -(-(bit - group) // size) * size


_SHAR_FILE = re.compile(
    rb"""^\s*(?:sed\s+(?:-e\s+)?(['"]?)s/\^X//\1|cat)\s+   # what each line is passed through
    (?:<<\s*(?P<mark1>\S+)\s*>\s*(?P<name1>\S+)|>\s*(?P<name2>\S+)\s*<<\s*(?P<mark2>\S+))""",
    re.VERBOSE,
)


def _shar_member(data: bytes, member: str) -> bytes:
    """Return a file of a shell archive: lines of its here-document, without the X that ``sed`` removes."""
    lines = data.split(b"\n")
    names: list[str] = []
    number = 0
    while number < len(lines):
        found = _SHAR_FILE.match(lines[number])
        number += 1
        if not found:
            continue
        name = (found["name1"] or found["name2"]).strip(b"'\"").decode("utf-8", "replace")
        mark = (found["mark1"] or found["mark2"]).strip(b"'\"\\")
        try:
            end = lines.index(mark, number)
        except ValueError:
            raise DataError(f"the shell archive breaks off inside '{name}'") from None
        if name == member:
            body = lines[number:end]
            if b"sed" in found[0]:
                body = [line[1:] if line.startswith(b"X") else line for line in body]
            return b"".join(line + b"\n" for line in body)
        names.append(name)
        number = end + 1
    raise DataError(f"no file '{member}' in the shell archive", hint=there_are(names))


LARGEST = 1 << 32  # bytes that a file may unpack to where nothing else is known
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
# The standard library's readers raise all of these for broken archives; nothing else is caught.
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
    if isinstance(error, EOFError):
        return "it ends before its end mark"
    return " ".join(str(error).split()) or type(error).__name__


def there_are(names: list[str]) -> str:
    """Return a hint that lists the members of an archive."""
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    return f"there are {shown}" if names else "it is empty"


def open_compressed(kind: str, stream: BinaryIO):
    """Return a reader of the content of a compressed stream. Raises DataError without its package."""
    if kind == "gzip":
        return gzip.GzipFile(fileobj=stream)
    if kind == "bzip2":
        return bz2.BZ2File(stream)
    try:
        import zstandard
    except ImportError:
        raise DataError(
            "the file is compressed with Zstandard, and the package zstandard is not installed",
            hint="pip install 'confml[files]', or unpack the file",
        ) from None
    return _Zstandard(zstandard, stream)


class _Zstandard:
    """Reader of all frames of a file. The package's own reader accepts a file that is cut short."""

    def __init__(self, zstandard, stream: BinaryIO):
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._error = zstandard.ZstdError
        self._frame: Any = None  # the decompressor of the current frame
        self._stream, self._ready = stream, b""

    def __enter__(self):
        return self

    def __exit__(self, *ended):
        pass

    def read(self, count: int) -> bytes:
        while not self._ready:
            packed = self._stream.read(1024)  # a few bytes may unpack to many
            if not packed:
                if self._frame is not None:
                    raise EOFError
                return b""
            while packed:
                self._frame = self._frame or self._new()
                try:
                    self._ready += self._frame.decompress(packed)
                except self._error as error:
                    raise ValueError(str(error)) from None
                packed = self._frame.unused_data if self._frame.eof else b""
                if self._frame.eof:
                    self._frame = None
        part, self._ready = self._ready[:count], self._ready[count:]
        return part
