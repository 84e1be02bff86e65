"""Packs: a file format for many small records that outlives a kill, which ZIP, with its index last, does not.

A run of many small cells would need two files for each of them. Instead every process appends its records to
a pack of its own, ``packs/<random>.pack``, so that writers need no lock. A pack is a sequence of frames::

    magic   4 bytes, b"cfp1": the version of the frames and of the fields of cells in them
    kind    1 byte, the number of the kind in KINDS
    key     32 bytes
    sizes   of the JSON document (4 bytes) and of the arrays (8 bytes), little-endian
    checks  CRC-32 of document and arrays, and of the header up to here (4 bytes each)
    document, arrays

A frame that its writer did not finish, or that was damaged, does not match its checks. Readers skip it and go
on at the next magic; the record is computed again and appended to another pack.

A ZIP file lists its members at its end, so a writer that is killed loses all of them. SQLite needs locks,
which are not reliable on network file systems.
"""

import json
import math
import mmap
import os
import secrets
import struct
import weakref
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

KINDS = ("cells", "inner")
LARGEST = 1 << 18  # bytes of arrays: a larger record has files of its own
FOLDER = "packs"
_MAGIC = b"cfp1"
_HEADER = struct.Struct("<4sB32sIQII")
_ALIGNED = 16  # bytes
_OPEN = 32  # packs that a reader keeps open


class Frame(NamedTuple):
    """The place of one record: its pack, the offset of its document, and the sizes of its two parts."""

    pack: Path
    start: int
    document: int
    arrays: int


class PackWriter:
    """Appends records to a pack of this process."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.process = os.getpid()
        self._path = folder / FOLDER / f"{secrets.token_hex(8)}.pack"
        self._file: Any = None

    def append(self, kind: str, key: str, document: bytes, arrays: bytes) -> None:
        """Append a record; it is on disk after `sync`."""
        if self._file is None:
            (self.folder / FOLDER).mkdir(exist_ok=True)
            self._file = open(self._path, "ab", buffering=0)
        frame = frame_bytes(kind, key, document, arrays)
        while frame:
            frame = frame[self._file.write(frame) :]

    def sync(self) -> None:
        """Wait until the appended records are on disk."""
        file, self._file = self._file, None
        if file is not None:
            with file:
                os.fsync(file.fileno())


class PackReader:
    """The records in the packs of a folder, by kind and key.

    The place of each record is kept in memory, not its content. `refresh` finds the frames that other
    processes appended.
    """

    def __init__(self, folder: Path):
        self._folder = folder / FOLDER
        self._read: dict[Path, int] = {}  # pack: bytes that are indexed
        self._frames: dict[str, dict[str, Frame]] = {kind: {} for kind in KINDS}
        self._files: dict[Path, BinaryIO] = {}
        weakref.finalize(self, _close, self._files)

    def refresh(self) -> None:
        """Index the frames that were appended since the last call."""
        try:
            packs = sorted(self._folder.glob("*.pack"))
        except OSError:
            return
        for pack in packs:
            seen, size = self._read.get(pack, 0), pack.stat().st_size
            if size > seen:
                self._read[pack] = self._index(pack, seen)

    def _index(self, pack: Path, start: int) -> int:
        """Index the frames of a pack from ``start``; return where the next call should go on."""
        with open(pack, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for kind, key, frame, end in _frames_in(pack, content, start):
                self._frames[kind][key] = frame
                start = end
        return start

    def keys(self, kind: str) -> set[str]:
        """Return the keys of the records whose checks are right."""
        return set(self._frames.get(kind, ()))

    def has(self, kind: str, key: str) -> bool:
        return key in self._frames.get(kind, ())

    def read(self, kind: str, key: str) -> tuple[bytes, bytes] | None:
        """Return the document and the arrays of a record; None if it is absent or was damaged since."""
        frame = self._frames.get(kind, {}).get(key)
        if frame is None:
            return None
        try:
            file = self._opened(frame.pack)
            file.seek(frame.start - _HEADER.size)
            content = file.read(_HEADER.size + frame.document + frame.arrays)
        except FileNotFoundError:
            return None
        if next(_frames_in(frame.pack, content, 0), None) is None:
            return None
        document = content[_HEADER.size : _HEADER.size + frame.document]
        return document, content[_HEADER.size + frame.document :]

    def _opened(self, pack: Path) -> BinaryIO:
        """Return a pack that is open for reading; a few packs stay open, because many records are read."""
        if pack not in self._files:
            while len(self._files) >= _OPEN:
                self._files.pop(next(iter(self._files))).close()
            self._files[pack] = open(pack, "rb", buffering=0)
        return self._files[pack]


def _close(files: dict[Path, BinaryIO]) -> None:
    for file in files.values():
        file.close()


def frame_bytes(kind: str, key: str, document: bytes, arrays: bytes) -> bytes:
    """Return a frame; see the documentation of this module. Raises ValueError for a key of another length."""
    check = zlib.crc32(arrays, zlib.crc32(document))
    name = key.encode("ascii")
    if len(name) != 32:
        raise ValueError(f"keys in packs have 32 characters, got {key!r}")
    header = _HEADER.pack(_MAGIC, KINDS.index(kind), name, len(document), len(arrays), check, 0)[:-4]
    return header + struct.pack("<I", zlib.crc32(header)) + document + arrays


def _frames_in(pack: Path, content: Any, start: int) -> Iterator[tuple[str, str, Frame, int]]:
    """Yield (kind, key, frame, end) of every intact frame of ``content``, from the offset ``start``."""
    size, view = len(content), memoryview(content)
    try:
        while start + _HEADER.size <= size:
            fields = _HEADER.unpack_from(content, start)
            magic, kind, key, document, arrays, check, header_check = fields
            body = start + _HEADER.size
            end = body + document + arrays
            if (
                magic == _MAGIC
                and zlib.crc32(view[start : body - 4]) == header_check
                and kind < len(KINDS)
                and end <= size
                and zlib.crc32(view[body:end]) == check
            ):
                yield KINDS[kind], key.decode("ascii"), Frame(pack, body, document, arrays), end
                start = end
                continue
            start = content.find(_MAGIC, start + 1)
            if start < 0:
                return
    finally:
        view.release()


def pack_arrays(arrays: Mapping[str, np.ndarray] | None) -> bytes:
    """Return arrays as compressed bytes, empty for None; raise ValueError for arrays of objects."""
    if arrays is None:
        return b""
    about, parts, offset = [], [], 0
    for name, values in arrays.items():
        values = np.asarray(values)
        if values.dtype.hasobject:
            raise ValueError(f"array {name} holds objects")
        data = np.ascontiguousarray(values).tobytes()
        about.append([name, values.dtype.str, list(values.shape), offset])
        parts += [data, b"\0" * (-len(data) % _ALIGNED)]
        offset += len(parts[-2]) + len(parts[-1])
    text = json.dumps(about).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNED)
    return zlib.compress(b"".join([struct.pack("<I", len(text)), text, *parts]), 1)


def unpack_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of `pack_arrays`, read-only; raise ValueError or zlib.error for other bytes."""
    if not content:
        return {}
    plain = zlib.decompress(content)
    (size,) = struct.unpack_from("<I", plain)
    arrays = {}
    for name, kind, shape, offset in json.loads(plain[4 : 4 + size]):
        dtype = np.dtype(kind)
        count = math.prod(shape)
        if dtype.itemsize == 0 or count == 0:
            arrays[name] = np.empty(shape, dtype)
            continue
        arrays[name] = np.frombuffer(plain, dtype, count, 4 + size + offset).reshape(shape)
    return arrays
