"""The cache folder of confml, for files that it can compute or download again, and checks of its privacy."""

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """Return the cache folder of confml: ``CONFML_CACHE``, else a folder in the system's folder for caches.

    The latter is ``~/Library/Caches`` on macOS, and elsewhere ``XDG_CACHE_HOME`` or ``~/.cache``. Without a
    home folder, as in some containers, it is a folder among the temporary files.
    """
    path = os.environ.get("CONFML_CACHE")
    if path:
        return Path(path).absolute()
    path = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(path) and sys.platform != "darwin":  # the XDG specification ignores relative paths
        return Path(path) / "confml"
    home = os.path.expanduser("~")
    if home == "~":
        return Path(tempfile.gettempdir()) / f"confml-{os.getuid()}"
    return Path(home, *(("Library", "Caches") if sys.platform == "darwin" else (".cache",)), "confml")


def make_private(folder: Path, root: Path) -> bool:
    """Create ``folder`` with mode 0700, and return whether only this user can write into it.

    Every folder from ``root``, the root of a cache, down to ``folder`` must belong to this user, must not be
    a symbolic link and must not be writable for others. Folders that are created get mode 0700. Raises
    OSError where a folder cannot be created.
    """
    parts = folder.relative_to(root).parts
    root.parent.mkdir(parents=True, exist_ok=True)
    current = root
    for part in ("", *parts):
        current = current / part
        try:
            os.mkdir(current, 0o700)
        except FileExistsError:
            pass
        if not is_private(current, follow=current == root):
            return False
    return True


def close_to_others(folder: Path) -> None:
    """Remove the write permission of other users from ``folder``, if it belongs to this user."""
    with contextlib.suppress(OSError, AttributeError):
        status = os.lstat(folder)
        lax = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if stat.S_ISDIR(status.st_mode) and lax and status.st_uid == os.getuid():
            os.chmod(folder, stat.S_IMODE(status.st_mode) & ~lax)


def is_private(folder: Path, *, follow: bool = False) -> bool:
    """Return whether ``folder`` is a folder of this user that no other user can write into.

    follow: whether a symbolic link counts as the folder that it leads to.
    """
    try:
        status = os.stat(folder, follow_symlinks=follow)
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "getuid"):  # Windows: access control lists keep a user's folders private
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
