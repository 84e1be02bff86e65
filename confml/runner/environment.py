"""`EnvironmentFault`: the disk, the folder of the run or the system's limits stop a run, not a method.

Such an error is never stored as a failure of a cell: the run stops, and resumes when the cause is removed.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from confml.errors import ConfmlError

_AGAIN = "then run the same command again: finished cells are kept"
_FULL = ("the disk is full", f"free some space, {_AGAIN}")
_FILES = ("too many open files", f"raise the limit (ulimit -n) or use fewer jobs (--jobs), {_AGAIN}")
_GONE = (
    "the folder, or a file in it, was removed while the run was using it",
    "run the same command again: cells that are still there are kept",
)
_REASONS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: ("the disk quota is used up", f"free some space, {_AGAIN}"),
    errno.EFBIG: ("the limit on the size of a file is reached", f"raise it (ulimit -f), {_AGAIN}"),
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EROFS: ("the file system is read-only", f"make it writable, {_AGAIN}"),
    errno.EIO: ("the disk reports an input or output error", f"check the disk, {_AGAIN}"),
    errno.ESTALE: ("the network file system lost the folder", f"mount it again, {_AGAIN}"),
}


class EnvironmentFault(ConfmlError):
    """The machine, not a method, prevents a run from going on: where, why, and how to resume."""

    def __reduce__(self):
        return _rebuild, (self.message, self.where, self.hint)


def _rebuild(message: str, where: str | None, hint: str | None) -> EnvironmentFault:
    return EnvironmentFault(message, where=where, hint=hint)


def fault_of(error: BaseException | None) -> EnvironmentFault | None:
    """The fault that an error, or an error that led to it, stands for; None for errors of other kinds."""
    while error is not None:
        if isinstance(error, EnvironmentFault):
            return error
        if isinstance(error, OSError) and error.errno in _REASONS:
            message, hint = _REASONS[error.errno]
            return EnvironmentFault(message, where=_place(error, None), hint=hint)
        error = error.__cause__ or error.__context__
    return None


@contextlib.contextmanager
def guarded(folder: Path | str) -> Iterator[None]:
    """Raise every OSError of the block, which works on confml's own files in ``folder``, as a fault."""
    try:
        yield
    except EnvironmentFault:
        raise
    except Exception as error:
        fault = fault_of(error)  # libraries turn a lack of file handles into errors of other kinds
        if fault is not None:
            raise EnvironmentFault(
                fault.message, where=fault.where or str(folder), hint=fault.hint
            ) from error
        if not isinstance(error, OSError):
            raise
        if isinstance(error, FileNotFoundError):
            message, hint = _GONE
        else:
            message, hint = error.strerror or str(error), f"correct this, {_AGAIN}"
        raise EnvironmentFault(message, where=_place(error, folder), hint=hint) from error


def _place(error: OSError, folder: Path | str | None) -> str | None:
    found = error.filename if isinstance(error.filename, str) else folder
    return None if found is None else str(found)
