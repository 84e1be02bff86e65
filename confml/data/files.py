"""Where the files of data sets are found on this machine, and whether they are the right ones.

Files are looked for as ``<folder>/<name>`` in the folders of ``CONFML_DATA`` (a path list; never written to),
then in the user's cache (``CONFML_CACHE``, else the system's place for caches). The SHA-256 of a file is
remembered in the cache with its size, times and inode, so that big files are not hashed at every load.
"""

import contextlib
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from confml._cache import cache_folder, make_private
from confml.data.cards import Card, CardFile
from confml.errors import DataError

_CHUNK = 1 << 20


def download_folder() -> Path:
    """Return the folder of downloaded files: the last folder of the search path."""
    return cache_folder() / "data"


def search_path() -> list[Path]:
    """Return the folders in which files are looked for, in order."""
    given = os.environ.get("CONFML_DATA", "").split(os.pathsep)
    return [*(Path(folder) for folder in given if folder), download_folder()]


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
    if state.path is not None:
        if state.state == "found":
            return state.path
        if state.path.parent.parent == download_folder():
            hint = f"confml data fetch {card} puts the right one in its place"
        else:
            hint = f"replace it, or have confml data fetch {card} put the right one into the cache"
        said = state.problem or f"wrong checksum: expected SHA-256 {state.expected}, got {state.got}"
        raise DataError(said, where=str(state.path), hint=hint)
    looked = ", ".join(str(folder) for folder in search_path())
    hint = f"confml data fetch {card} gets it"
    if file.manual is not None:
        hint = f"no address serves it: {' '.join(file.manual.split())}"
    raise DataError(f"{file.folder}/{file.name} of the data set '{card}' is not in {looked}", hint=hint)


def look(file: CardFile, *, again: bool = False) -> FileState:
    """Look for a file along the search path; ``again`` reads it even where its checksum is remembered."""
    wrong: FileState | None = None
    for folder in search_path():
        path = folder / file.folder / file.name
        if not os.path.isfile(path):  # False also in a folder that this user cannot read
            continue
        state = check(path, file, again=again)
        if state.state == "found":
            return state
        wrong = wrong or state
    return wrong or FileState(file, "missing")


def check(path: Path, file: CardFile, *, again: bool = False, remember: bool = True) -> FileState:
    """Return whether the file at ``path`` is the one of a card, by its SHA-256 or by that of its content."""
    options = {"again": again, "remember": remember}
    try:
        known = digests(path, content=False, **options)
        if file.sha256 is not None and known["sha256"] == file.sha256:
            return FileState(file, "found", path)
        if file.content_sha256 is None:
            return FileState(file, "wrong", path, file.sha256, known["sha256"])
        content = digests(path, content=True, **options)["content"]
    except OSError as error:
        return FileState(file, "wrong", path, problem=f"cannot be read: {error.strerror or error}")
    if content == file.content_sha256:
        return FileState(file, "found", path)
    if content is None:
        return FileState(file, "wrong", path, problem="is not a whole gzip file")
    return FileState(file, "wrong", path, file.content_sha256, content)


def states(card: Card, *, again: bool = False) -> list[FileState]:
    """Return the state of every file of a card, in its order."""
    return [look(file, again=again) for file in card.files]


def verify(cards: Iterable[Card]) -> dict[str, list[FileState]]:
    """Return the state of every file of some cards, all of them read anew, by the card's name."""
    seen: dict[tuple, FileState] = {}  # variants share their files: each is read once
    states: dict[str, list[FileState]] = {}
    for card in cards:
        for file in card.files:
            key = (file.folder, file.name, file.sha256, file.content_sha256)
            if key not in seen:
                seen[key] = look(file, again=True)
            states.setdefault(card.name, []).append(seen[key])
        states.setdefault(card.name, [])
    return states


def sha256_of(path: Path) -> str:
    """Return SHA-256 (hex) of a file's bytes."""
    with open(path, "rb") as stream:
        return _digest(stream)


def _digest(stream) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


# ---- remembered checksums


def digests(path: Path, *, content: bool, again: bool, remember: bool) -> dict:
    """Return ``sha256`` of a file and, on request, that of its content (``content``, None if broken)."""
    stat = path.stat()
    # Size and time of change can be set. A file that was replaced has another inode, and the system sets the
    # time of its last change of state.
    full = str(path.resolve())
    stamp = {
        "path": full,
        "size": stat.st_size,
        "changed": stat.st_mtime_ns,
        "state_changed": stat.st_ctime_ns,
        "inode": stat.st_ino,
        "device": stat.st_dev,
    }
    memory = cache_folder() / "verified" / f"{hashlib.sha256(full.encode()).hexdigest()[:32]}.json"
    known = {} if again else _remembered(memory, stamp)
    missing = [key for key in ("sha256", *["content"] * content) if key not in known]
    if not missing:
        return known
    if "sha256" in missing:
        known["sha256"] = sha256_of(path)
    if "content" in missing:
        known["content"] = _content_digest(path)
    if remember:
        _remember(memory, {**stamp, **known})
    return known


def _content_digest(path: Path) -> str | None:
    try:
        with gzip.open(path) as stream:
            return _digest(stream)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return None


def _remembered(memory: Path, stamp: dict) -> dict:
    try:
        if not make_private(memory.parent, cache_folder()):
            return {}  # another user could have written there that a wrong file is right
        told = json.loads(memory.read_text(encoding="utf-8"))
        whole = told.pop("check") == _check_of(told)  # a damaged record would refuse a right file
        if whole and all(told.get(key) == value for key, value in stamp.items()):
            return {key: told[key] for key in ("sha256", "content") if key in told}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        pass  # not there, or not ours any more: the file is read again
    return {}


def _remember(memory: Path, told: dict) -> None:
    # Without a writable cache nothing is remembered, and every load reads the files once more.
    with contextlib.suppress(OSError):
        if not make_private(memory.parent, cache_folder()):
            return
        handle, temporary = tempfile.mkstemp(dir=memory.parent, prefix=".")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump({**told, "check": _check_of(told)}, stream)
        os.replace(temporary, memory)


def _check_of(told: dict) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
