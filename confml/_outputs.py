"""Files that confml writes: complete or absent, and never in place of an input or of a file that it did not
make.

`open_atomically` is the only function that creates files for users. It writes a temporary file beside the
target and renames it, so that no link is followed and readers see the old file or the complete new one. A
temporary file is locked until it is closed or its process ends; `remove_abandoned_files` removes those that
killed processes left.
"""

import contextlib
import json
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from confml.errors import ConfmlError

RUN = ".run"  # folder in that of a run, with its manifest, results and logs
MADE = ".confml-files"  # lists the files that commands wrote into a folder which is not of a run
WORK = ".work"  # ending of a folder that is removed with a temporary file of the same name
_FORCE = "choose another name, or replace it with --force"
_TEMPORARY = re.compile(r"\.confml-(.*)-[0-9a-f]{16}")
_WEEK = 7 * 24 * 3600.0
_File = tuple[int, int]  # device and inode


@dataclass
class _Guard:
    kept: dict[_File, tuple[str, str]]  # message and hint of each file that must stay
    written: set[Path] = field(default_factory=set)


_GUARD: ContextVar[_Guard | None] = ContextVar("guard", default=None)


@contextlib.contextmanager
def protected(
    inputs: Iterable[Path | str] = (), folder: Path | None = None, force: bool = False
) -> Iterator[None]:
    """Let `check_target` refuse the inputs of a command inside the block.

    folder: an output folder. Files in it that no command wrote are refused too, unless it is the folder of a
    run or ``force`` is true; those that are there at the end and were not there before are listed in it.
    """
    foreign = set() if folder is None else _files_in(folder) - _made(folder)
    refused = {} if force else dict.fromkeys(_files(foreign), ("confml did not make this file", _FORCE))
    refused |= {file: ("this is an input of the command", "choose another output") for file in _files(inputs)}
    guard = _Guard(refused)
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)
        if folder is not None and guard.written:
            made = _files_in(folder) - (foreign - guard.written)
            names = sorted(path.relative_to(folder).as_posix() for path in made)
            if names:
                write_atomically(folder / MADE, json.dumps(names).encode())


def check_target(path: Path) -> None:
    """Raise ConfmlError if ``path`` is a file that the command must not replace or remove."""
    guard = _GUARD.get()
    if guard is not None:
        for file in _files([path]):
            if file in guard.kept:
                message, hint = guard.kept[file]
                raise ConfmlError(message, where=str(path), hint=hint)
        guard.written.add(path)


def check_outputs(
    outputs: Sequence[tuple[Path, Callable[[Path], bool]]], inputs: Iterable[Path | str], force: bool = False
) -> None:
    """Raise ConfmlError for an output that is an input or another output, or that confml did not make.

    outputs: each path with the function that tells whether confml made the file that is there.
    """
    input_files = set(_files(inputs))
    for path, is_ours in outputs:
        if any(file in input_files for file in _files([path])):
            raise ConfmlError("this is an input of the command", where=str(path), hint="choose another name")
        if path.exists() and not path.is_file():
            raise ConfmlError("this is not a file that can be replaced", where=str(path))
        if path.is_file() and path.stat().st_size and not force and not is_ours(path):
            raise ConfmlError("confml did not make this file", where=str(path), hint=_FORCE)
    if len({os.path.realpath(path) for path, _ in outputs}) < len(outputs):
        raise ConfmlError("two outputs have the same name", where=str(outputs[0][0]))


@contextlib.contextmanager
def open_atomically(path: Path, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing under a temporary name; it is renamed at the end of the block.

    durable: whether to wait until the file is on disk. Files that can be made again need not survive a loss
    of power.
    """
    check_target(path)
    temporary = None
    try:
        temporary, opened = create_temporary(path.parent)
        with opened as file:
            with contextlib.suppress(OSError):  # a private file stays private when it is replaced
                temporary.chmod(temporary.stat().st_mode & path.lstat().st_mode & 0o777)
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


def write_atomically(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file with `open_atomically`."""
    with open_atomically(path, durable) as file:
        file.write(content)


def create_temporary(folder: Path) -> tuple[Path, BinaryIO]:
    """Create a locked file in a folder, whose name has the name of this machine and cannot be guessed."""
    while True:
        path = folder / f".confml-{platform.node()}-{secrets.token_hex(8)}"
        file = open(path, "xb")  # x: an error if there is a file or a link of this name
        _lock(file.fileno())
        if path.exists():  # another process may have removed it before it was locked
            return path, file
        file.close()


def remove_abandoned_files(folder: Path, inner: bool = False) -> None:
    """Remove the temporary files in a folder whose processes have ended; inner: also those in inner folders.

    Those of other machines, whose locks may not be visible here, are kept for a week.
    """
    for parent, folders, names in os.walk(folder):
        folders[:] = folders if inner else []
        for name in names:
            match, path = _TEMPORARY.fullmatch(name), Path(parent, name)
            with contextlib.suppress(OSError):
                if match and (match[1] == platform.node() or time.time() - path.lstat().st_mtime > _WEEK):
                    _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    """Remove a temporary file that is not locked, and its folder."""
    with open(os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), "rb+") as file:
        if not _lock(file.fileno(), wait=False):
            return
        if (work := path.with_name(path.name + WORK)).is_dir():
            shutil.rmtree(work)
        path.unlink(missing_ok=True)


def _lock(file: int, wait: bool = True) -> bool:
    """Lock an open file until it is closed; return False if it is locked or cannot be locked here."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _files(paths: Iterable[Path | str]) -> Iterator[_File]:
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            about = os.stat(path)
            yield about.st_dev, about.st_ino


def _made(folder: Path) -> set[Path]:
    """Return the files that commands wrote into a folder."""
    try:
        return {folder / str(name) for name in json.loads((folder / MADE).read_bytes())}
    except (OSError, ValueError, TypeError):
        return set()


def _files_in(folder: Path) -> set[Path]:
    """Return the files of a folder; none for the folder of a run, whose files are known to be of confml."""
    if (folder / RUN / "manifest.json").exists():
        return set()
    return {path for path in folder.rglob("*") if path.is_file() and path.name != MADE}
