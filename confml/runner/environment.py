"""`EnvironmentFault`: errors of the disk, the folder of the run or system limits, which stop a run.

Such an error is not stored as the failure of a cell. The run stops, and can be resumed after the cause is
removed.
"""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from confml.errors import ConfmlError

_AGAIN = "then run the same command again: finished fits are kept"
_FILES = ("too many open files", f"raise the limit (ulimit -n) or use fewer jobs (--jobs), {_AGAIN}")
_GONE = (
    "the folder, or a file in it, was removed while the run was using it",
    "run the same command again: fits that are still there are kept",
)
_REASONS = {
    errno.ENOSPC: ("the disk is full", f"free some space, {_AGAIN}"),
    errno.EDQUOT: ("the disk quota is used up", f"free some space, {_AGAIN}"),
    errno.EFBIG: ("the limit on the size of a file is reached", f"raise it (ulimit -f), {_AGAIN}"),
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EROFS: ("the file system is read-only", f"make it writable, {_AGAIN}"),
    errno.EIO: ("the disk reports an input or output error", f"check the disk, {_AGAIN}"),
    errno.ESTALE: ("the network file system lost the folder", f"mount it again, {_AGAIN}"),
}


class EnvironmentFault(ConfmlError):
    """An error of the machine, not of a method, stops the run; the hint says how to resume."""


def fault_of(error: BaseException | None) -> EnvironmentFault | None:
    """Return the fault for an error or one of its causes; None if it is not an error of the environment."""
    while error is not None:
        if isinstance(error, EnvironmentFault):
            return error
        if isinstance(error, OSError) and error.errno in _REASONS:
            message, hint = _REASONS[error.errno]
            return EnvironmentFault(message, where=_path(error, None), hint=hint)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None


@contextlib.contextmanager
def guarded(folder: Path | str) -> Iterator[None]:
    """Raise every OSError inside the context as an `EnvironmentFault`; used for confml's own files."""
    try:
        yield
    except EnvironmentFault:
        raise
    except Exception as error:
        fault = fault_of(error)  # libraries wrap errors such as too many open files
        if fault is not None:
            raise EnvironmentFault(
                fault.message, where=fault.where or str(folder), hint=fault.hint
            ) from error
        if not isinstance(error, OSError) or error.errno == errno.ENOMEM:  # a task exceeds its memory limit
            raise
        if isinstance(error, FileNotFoundError):
            message, hint = _GONE
        else:
            message, hint = error.strerror or str(error), f"correct this, {_AGAIN}"
        raise EnvironmentFault(message, where=_path(error, folder), hint=hint) from error


def _path(error: OSError, folder: Path | str | None) -> str | None:
    path = error.filename if isinstance(error.filename, str) else folder
    return None if path is None else str(path)
