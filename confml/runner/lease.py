"""`Lease`: the sign that the run which made a folder is alive, on local and on network file systems.

The owner of a folder holds a lock on a file in it and renews the file's time. Process numbers and host names
say nothing: containers share them. A lock is only believed to be free where the kernel that would hold it is
this one; from another machine, only a lease that was not renewed for a long time is over.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

RENEW_SECONDS = 60.0
STALE_SECONDS = 3600.0
_NAME = "lease"


class Lease:
    """Holds the lease of ``folder`` until `release`, or until the process ends."""

    def __init__(self, folder: Path):
        self._path = folder / _NAME
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        # The kernel is named after the lock is held: nobody can find it named and free in between.
        if _lock(self._file) and _locks_exclude(self._path):
            os.write(self._file, _kernel().encode())
        self._released = threading.Event()
        threading.Thread(target=self._renew, name="renew-lease", daemon=True).start()

    def release(self) -> None:
        """Give the folder up."""
        if not self._released.is_set():
            self._released.set()
            os.close(self._file)

    def _renew(self) -> None:
        while not self._released.wait(RENEW_SECONDS):
            with contextlib.suppress(OSError):
                os.utime(self._path)


def is_abandoned(folder: Path) -> bool:
    """Whether the run that made ``folder`` has ended without removing it; False where that is not certain."""
    path = folder / _NAME
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return _age(folder) > STALE_SECONDS
    except OSError:
        return False
    try:
        if not _lock(file):
            return False
        kernel = os.read(file, 200).decode("ascii", "replace")
        return bool(kernel) and kernel == _kernel() or _age(path) > STALE_SECONDS
    except OSError:
        return False
    finally:
        os.close(file)


def _age(path: Path) -> float:
    """Seconds since a file was changed, by the clock of its file system; 0 where that is not known."""
    probe = path.with_name(f".age-{os.urandom(8).hex()}")
    try:
        probe.touch()
        try:
            return probe.stat().st_mtime - path.stat().st_mtime
        finally:
            probe.unlink()
    except OSError:
        return 0.0


def _kernel() -> str:
    """The identity of the running kernel since its start; empty where there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _lock(file: int) -> bool:
    """Take the lock of an open file; False where it is held, or where this system has no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _locks_exclude(path: Path) -> bool:
    """Whether a lock that is held cannot be taken again: some file systems grant every lock."""
    try:
        again = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(again)
    finally:
        os.close(again)
