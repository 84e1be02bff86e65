"""Decompression with a limit: gzip, bzip2, Zstandard and members of zip files."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from confml.errors import DataError

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
    """Return a reader of the content of a compressed stream."""
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
