"""Files that a command must not replace: its inputs, and files that confml did not make."""

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from confml.errors import ConfmlError

MADE = ".confml-files"  # lists the files that commands wrote into a folder which is not of a run
_FORCE = "choose another name, or replace it with --force"
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
    kept = {} if force else dict.fromkeys(_files(foreign), ("confml did not make this file", _FORCE))
    kept |= {file: ("this is an input of the command", "choose another output") for file in _files(inputs)}
    guard = _Guard(kept)
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)
        if folder is not None and guard.written:
            made = _files_in(folder) - (foreign - guard.written)
            names = sorted(path.relative_to(folder).as_posix() for path in made)
            if names:
                (folder / MADE).write_text(json.dumps(names))


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
    taken = set(_files(inputs))
    for path, is_ours in outputs:
        if any(file in taken for file in _files([path])):
            raise ConfmlError("this is an input of the command", where=str(path), hint="choose another name")
        if path.exists() and not path.is_file():
            raise ConfmlError("this is not a file that can be replaced", where=str(path))
        if path.is_file() and path.stat().st_size and not force and not is_ours(path):
            raise ConfmlError("confml did not make this file", where=str(path), hint=_FORCE)
    if len({os.path.realpath(path) for path, _ in outputs}) < len(outputs):
        raise ConfmlError("two outputs have the same name", where=str(outputs[0][0]))


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
    if (folder / "manifest.json").exists():
        return set()
    return {path for path in folder.rglob("*") if path.is_file() and path.name != MADE}
