"""`Lease`: shows that the run which made a folder is alive, on local and network file systems.

`create_temporary` and `remove_if_left` do the same for a temporary file.

The owner of a folder holds a lock on a file in it and updates the file's modification time. Process numbers
and host names are not used, because containers share them. A free lock is trusted only if the owner ran under
the same kernel; otherwise a lease is over if it was not renewed for `STALE_SECONDS`.
"""

import contextlib
import functools
import hashlib
import os
import re
import threading
from pathlib import Path
from typing import BinaryIO

RENEW_SECONDS = 60.0
STALE_SECONDS = 3600.0
_NAME = "lease"
_NO_KERNEL = "00000000"
# Earlier versions have the number of the process before the hyphen.
_TEMPORARY = re.compile(r"\..+\.([0-9a-f]+)-[0-9a-f]{8}")


class Lease:
    """Hold the lease of ``folder`` until `release` is called or the process ends."""

    def __init__(self, folder: Path):
        self.folder = folder  # is set again when the folder is renamed
        path = folder / _NAME
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        # The kernel is written after the lock is taken, so the file never names a kernel without a lock.
        if _lock(self._file) and _locks_exclude(path):
            os.write(self._file, _kernel().encode())
        self._released = threading.Event()
        threading.Thread(target=self._renew, name="renew-lease", daemon=True).start()

    def release(self) -> None:
        """Release the folder."""
        if not self._released.is_set():
            self._released.set()
            os.close(self._file)

    def _renew(self) -> None:
        while not self._released.wait(RENEW_SECONDS):
            with contextlib.suppress(OSError):
                os.utime(self.folder / _NAME)


def is_abandoned(folder: Path) -> bool:
    """Return whether the run that made ``folder`` ended without removing it; False if not certain."""
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


def temporary_name(path: Path) -> Path:
    """Return a new name ``.<name>.<kernel>-<random>`` beside ``path``."""
    return path.with_name(f".{path.name}.{_kernel_digest()}-{os.urandom(4).hex()}")


def create_temporary(path: Path) -> tuple[Path, BinaryIO]:
    """Create a file with a `temporary_name` beside ``path``, locked until it is closed."""
    while True:
        temporary = temporary_name(path)
        file = open(temporary, "xb")
        # A run that began before the lock was taken may have removed the file.
        if not _lock(file.fileno()) or os.fstat(file.fileno()).st_nlink:
            return temporary, file
        file.close()


def remove_if_left(path: Path) -> None:
    """Remove a file with a `temporary_name` whose writer has ended; it stays if that is not certain.

    A file whose name is not of this form stays.
    """
    named = _TEMPORARY.fullmatch(path.name)
    if not named:
        return
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return
    try:
        trusted = named[1] == _kernel_digest() != _NO_KERNEL and _lock(file) and _locks_exclude(path)
        if trusted or _age(path) > STALE_SECONDS:
            path.unlink(missing_ok=True)  # while the lock is held
    finally:
        os.close(file)


def _age(path: Path) -> float:
    """Return the seconds since a file was modified, by the clock of its file system; 0 if unknown."""
    probe = temporary_name(path.with_name("age"))
    try:
        probe.touch()
        try:
            return probe.stat().st_mtime - path.stat().st_mtime
        finally:
            probe.unlink()
    except OSError:
        return 0.0


def _kernel() -> str:
    """Return the boot identifier of the running kernel; empty if there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@functools.cache
def _kernel_digest() -> str:
    kernel = _kernel()
    return hashlib.sha256(kernel.encode()).hexdigest()[:8] if kernel else _NO_KERNEL


def _lock(file: int) -> bool:
    """Lock an open file; return False if it is locked already or this system has no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _locks_exclude(path: Path) -> bool:
    """Return whether a locked file cannot be locked again: some file systems grant every lock."""
    try:
        again = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(again)
    finally:
        os.close(again)
