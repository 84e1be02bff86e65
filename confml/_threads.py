"""Threads of a method: one for its linear algebra, and several for the parts into which its work is divided.

Products and decompositions differ in their last bits between one and several threads of BLAS, and small
products are slower on several threads, much slower on a busy processor. The runner limits every task; this
module limits calls from Python. A method that divides its work into parts computes them with `for_each`. The
parts do not depend on the number of threads, so that results have the same bytes for any number.
"""

import contextlib
import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

_active = threading.local()
_count: ContextVar[int] = ContextVar("confml_threads", default=1)


@functools.cache
def _blas() -> Any:
    """Return the controller of the BLAS libraries of numpy and scipy. The search takes milliseconds."""
    import scipy.linalg  # noqa: F401  loads a library of its own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextlib.contextmanager
def _limited(libraries: Callable[[], Any]) -> Iterator[None]:
    """Limit libraries to one thread inside the block; in a thread, nested blocks cost nothing.

    The limit holds for the whole process while the block runs.
    """
    if getattr(_active, "inside", False):
        yield
        return
    with libraries().limit(limits=1):
        _active.inside = True
        try:
            yield
        finally:
            _active.inside = False


def one_thread_per_library(loaded: int | None = None) -> contextlib.AbstractContextManager[None]:
    """Limit BLAS, OpenMP and other loaded libraries with threads of their own to one inside the block.

    loaded: a number that changes when libraries may have been loaded; they are searched for again then, or
    always by default. A search takes as long as a small task.
    """
    return _limited(functools.partial(_libraries if loaded is not None else _libraries.__wrapped__, loaded))


@functools.lru_cache(maxsize=1)
def _libraries(loaded: int | None) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> contextlib.AbstractContextManager[None]:
    """Limit BLAS to one thread inside the block."""
    return _limited(_blas)


def limits_blas(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that runs with `one_blas_thread`."""

    @functools.wraps(function)
    def limited(*args, **kwargs):
        with one_blas_thread():
            return function(*args, **kwargs)

    limited.__dict__["limits_blas"] = True  # found by tests; functions have no such attribute for mypy
    return limited


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Let methods use ``n`` threads inside the block; 1 without it.

    Results have the same bytes for any number of threads. Only work that is divided uses them: the distances
    of TCM-NN, the binary classifiers of one-vs-one, one-vs-rest and SmartSVM, and the trees of Bayes errors.
    Each thread needs memory for its blocks, up to 130 MB for TCM-NN. Threads that are started inside the
    block have a separate setting, which is 1. In a run, tasks use the workers that would be idle otherwise,
    so this setting is for calls from Python.

    Parameters
    ----------
    n : int
        Number of threads, at least 1.

    Yields
    ------
    None
        The setting is that of before after the block.

    Raises
    ------
    ValueError
        For a number below 1, or another value.

    Examples
    --------
    >>> with threads(2):
    ...     model = TCMNN().fit([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"the number of threads must be an integer of at least 1, got {n!r}")
    before = _count.set(n)
    try:
        yield
    finally:
        _count.reset(before)


def thread_count() -> int:
    """Return the number of threads that `for_each` uses here."""
    return _count.get()


def cpu_seconds() -> float:
    """Return the processor time of this thread and of the threads that `for_each` started for it."""
    return time.thread_time() + getattr(_active, "helped", 0.0)


def for_each(
    function: Callable[[Any, Any], None], items: Iterable[Any], space: Callable[[], Any] = lambda: None
) -> None:
    """Call ``function(item, space())`` for every item, in as many threads as `threads` allows.

    ``space`` is called in each thread, for arrays that a thread reuses. The function must release the GIL in
    most of its time, and its results must not depend on the order of the items. Its first error is raised.
    """
    pending = deque(items)
    number = min(thread_count(), len(pending))

    def work() -> float:
        started = time.thread_time()
        buffers = space() if pending else None
        try:
            while True:
                try:
                    item = pending.popleft()
                except IndexError:
                    return time.thread_time() - started
                function(item, buffers)
        except BaseException:
            pending.clear()
            raise

    if number <= 1:
        work()
        return
    before = _count.set(1)  # nested calls use this thread alone
    try:
        with ThreadPoolExecutor(number - 1, "confml-helper") as pool:
            helpers = [pool.submit(work) for _ in range(number - 1)]
            work()
        _active.helped = getattr(_active, "helped", 0.0) + sum(helper.result() for helper in helpers)
    finally:
        _count.reset(before)
