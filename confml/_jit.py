"""The decorator of all kernels, and the folder in which numba keeps their machine code.

Kernels are private functions on plain arrays, most of them in a ``_kernels`` module of their package::

    from confml._jit import kernel

    @kernel
    def smallest(values): ...

They are compiled at the first call, never at import, and cached by numba in `cache_dir`. `fastmath` is never
used: results must repeat bit for bit, and kernels use NaN and infinity.
numba compiles a kernel once more for an argument that begins as a literal number: such a variable of the
caller begins as ``np.int64(0)``.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import threading
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from confml._cache import cache_folder, close_to_others, make_private

_FRESH = "confml-kernels-"
_LOCK = "lock"  # file in the folder that a process locks while it compiles
_SOURCES = ("**/_kernels*.py", "neighbours/*.py")  # of kernels, in the package


def cache_dir() -> Path:
    """Return the folder of compiled kernels: in the user's cache, or a new private one for this command.

    It is set as ``NUMBA_CACHE_DIR``, which child processes inherit. numba unpickles the files of this folder,
    so a folder that another user can write into is never used: each folder up to the root of the cache must
    belong to this user and be writable by nobody else. A given ``NUMBA_CACHE_DIR`` is used without these
    checks.
    """
    if not os.environ.get("NUMBA_CACHE_DIR"):
        os.environ["NUMBA_CACHE_DIR"] = str(_default_dir())
    return Path(os.environ["NUMBA_CACHE_DIR"])


def is_cache_kept() -> bool:
    """Return whether `cache_dir` outlives this command."""
    return not cache_dir().name.startswith(_FRESH)


def is_used() -> bool:
    """Return whether this process has imported a kernel."""
    return _lock_compilation.cache_info().currsize > 0


def _default_dir() -> Path:
    root = cache_folder()
    folder = root / f"kernels-{_digest_of_sources()}"
    with contextlib.suppress(OSError):
        if not os.environ.get("CONFML_CACHE"):
            close_to_others(root)  # another program of this user may have made it with a lax umask
        if make_private(folder, root):
            with tempfile.TemporaryFile(dir=folder):
                return folder
    fresh = Path(tempfile.mkdtemp(prefix=_FRESH))  # a random name and mode 0700
    atexit.register(_remove, fresh, os.getpid())
    return fresh


def _digest_of_sources() -> str:
    """Return a digest of the places, times and sizes of all sources of kernels, of Python and of numba.

    numba looks at the source of a kernel only, and would reuse it after a change of its helper in another
    file. It gives the files of new sources the names of old ones, which a process may still read.
    """
    package = Path(__file__).parent
    files = sorted({file for pattern in _SOURCES for file in package.glob(pattern)})
    stats = [(str(file), (stat := file.stat()).st_mtime_ns, stat.st_size) for file in files]
    versions = sys.version_info[:2], metadata.version("numba")
    return hashlib.sha256(repr((versions, stats)).encode()).hexdigest()[:12]


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a forked child
        shutil.rmtree(folder, ignore_errors=True)


def kernel(function: Any = None, *, inline: Literal["never", "always"] = "never") -> Any:
    """Compile a function of plain arrays with numba at its first call, and keep the result on disk."""
    if function is None:
        return functools.partial(kernel, inline=inline)
    import numba

    config: Any = numba.config  # numba sets the names of its options when it is imported
    # The environment is too late for a process that has imported numba.
    config.CACHE_DIR = str(cache_dir())
    # LLVM's vectoriser of straight-line code, which numba leaves off: it makes vectors of written-out sums.
    config.SLP_VECTORIZE = 1
    _lock_compilation()
    return numba.njit(function, cache=True, nogil=True, error_model="numpy", inline=inline)


@functools.cache
def _lock_compilation() -> None:
    """Let one process at a time look for a kernel in the cache, compile it and store it.

    numba numbers the files of a kernel by an index without a lock: two processes that compile it for
    different types at once take one number, and later processes run the code of one for the types of the
    other.
    """
    with contextlib.suppress(ImportError):  # Windows has no such locks
        import fcntl

        from numba.core.event import Listener, register

        class Lock(Listener):
            """A lock on a file while this process has numba's compiler lock, in any number of threads."""

            def __init__(self) -> None:
                self._mutex, self._depth, self._file = threading.Lock(), 0, -1

            def on_start(self, event: Any) -> None:
                with self._mutex:
                    if self._depth == 0:
                        with contextlib.suppress(OSError):  # not a folder or no locks: compile without
                            path = cache_dir() / _LOCK
                            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                            fcntl.lockf(self._file, fcntl.LOCK_EX)  # a forked child does not inherit it
                    self._depth += 1

            def on_end(self, event: Any) -> None:
                with self._mutex:
                    self._depth -= 1
                    if self._depth == 0 and self._file >= 0:
                        os.close(self._file)
                        self._file = -1

        register("numba:compiler_lock", Lock())
