"""`Store`: records of results in the folder of a run, each complete or absent.

Records are stored in batches: what a process finished within about a second. A batch has two files in
``.run/batches``: ``<batch>.bin`` with the arrays of all its records, and ``<batch>.jsonl``, whose first
line has the SHA-256 of the arrays, and kind, key and number of bytes of the arrays of each record. Its other
lines are the records, each with its kind, its key, and name, type and shape of each of its arrays. The arrays
of a record are one zlib stream: their bytes one after the other, each from a multiple of 8 on. Each line
begins with its own SHA-256. Both files are written under a temporary name and renamed, the arrays first, so a
record exists if its line does. A record that differs from its checksum, or whose arrays differ from theirs,
is absent. The batches of a small run become one when it ends.

Several processes and machines may write into one folder at once: each batch has a name of its own, and two
records of one key have the same content but for the times in it. The store does not depend on the content of
records.
"""

import hashlib
import os
import secrets
import time
import zlib
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from confml._json import from_json, to_json
from confml._outputs import RUN, create_temporary, write_atomically
from confml.errors import ConfmlError
from confml.runner.environment import guarded

FOLDER = f"{RUN}/batches"
VERSION = 5  # of the format of batches; batches of another version are ignored
SECONDS = 1.0  # between the first record of a batch and its end
ALIGNED = 8
COMPRESSION = 1  # the fastest
MOST_MERGED = 5_000_000  # bytes of batches that become one


class Record(NamedTuple):
    """A record: its batch, its line, and the first byte and the size of its arrays in their file."""

    batch: str
    line: bytes
    start: int
    size: int


class Store:
    """Records by kind (``cells``, ``inner``, ``failures``, ``rows``) and key in the folder of a run.

    Raises `EnvironmentFault` if a file cannot be read or written.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self._records: dict[str, dict[str, Record]] = {}
        self._arrays: dict[str, str | None] = {}  # SHA-256 of the arrays of each batch that was read
        self._intact: dict[str, bool] = {}
        self._pending: list[tuple[str, str, bytes, bytes]] = []  # kind, key, line, arrays of each record
        self._began = 0.0

    def make(self) -> None:
        """Create the folder; raise ConfmlError if it cannot be created or written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe, file = create_temporary(self.folder)
            file.close()
            probe.unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "choose another folder with --out"
            raise ConfmlError(
                f"cannot write results there: {reason}", where=str(self.folder), hint=hint
            ) from None

    def write(
        self, kind: str, key: str, document: Mapping, arrays: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Add a record to the batch of this process, which is stored by `sync`, or here after `SECONDS`.

        Raises ValueError for arrays of Python objects, and TypeError for a document that is not plain data.
        """
        named = {name: np.asarray(values) for name, values in (arrays or {}).items()}
        for name, values in named.items():
            if values.dtype.hasobject:
                raise ValueError(f"array {name} holds objects")
        forms = {name: [values.dtype.str, values.shape] for name, values in named.items()}
        line = _line({"kind": kind, "key": key, "arrays": forms, "document": document})
        if not self._pending:
            self._began = time.monotonic()
        packed = zlib.compress(_as_bytes(named), COMPRESSION) if named else b""
        self._pending.append((kind, key, line, packed))
        if time.monotonic() - self._began >= SECONDS:
            self.sync()

    def sync(self) -> None:
        """Store the batch of this process; its records are on disk on return."""
        records, self._pending = self._pending, []
        if not records:
            return
        arrays = b"".join(packed for *_, packed in records)
        digest = hashlib.sha256(arrays).hexdigest() if arrays else None
        sizes = [(kind, key, len(packed)) for kind, key, _, packed in records]
        head = _line({"version": VERSION, "arrays": digest, "sizes": sizes})
        name = f"{time.time_ns():020d}-{secrets.token_hex(6)}"  # in the order of time
        with guarded(self.folder):
            # The folder itself is not created again: if it was removed, a new one would lack earlier results.
            for folder in (RUN, FOLDER):
                (self.folder / folder).mkdir(exist_ok=True)
            if arrays:
                write_atomically(self._file(name, "bin"), arrays)
            lines = [head, *(line for _, _, line, _ in records), b""]
            write_atomically(self._file(name, "jsonl"), b"\n".join(lines))

    def merge(self) -> None:
        """Store the records of several batches as one batch, unless they are large.

        The batches are removed when the new one is on disk.
        """
        self.refresh()
        records = [
            (kind, key, self._records[kind][key]) for kind in self._records for key in self._records[kind]
        ]
        batches = {record.batch for *_, record in records if self._is_intact(record.batch)}
        with guarded(self.folder):
            paths = (self._file(batch, ending) for batch in batches for ending in ("jsonl", "bin"))
            files = [path for path in paths if path.is_file()]
            if len(batches) < 2 or sum(path.stat().st_size for path in files) > MOST_MERGED:
                return
            for kind, key, record in records:
                if record.batch in batches:
                    self._pending.append((kind, key, record.line, self._packed_arrays(record)))
            self.sync()
            for path in sorted(files, key=lambda path: path.suffix, reverse=True):  # no lines, no batch
                path.unlink()
        self.refresh()

    def refresh(self) -> None:
        """Find the records that are stored since the last call."""
        with guarded(self.folder):
            try:
                names = sorted(
                    entry.name[:-6]
                    for entry in os.scandir(self.folder / FOLDER)
                    if entry.name.endswith(".jsonl") and not entry.name.startswith(".")
                )
            except (FileNotFoundError, NotADirectoryError):
                return
            for name in self._arrays.keys() - set(names):  # of batches that another command has merged
                self._forget(name)
            for name in names:
                if name not in self._arrays:
                    try:
                        self._read_lines(name)
                    except FileNotFoundError:  # another command has merged it just now
                        return self.refresh()

    def _forget(self, batch: str) -> None:
        """Remove a batch and its records from the index."""
        del self._arrays[batch]
        self._intact.pop(batch, None)
        for kind, records in self._records.items():
            self._records[kind] = {key: record for key, record in records.items() if record.batch != batch}

    def _read_lines(self, batch: str) -> None:
        """Index the intact lines of a batch; a record of a later batch replaces an earlier one."""
        first, *lines = self._file(batch, "jsonl").read_bytes().split(b"\n")
        head = _parsed(first)
        if head is None or head["version"] != VERSION:
            self._arrays[batch] = None
            return
        self._arrays[batch] = head["arrays"]
        ends = accumulate(size for *_, size in head["sizes"])
        spans = {
            (kind, key): (end - size, size)
            for (kind, key, size), end in zip(head["sizes"], ends, strict=True)
        }
        for line in lines:
            record = _parsed(line)
            if record is not None and (record["kind"], record["key"]) in spans:
                kind, key = record["kind"], record["key"]
                self._records.setdefault(kind, {})[key] = Record(batch, line, *spans[kind, key])

    @property
    def batches(self) -> int:
        """Number of batches, as of the first use or the last `refresh`."""
        return len(self._arrays)

    def keys(self, kind: str) -> set[str]:
        """Return the keys of the stored records, as of the first use or the last `refresh`."""
        if not self._arrays:
            self.refresh()
        records = self._records.get(kind, {})
        return {key for key, record in records.items() if self._is_intact(record.batch)}

    def has(self, kind: str, key: str) -> bool:
        """Return whether a record is stored and not damaged."""
        record = self._find(kind, key)
        return record is not None and self._is_intact(record.batch)

    def read(self, kind: str, key: str) -> tuple[dict, dict[str, np.ndarray]] | None:
        """Return a record and its arrays; None if it is absent or damaged."""
        with guarded(self.folder):
            try:
                return self._stored(kind, key)
            except FileNotFoundError:  # another command has merged batches
                self.refresh()
                return self._stored(kind, key)

    def _stored(self, kind: str, key: str) -> tuple[dict, dict[str, np.ndarray]] | None:
        record = self._find(kind, key)
        if record is None:
            return None
        if not self._is_intact(record.batch):
            self._file(record.batch, "jsonl").stat()  # raises FileNotFoundError if it was merged meanwhile
            return None
        content = from_json(record.line.partition(b" ")[2])
        return content["document"], self._arrays_of(record, content["arrays"])

    def _find(self, kind: str, key: str) -> Record | None:
        """Return the place of a record; the folder is read again if it is not known."""
        if key not in self._records.get(kind, {}):
            self.refresh()
        return self._records.get(kind, {}).get(key)

    def _packed_arrays(self, record: Record) -> bytes:
        """Return the bytes of the arrays of a record as they are stored."""
        if not record.size:
            return b""
        with open(self._file(record.batch, "bin"), "rb") as file:
            file.seek(record.start)
            return file.read(record.size)

    def _arrays_of(self, record: Record, forms: Mapping[str, tuple[str, list[int]]]) -> dict[str, np.ndarray]:
        if not forms:
            return {}
        content, start, arrays = zlib.decompress(self._packed_arrays(record)), 0, {}
        for name, (dtype, shape) in forms.items():
            array = np.ndarray(shape, dtype, content, start)
            start += array.nbytes + -array.nbytes % ALIGNED
            arrays[name] = array
        return arrays

    def _is_intact(self, batch: str) -> bool:
        """Return whether the arrays of a batch are those that were written; they are read once."""
        if not self._intact.get(batch):  # a batch that was merged meanwhile is not damaged
            digest = self._arrays[batch]
            self._intact[batch] = digest is None or _sha256(self._file(batch, "bin")) == digest
        return self._intact[batch]

    def _file(self, batch: str, ending: str) -> Path:
        return self.folder / FOLDER / f"{batch}.{ending}"


def _as_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes of arrays one after the other, each from a multiple of `ALIGNED` on."""
    parts = [values.tobytes() for values in arrays.values()]
    return b"".join(part + bytes(-len(part) % ALIGNED) for part in parts)


def _line(record: Mapping[str, Any]) -> bytes:
    """Return the line of a record: its SHA-256, a blank, and JSON."""
    text = to_json(record).encode()
    return hashlib.sha256(text).hexdigest().encode() + b" " + text


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the record of a `_line`; None for a line that differs from its checksum."""
    digest, _, text = line.partition(b" ")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        return None
    return from_json(text)


def _sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, None if it does not exist."""
    with guarded(path.parent):
        try:
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (FileNotFoundError, IsADirectoryError):
            return None
