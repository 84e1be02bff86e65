"""The one place that knows how confml compiles: decorator options and the kernel cache.

Kernels are private functions on plain arrays in a ``_kernels`` module beside their method::

    from confml._jit import kernel

    @kernel
    def smallest(values): ...

They are compiled at the first call, never at import, and kept on disk in `cache_dir`. `fastmath` is never
used: results must repeat bit for bit, and NaN and infinity mean something here.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from confml._cache import cache_folder


@functools.cache
def cache_dir() -> Path:
    """The folder of compiled kernels: the user's cache folder, or a temporary one where that is not writable.

    ``NUMBA_CACHE_DIR`` goes before both. Its last part is a digest of all kernel sources, because numba looks
    at a function's own file only, and would go on using a kernel whose helper in another file has changed.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    sources = hashlib.sha256(f"{sys.version_info[:2]} {metadata.version('numba')}".encode())
    package = Path(__file__).parent
    for source in sorted(file.read_bytes() for file in package.rglob("*.py")):
        if b"confml._jit import" in source or b"Path(__file__).parent" in source and b"def kernel(" in source:
            sources.update(source)
    folder = f"kernels-{sources.hexdigest()[:12]}"
    temporary = Path(tempfile.gettempdir()) / f"confml-{os.getuid() if hasattr(os, 'getuid') else 0}"
    for parent in (cache_folder(), temporary):
        try:
            (parent / folder).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=parent / folder):
                return parent / folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="confml-kernels-"))


def kernel(function=None, *, nogil: bool = True, inline: str = "never"):
    """Compile a function of plain arrays with numba at its first call, and keep the result on disk."""
    if function is None:
        return functools.partial(kernel, nogil=nogil, inline=inline)
    import numba
    from numba.core import config

    # numba reads the cache folder when it decorates; the importing process's own setting is put back.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_dir())
    try:
        compiled = numba.njit(cache=True, nogil=nogil, inline=inline, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
    return compiled


def is_warm(name: str) -> bool:
    """Whether `mark_warm` was called for a method or step with the kernels as they are now."""
    return (cache_dir() / f"warm-{name}").exists()


def mark_warm(name: str) -> None:
    """Note that the kernels of a method or step are compiled and on disk."""
    cache_dir().mkdir(parents=True, exist_ok=True)
    (cache_dir() / f"warm-{name}").touch()
