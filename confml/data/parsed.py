"""Parsed text of large data files, kept in the cache folder by the checksum of the file.

Reading numbers from text takes longer than most fits: 0.4 s for the 30 MB of USPS. The arrays are stored as
``.npy`` files, without pickles, in a folder that only this user can write into. The oldest files are removed
when all of them together exceed `MOST_BYTES`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

import numpy as np

from confml._cache import cache_folder, make_private

LEAST_BYTES = 1 << 20  # of text: less is parsed faster than it is looked up
MOST_BYTES = 2 << 30
_VERSION = b"1"  # of the parsers


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
        values = np.load(path, mmap_mode="r", allow_pickle=False)
        os.utime(path)
    except (OSError, ValueError, EOFError):
        return None
    return np.asarray(values)


def keep_parsed(key: str, values: np.ndarray) -> None:
    """Store the array of a key; without room or permission nothing is stored."""
    folder = _folder()
    if folder is None:
        return
    temporary = folder / f".{key}.{secrets.token_hex(4)}"
    with contextlib.suppress(OSError):
        try:
            with temporary.open("wb") as file:
                np.save(file, values, allow_pickle=False)
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
