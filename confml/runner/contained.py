"""Effects of a method on its process, such as output, forks and lower limits, which end with its cell."""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator

from confml.errors import ConfmlError
from confml.runner.environment import fault_of

_LIMITS = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_NPROC")
_spoiled: set[str] = set()  # limits of this process that a method lowered for good


class LoweredLimit(ConfmlError):
    """A method lowered a limit of its process, and then failed or cannot be repaired."""


def is_spoiled() -> bool:
    """Return whether this process cannot run another method."""
    return bool(_spoiled)


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """End forks of this process at the end of the block, and undo lower limits of the system.

    Raises LoweredLimit for a limit that cannot be raised again, and for an error of the environment under a
    lower limit, which is not an error of the machine.
    """
    process, before = os.getpid(), _limits()
    failed = True
    try:
        yield
        failed = False
    except Exception as error:
        lowered = _undo(before)
        if lowered and os.getpid() == process and fault_of(error) is not None:
            raise LoweredLimit(f"the method lowered {lowered}, then: {error}") from None
        raise
    finally:
        if os.getpid() != process:
            os._exit(0)
        _undo(before)
        if _spoiled and not failed:
            names = ", ".join(sorted(_spoiled))
            raise LoweredLimit(f"the method lowered {names} of its process, which cannot be undone")


def _limits() -> dict[str, tuple[int, int]]:
    try:
        import resource
    except ImportError:  # Windows
        return {}
    found = ((name, getattr(resource, name, None)) for name in _LIMITS)
    return {name: resource.getrlimit(kind) for name, kind in found if kind is not None}


def _undo(before: dict[str, tuple[int, int]]) -> str:
    """Raise limits to their earlier values, and return the names of those that were lower."""
    changed = [name for name, now in _limits().items() if now != before[name]]
    if changed:
        import resource

        for name in changed:
            kind, (soft, hard) = getattr(resource, name), before[name]
            try:
                resource.setrlimit(kind, (soft, hard))
            except (OSError, ValueError):  # only a privileged process raises a hard limit
                _spoiled.add(name)
    return ", ".join(changed)


@contextlib.contextmanager
def stdout_on_stderr() -> Iterator[None]:
    """Write to stderr what this process prints inside the block, libraries in C included."""
    try:
        kept = os.dup(1)
    except OSError:  # there is no stdout
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    _flush()
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).fflush(None)
