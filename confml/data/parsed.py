"""Parsed text of large data files, kept in the cache folder by the checksum of the file.

Reading numbers from text takes longer than most fits: 0.4 s for the 30 MB of USPS. The arrays are
stored as ``.npy`` files followed by their SHA-256, without pickles, in a folder that only this user can write
into. A damaged file is removed, with a message, and the text is parsed again. The oldest files are removed
when all of them together exceed `MOST_BYTES`.
"""

import contextlib
import hashlib
import os
import secrets
import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np

from confml._cache import cache_folder, make_private

LEAST_BYTES = 1 << 20  # of text: less is parsed faster than it is looked up
MOST_BYTES = 2 << 30
_SUM = 32  # bytes of a SHA-256
_VERSION = b"2"  # of the parsers


def parsed_key(content: bytes, *settings: object) -> str:
    """Return the key of a file's content, read with these settings."""
    digest = hashlib.sha256(_VERSION + repr(settings).encode())
    digest.update(content)
    return digest.hexdigest()


def read_parsed(key: str) -> np.ndarray | None:
    """Return the array of a key; None if it is not stored."""
    folder = _folder()
    if folder is None:
        return None
    path = folder / f"{key}.npy"
    try:
        size = path.stat().st_size - _SUM
        with path.open("rb") as file:
            if _digest(file, size) == file.read():
                os.utime(path)
                return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError):
        pass
    print(f"confml: {path}: this file of the cache is damaged and is made again", file=sys.stderr)
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def _digest(file: BinaryIO, size: int) -> bytes:
    """Return the SHA-256 of the next ``size`` bytes."""
    digest = hashlib.sha256()
    while size > 0 and (part := file.read(min(size, 1 << 20))):
        digest.update(part)
        size -= len(part)
    return digest.digest()


def keep_parsed(key: str, values: np.ndarray) -> None:
    """Store the array of a key; without room or permission nothing is stored."""
    folder = _folder()
    if folder is None:
        return
    temporary = folder / f".{key}.{secrets.token_hex(4)}"
    with contextlib.suppress(OSError):
        try:
            with temporary.open("w+b") as file:
                np.save(file, values, allow_pickle=False)
                size = file.tell()
                file.seek(0)
                file.write(_digest(file, size))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, folder / f"{key}.npy")
        finally:
            temporary.unlink(missing_ok=True)
        _remove_oldest(folder)


def _folder() -> Path | None:
    root = cache_folder()
    with contextlib.suppress(OSError):
        if make_private(root / "parsed", root):
            return root / "parsed"
    return None


def _remove_oldest(folder: Path) -> None:
    found = sorted(((path.stat(), path) for path in folder.glob("*.npy")), key=lambda one: -one[0].st_mtime)
    total = 0
    for about, path in found:
        total += about.st_size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
