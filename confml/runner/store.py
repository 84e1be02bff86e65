"""`Store`: records of results in the folder of a run, each complete or absent.

A small record of a run with many cells is a frame in a pack (`confml.runner.packs`). Any other record is a
JSON document and, for most kinds, an ``.npz`` file of arrays. The document contains the SHA-256 of the arrays
(``arrays``) and of itself (``sha256``); a record that differs from them is computed again. The arrays are
written first, and each file is written under a temporary name and renamed, so a record exists if its JSON
file exists. Several processes and machines may write into one folder at once. The store does not depend on
the content of records.
"""

import contextlib
import hashlib
import io
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from confml._outputs import check_target
from confml.errors import ConfmlError
from confml.runner.environment import guarded
from confml.runner.lease import create_temporary, remove_if_left, temporary_name
from confml.runner.packs import KINDS, LARGEST, PackReader, PackWriter, pack_arrays, unpack_arrays

PARTS = ("cells", "inner", "failures", "rows")  # folders of a run with one or two files per record


class Store:
    """Records by kind (``cells``, ``inner``, ``failures``) and key in the folder of a run.

    packed: whether small cells and inner folds are appended to a pack; they are on disk after `sync`. Raises
    `EnvironmentFault` if a file cannot be read or written.
    """

    def __init__(self, folder: Path | str, packed: bool = False):
        self.folder = Path(folder)
        self._packed = packed
        self._packs: PackReader | None = None

    @property
    def packs(self) -> PackReader:
        """The records in packs that were there at the first use, or at the last `refresh`."""
        if self._packs is None:
            self._packs = PackReader(self.folder)
            self.refresh()
        return self._packs

    def refresh(self) -> None:
        """Find the records that other processes appended to packs."""
        with guarded(self.folder):
            self.packs.refresh()

    def sync(self) -> None:
        """Wait until the records that this process appended to packs are on disk."""
        with guarded(self.folder):
            _writer(self.folder).sync()

    def make(self) -> None:
        """Create the folder; raise ConfmlError if it cannot be created or written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = temporary_name(self.folder / "probe")
            probe.touch()
            probe.unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "choose another folder with --out"
            raise ConfmlError(
                f"cannot write results there: {reason}", where=str(self.folder), hint=hint
            ) from None

    def path(self, kind: str, key: str, ending: str = "json") -> Path:
        return self.folder / kind / f"{key}.{ending}"

    def keys(self, kind: str) -> set[str]:
        """Return the keys of the stored records."""
        folder, packed = self.folder / kind, self.packs.keys(kind) if kind in KINDS else set()
        if not folder.is_dir():
            return packed
        return packed | {entry.name[:-5] for entry in os.scandir(folder) if entry.name.endswith(".json")}

    def write(
        self, kind: str, key: str, document: Mapping, arrays: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Write a record; an older one with the same key is replaced."""
        if self._packed and kind in KINDS and len(key) == 32:
            content = pack_arrays(arrays)
            if len(content) <= LARGEST:
                text = json.dumps({**document, "arrays": None if arrays is None else "packed"})
                with guarded(self.folder):
                    _writer(self.folder).append(kind, key, text.encode(), content)
                return
        buffer, digest = io.BytesIO(), None
        if arrays is not None:
            np.savez_compressed(buffer, allow_pickle=False, **arrays)
            digest = hashlib.sha256(buffer.getbuffer()).hexdigest()
        document = {**document, "arrays": digest}
        text = json.dumps({**document, "sha256": _digest_of(document)}, indent=1) + "\n"
        with guarded(self.folder):
            # The folder itself is not created again: if it was removed, a new one would lack earlier results.
            (self.folder / kind).mkdir(exist_ok=True)
            if arrays is not None:
                write_atomically(self.path(kind, key, "npz"), buffer.getvalue())
            # Inner folds are computed again if they are lost with the power.
            write_atomically(self.path(kind, key), text.encode(), durable=kind != "inner")

    def read(self, kind: str, key: str) -> tuple[dict, dict[str, np.ndarray]] | None:
        """Return a record and its arrays; None if it is absent or damaged."""
        packed = self.is_packed(kind, key)
        if packed and (record := self._read_packed(kind, key)) is not None:
            return record
        found = self.read_intact(kind, key)
        if found is None:
            return None if packed else self._read_packed(kind, key)
        document, content = found
        arrays: dict[str, np.ndarray] = {}
        if content is not None:
            try:
                with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                    arrays = {name: stored[name] for name in stored.files}
            except Exception:  # zipfile and zlib raise errors of many types
                return None
        return document, arrays

    def is_intact(self, kind: str, key: str) -> bool:
        """Return whether a record is stored and not damaged."""
        return self.is_packed(kind, key) or self.read_intact(kind, key) is not None

    def is_packed(self, kind: str, key: str) -> bool:
        """Return whether a pack contains a record, written by this version of the format and not damaged."""
        return kind in KINDS and self.packs.has(kind, key)

    def _read_packed(self, kind: str, key: str) -> tuple[dict, dict[str, np.ndarray]] | None:
        """Return a record of a pack; packs are looked through again if it is not known."""
        with guarded(self.folder):
            if kind in KINDS and not self.packs.has(kind, key):
                self.packs.refresh()
            found = self.packs.read(kind, key)
        if found is None:
            return None
        try:
            return json.loads(found[0]), unpack_arrays(found[1])
        except (ValueError, TypeError, KeyError, zlib.error, struct.error, RecursionError):
            return None

    def read_intact(self, kind: str, key: str) -> tuple[dict, bytes | None] | None:
        """Return the document and the bytes of the arrays of a record that has files of its own.

        The bytes must match the SHA-256 in the document.
        """
        try:
            with guarded(self.folder):
                text = self._bytes(kind, key, "json")
                if text is None:
                    return None
                document = json.loads(text)
                written = document.pop("sha256", None)  # older versions wrote none
                if written is not None and written != _digest_of(document):
                    return None
                digest = document["arrays"]
                if digest is None:
                    return document, None
                content = self._bytes(kind, key, "npz")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, ConfmlError):
                raise
            return None
        if content is None:
            return None
        return (document, content) if hashlib.sha256(content).hexdigest() == digest else None

    def _bytes(self, kind: str, key: str, ending: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        try:
            return self.path(kind, key, ending).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def remove(self, kind: str, key: str) -> None:
        """Remove a record, the JSON file first."""
        with guarded(self.folder):
            for ending in ("json", "npz"):
                self.path(kind, key, ending).unlink(missing_ok=True)


_writers: dict[Path, PackWriter] = {}


def _writer(folder: Path) -> PackWriter:
    """Return the writer of this process for a run; a forked process starts a pack of its own."""
    writer = _writers.get(folder)
    if writer is None or writer.process != os.getpid():
        writer = _writers[folder] = PackWriter(folder)
    return writer


def _digest_of(document: Mapping) -> str:
    """Return SHA-256 of a document without its own digest, as it is read back from JSON."""
    plain = json.loads(json.dumps(document))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def write_atomically(path: Path, content: bytes, durable: bool = True) -> None:
    """Write under a temporary name and rename, so that readers see the old file or the complete new one.

    durable: whether to wait until the file is on disk. Files that can be made again need not survive a loss
    of power.
    """
    with open_atomically(path, durable) as file:
        file.write(content)


@contextlib.contextmanager
def open_atomically(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing under a temporary name; it is renamed at the end, as in `write_atomically`."""
    check_target(path)
    temporary = None
    try:
        temporary, opened = create_temporary(path)
        with opened as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename, error.filename2 = str(path), None  # not the temporary one
        raise


def remove_temporary_files(folder: Path) -> None:
    """Remove files of a run's folder that a killed process began to write and did not rename."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith("."):
                remove_if_left(Path(place, name))
