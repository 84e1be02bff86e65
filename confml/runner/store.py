"""The files of a run's folder that results are kept in: whole or absent, whatever is killed.

A record is a JSON document with, for most, a ``.npz`` file of arrays. The document holds the SHA-256 of the
arrays (``arrays``) and its own (``sha256``); a record that differs from them counts as not done. The arrays
are written first and each file is written under a temporary name and renamed, so a record exists when its
JSON does. Several processes and machines may write into one folder at once. Nothing here knows what the
records mean.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from confml.errors import ConfmlError
from confml.runner.environment import guarded


class Store:
    """Records by kind (``cells``, ``inner``, ``failures``) and key in the folder of a run.

    Raises `EnvironmentFault` where the system refuses to read or write a file.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)

    def make(self) -> None:
        """Create the folder; raises ConfmlError where that is not allowed."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f".probe-{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "choose another folder with --out"
            raise ConfmlError(
                f"cannot write results there: {reason}", where=str(self.folder), hint=hint
            ) from None

    def path(self, kind: str, key: str, ending: str = "json") -> Path:
        return self.folder / kind / f"{key}.{ending}"

    def keys(self, kind: str) -> set[str]:
        """Keys of the records there are."""
        folder = self.folder / kind
        if not folder.is_dir():
            return set()
        return {entry.name[:-5] for entry in os.scandir(folder) if entry.name.endswith(".json")}

    def write(
        self, kind: str, key: str, document: Mapping, arrays: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Write a record; an older one of that key is replaced."""
        buffer, digest = io.BytesIO(), None
        if arrays is not None:
            np.savez_compressed(buffer, allow_pickle=False, **arrays)
            digest = hashlib.sha256(buffer.getbuffer()).hexdigest()
        document = {**document, "arrays": digest}
        text = json.dumps({**document, "sha256": _digest_of(document)}, indent=1) + "\n"
        with guarded(self.folder):
            # Not the folder itself: where it was removed, a new one would hold a part of the results.
            (self.folder / kind).mkdir(exist_ok=True)
            if arrays is not None:
                write_atomically(self.path(kind, key, "npz"), buffer.getvalue())
            write_atomically(self.path(kind, key), text.encode())

    def read(self, kind: str, key: str) -> tuple[dict, dict[str, np.ndarray]] | None:
        """A record and its arrays; None where it is absent or damaged (a damaged one counts as not done)."""
        found = self.whole(kind, key)
        if found is None:
            return None
        document, content = found
        arrays: dict[str, np.ndarray] = {}
        if content is not None:
            try:
                with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                    arrays = {name: stored[name] for name in stored.files}
            except Exception:  # zipfile and zlib raise errors of many types
                return None
        return document, arrays

    def sound(self, kind: str, key: str) -> bool:
        """Whether a record is there and whole."""
        return self.whole(kind, key) is not None

    def whole(self, kind: str, key: str) -> tuple[dict, bytes | None] | None:
        """A record's document and the bytes of its arrays, which must have the SHA-256 that it says."""
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
        """The content of a file; None where there is none."""
        try:
            return self.path(kind, key, ending).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def remove(self, kind: str, key: str) -> None:
        """Remove a record, its JSON first."""
        with guarded(self.folder):
            for ending in ("json", "npz"):
                self.path(kind, key, ending).unlink(missing_ok=True)


def _digest_of(document: Mapping) -> str:
    """SHA-256 of a document without its own digest, as it is read back from JSON."""
    plain = json.loads(json.dumps(document))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write under a temporary name and rename: readers see the old file or the whole new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
