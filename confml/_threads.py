"""One thread for the linear algebra of a method.

Products and decompositions differ in their last bits between one and several threads, and small products are
slower on several threads, much slower on a busy processor. The runner limits every task; this module limits
calls from Python.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

_active = threading.local()


@functools.cache
def _controller():
    import scipy.linalg  # noqa: F401  loads a library of its own, which must be known to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block. Nested blocks cost nothing.

    The limit holds for the whole process while the block runs, and the former number of threads is restored
    at its end.
    """
    if getattr(_active, "inside", False):
        yield
        return
    _active.inside = True
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _active.inside = False


def limits_blas(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that runs with `one_blas_thread`."""

    @functools.wraps(function)
    def limited(*args, **kwargs):
        with one_blas_thread():
            return function(*args, **kwargs)

    limited.__dict__["limits_blas"] = True  # found by tests; functions have no such attribute for mypy
    return limited
