"""Compilation of kernels: decorator options and the kernel cache.

Kernels are private functions on plain arrays in a ``_kernels`` module of the package of their method::

    from confml._jit import kernel

    @kernel
    def smallest(values): ...

They are compiled at the first call, never at import, and cached on disk in `cache_dir`. `fastmath` is never
used: results must repeat bit for bit, and kernels use NaN and infinity.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from confml._cache import cache_folder, close_to_others, is_of_the_system, make_private


def cache_dir() -> Path:
    """Return the folder of compiled kernels: in the user's cache, or a new private one for this process.

    numba unpickles the files of this folder, so a folder that another user can write into is never used: each
    folder up to the root of the cache must belong to this user and be writable by nobody else. From a cache
    that belongs to root the new folder gets links to the kernels that are there. ``NUMBA_CACHE_DIR`` has
    priority over the user's cache and is not checked.
    """
    return _folder[0] if _folder else _found_dir()


def use_cache_dir(folder: Path | str) -> None:
    """Keep compiled kernels in ``folder``: a worker uses the folder of the process that started it."""
    _folder[:] = [Path(folder)]


_folder: list[Path] = []
_FRESH = "confml-kernels-"


def is_cache_kept() -> bool:
    """Return whether `cache_dir` outlives this process."""
    return not cache_dir().name.startswith(_FRESH)


@functools.cache
def _found_dir() -> Path:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
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
    if is_of_the_system(folder):
        with contextlib.suppress(OSError):  # this user cannot read it
            _link_kernels(folder, fresh)
    return fresh


def _link_kernels(folder: Path, fresh: Path) -> None:
    """Fill a new folder with links to the files of a cache that this user cannot write into.

    numba caches in folders only that it can write into; a file that it writes replaces the link.
    """
    for path in filter(is_of_the_system, folder.iterdir()):
        if not path.is_dir():
            (fresh / path.name).symlink_to(path)
            continue
        (fresh / path.name).mkdir(mode=0o700)
        for file in filter(is_of_the_system, path.iterdir()):
            (fresh / path.name / file.name).symlink_to(file)


def _digest_of_sources() -> str:
    """Return a digest of all kernel sources.

    numba checks only the file of a function, and would reuse a kernel after a change of its helper in another
    file.
    """
    sources = hashlib.sha256(f"{sys.version_info[:2]} {metadata.version('numba')}".encode())
    package = Path(__file__).parent
    for source in sorted(file.read_bytes() for file in package.rglob("*.py")):
        if b"confml._jit import" in source or b"Path(__file__).parent" in source and b"def kernel(" in source:
            sources.update(source)
    return sources.hexdigest()[:12]


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a forked child
        shutil.rmtree(folder, ignore_errors=True)


def kernel(
    function=None,
    *,
    nogil: bool = True,
    inline: Literal["never", "always"] = "never",
    counts_references: bool = True,
):
    """Compile a function of plain arrays with numba at its first call, and keep the result on disk.

    counts_references: False saves the atomic additions with which numba counts the users of each array, up to
    half of the time of a small search. Only for functions that create no array and return none, and that call
    none which returns an array; slices of arguments are allowed.
    """
    if function is None:
        return functools.partial(kernel, nogil=nogil, inline=inline, counts_references=counts_references)
    import numba

    config: Any = numba.config  # numba sets the names of its options when it is imported
    # numba reads the cache folder when it decorates; the importing process's own setting is put back.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_dir())
    # LLVM's vectoriser of straight-line code, which numba leaves off: it makes vectors of written-out sums.
    config.SLP_VECTORIZE = 1
    try:
        options: Any = {"nogil": nogil, "inline": inline, "error_model": "numpy", "no_cfunc_wrapper": True}
        options["_nrt"] = counts_references  # numba would give the setting of a caller to what it calls
        compiled: Any = numba.njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    _check_files(compiled)
    compiled.get_call_template = functools.partial(_call_template, compiled.get_call_template)
    return compiled


def _check_files(compiled: Any) -> None:
    """Let the cache of a kernel write one file per types of arguments, and read only what it wrote.

    numba reads its files without a check, so a damaged one is machine code that is run. And it numbers them
    by an index, in which two processes that compile a kernel for different types at once take one number:
    one of the two later runs the code of the other.
    """
    cache: Any = getattr(compiled, "_cache", None)
    if hasattr(cache, "_cache_file"):  # not with NUMBA_DISABLE_JIT
        cache._cache_file.__class__ = _checked_cache_file()


@functools.cache
def _checked_cache_file() -> type:
    from numba.core.caching import IndexDataCacheFile

    base: Any = IndexDataCacheFile

    class CheckedCacheFile(base):
        """Files with the SHA-256 of what follows it, named by the types of arguments and the processor."""

        def save(self, key, data) -> None:
            content = self._dump(data)
            with self._open_for_write(self._path(key)) as file:
                file.write(hashlib.sha256(content).digest() + content)

        def load(self, key):
            path = self._path(key)
            try:
                stored = Path(path).read_bytes()
            except OSError:
                return None
            digest, content = stored[:32], stored[32:]
            if hashlib.sha256(content).digest() == digest:
                return pickle.loads(content)
            print(f"confml: {path}: this file of the cache is damaged and is made again", file=sys.stderr)
            return None

        def _path(self, key) -> str:
            about = repr((self._version, self._source_stamp, key)).encode()
            return self._data_path(f"{self._index_name}.{hashlib.sha256(about).hexdigest()[:24]}.nbc")

    return CheckedCacheFile


def _call_template(original, args, kws):
    """Compile a call by another kernel for the types of its arguments, whatever their values are.

    numba compiles a kernel once more for each constant argument, such as the first value of a counter.
    """
    from numba.core.types import unliteral

    return original(tuple(map(unliteral, args)), {name: unliteral(one) for name, one in kws.items()})


def load_compiler() -> None:
    """Load what the first call of a kernel would load in 0.3 s, before a process forks workers."""
    with contextlib.suppress(ImportError, AttributeError):  # of another version
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


def kernels_are_compiled(name: str) -> bool:
    """Return whether `mark_kernels_compiled` was called for a method or step with the current kernels."""
    return (cache_dir() / f"compiled-{name}").exists()


def mark_kernels_compiled(name: str) -> None:
    """Record that the kernels of a method or step are compiled and on disk."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    (cache_dir() / f"compiled-{name}").touch()
