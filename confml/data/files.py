"""Where the files of data sets are found on this machine, and whether they are the right ones.

Files are looked for as ``<folder>/<name>`` in the folders of ``CONFML_DATA`` (a path list; never written to),
then in the user's cache (``CONFML_CACHE``, else the system's place for caches).
"""

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from confml._cache import cache_folder
from confml.data.cards import Card, CardFile
from confml.errors import DataError


def download_folder() -> Path:
    """Return the folder of downloaded files: the last folder of the search path."""
    return cache_folder() / "data"


def search_path() -> list[Path]:
    """Return the folders in which files are looked for, in order."""
    folders = os.environ.get("CONFML_DATA", "").split(os.pathsep)
    return [*(Path(folder) for folder in folders if folder), download_folder()]


@dataclass(frozen=True)
class FileState:
    """The result of a search for one file of a card.

    path: the right file (``state`` ``found``), the first wrong one (``wrong``), or None (``missing``).
    expected, got: SHA-256 of a wrong file's content; ``problem``: a sentence where it has none.
    """

    file: CardFile
    state: str
    path: Path | None = None
    expected: str | None = None
    got: str | None = None
    problem: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """Return the state as plain values, for JSON."""
        return {
            "file": f"{self.file.folder}/{self.file.name}",
            "state": self.state,
            "path": None if self.path is None else str(self.path),
            "expected": self.expected,
            "got": self.got,
            "problem": self.problem,
        }


def find(card: str, file: CardFile) -> Path:
    """Return the right file on this machine; ``card`` is the name to fetch it by.

    A file whose content is wrong is skipped if a later folder has the right one. Raises DataError for
    a file that is nowhere, or nowhere right: with the folders looked in or the checksums, and what to do.
    """
    state = look(file)
    if state.state == "found":
        return Path(str(state.path))
    if state.path is not None:
        hint = f"replace it, or download the right one: confml data fetch {card}"
        message = state.problem or f"wrong checksum: expected SHA-256 {state.expected}, got {state.got}"
        raise DataError(message, where=str(state.path), hint=hint)
    folders = ", ".join(map(str, search_path()))
    manual = file.manual and f"no address serves it: {' '.join(file.manual.split())}"
    hint = manual or f"confml data fetch {card} downloads it"
    raise DataError(f"{file.folder}/{file.name} of the data set '{card}' is not in {folders}", hint=hint)


def look(file: CardFile) -> FileState:
    """Look for a file along the search path."""
    paths = (folder / file.folder / file.name for folder in search_path())
    # isfile is False also in a folder that this user cannot read.
    states = [check(path, file) for path in paths if os.path.isfile(path)]
    right = next((state for state in states if state.state == "found"), None)
    return right or (states or [FileState(file, "missing")])[0]


def check(path: Path, file: CardFile) -> FileState:
    """Return whether the file at ``path`` is the one of a card, by its SHA-256 or by that of its content."""
    try:
        got = sha256_of(path)
        if file.sha256 is not None and got == file.sha256:
            return FileState(file, "found", path)
        if file.content_sha256 is None:
            return FileState(file, "wrong", path, file.sha256, got)
        with gzip.open(path) as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return FileState(file, "wrong", path, problem="is not a whole gzip file")
    except OSError as error:
        return FileState(file, "wrong", path, problem=f"cannot be read: {error.strerror or error}")
    if content == file.content_sha256:
        return FileState(file, "found", path)
    return FileState(file, "wrong", path, file.content_sha256, content)


def states(card: Card) -> list[FileState]:
    """Return the state of every file of a card, in its order."""
    return [look(file) for file in card.files]


def sha256_of(path: Path) -> str:
    """Return SHA-256 (hex) of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
