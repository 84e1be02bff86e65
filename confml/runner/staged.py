"""Copies of data sets on the disk of a machine, which the processes of all runs there share.

The workers of a run read its data sets from the results folder, which is on a network file system on most
clusters. With ``CONFML_STAGE``, a folder of a local disk, the first worker of a machine that needs a data set
copies it there, and all workers of that machine read the copy. Copies are known by a digest of their content.
Results do not depend on it: without room or permission, workers read the results folder.
"""

import contextlib
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from confml._cache import make_private
from confml.data.files import sha256_of

VARIABLE = "CONFML_STAGE"
UNUSED = 7 * 86400.0  # seconds after which copies that no run has opened are removed


def is_staging() -> bool:
    """Return whether data sets are copied to the local disk."""
    return bool(os.environ.get(VARIABLE))


def staged(folder: Path, digest: str, sums: Mapping[str, str]) -> Path:
    """Return the copy of ``folder``, whose content has this digest, or ``folder`` where there is none.

    sums: SHA-256 (hex) of each file. A copy that differs from them is made again, with a message on stderr.
    """
    given = os.environ.get(VARIABLE)
    if not given or not digest:
        return folder
    with contextlib.suppress(OSError):
        own = Path(given) / f"confml-{os.getuid() if hasattr(os, 'getuid') else 'data'}"
        if make_private(own, own):
            copy = own / digest
            with _lock(own / f"{digest}.lock"):
                if copy.is_dir() and not _is_intact(copy, sums):
                    print(f"confml: {copy}: this copy is damaged and is made again", file=sys.stderr)
                    shutil.rmtree(copy)
                if not copy.is_dir():
                    _remove_unused(own)
                    _copy(folder, copy)
                    if not _is_intact(copy, sums):
                        print(f"confml: {copy}: this copy is damaged and is not used", file=sys.stderr)
                        shutil.rmtree(copy)
                        return folder
                os.utime(copy)
            return copy
    return folder


def _is_intact(copy: Path, sums: Mapping[str, str]) -> bool:
    try:
        return all(sha256_of(copy / name) == wanted for name, wanted in sums.items())
    except OSError:
        return False


def _copy(folder: Path, copy: Path) -> None:
    """Copy a folder; under its name it is complete."""
    temporary = copy.with_name(f".{copy.name}.{secrets.token_hex(4)}")
    try:
        shutil.copytree(folder, temporary)
        for path in temporary.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())  # before the name: a machine may crash
        os.rename(temporary, copy)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _remove_unused(own: Path) -> None:
    for other in own.iterdir():
        with contextlib.suppress(OSError):
            if other.is_dir() and time.time() - other.stat().st_mtime > UNUSED:
                shutil.rmtree(other, ignore_errors=True)


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock among the processes of this machine; it ends with the process."""
    try:
        import fcntl
    except ImportError:  # Windows: two workers may copy the same data, and the second copy is dropped
        yield
        return
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
