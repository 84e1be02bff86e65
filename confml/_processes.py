"""Worker processes of joblib: how they start and end, and `each` for independent calls.

The executors of joblib (loky) start workers from a context of `multiprocessing`: `confml._forks.Forked` on
Linux, and joblib's own on macOS and Windows, with a new interpreter for each worker.
"""

import contextlib
import gc
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

from joblib import Parallel, delayed, register_parallel_backend
from joblib.externals.loky import ProcessPoolExecutor, process_executor
from joblib.externals.loky.backend.context import LokyContext
from joblib.parallel import ParallelBackendBase

from confml import _jit

_WATCH_SECONDS = 1.0
_shared: list[tuple[Callable[[Any], Any], Sequence[Any]]] = []  # the calls of `each`, which forks inherit


class Spawned(LokyContext):
    """joblib's own context: each worker is a new interpreter, which does not import the main script."""

    def __init__(self, modules: Sequence[str] = (), here: bool = False):
        super().__init__()

    def start(self) -> None:
        """Do nothing: there is no server."""

    stop = start


START: type[Any] = Spawned
if sys.platform == "linux":
    from confml import _forks

    START = _forks.Forked


def executor(workers: int, processes: Any) -> ProcessPoolExecutor:
    """Return an executor of joblib whose workers end with this process and do not write to its stdout."""
    # On systems without pgrep and psutil loky warns that it can kill no children, which `end` kills before.
    warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
    parent = os.getpid() if isinstance(processes, Spawned) else None
    given = (parent, str(_jit.cache_dir()))
    return ProcessPoolExecutor(workers, context=processes, initializer=_begin_worker, initargs=given)


def end(one: ProcessPoolExecutor, worker: int | None = None) -> None:
    """Kill the workers of an executor and their children. worker: number of one that may have ended."""
    for pid in {*(one._processes or ()), *([] if worker is None else [worker])}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    one.shutdown(kill_workers=True)


def leave_pipes_to_worker(one: ProcessPoolExecutor) -> None:
    """Close the worker's ends of the pipes in this process, after the only worker of an executor has started.

    A worker that is killed while it reads or writes a message would otherwise never be noticed.
    """
    one._call_queue._reader.close()
    one._result_queue._writer.close()


def _begin_worker(parent: int | None, kernels: str) -> None:
    """Prepare a process before its first call. parent: its parent, None for a fork server.

    It is the leader of a group, so that it can be killed with its children; nothing random is the same in two
    workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    gc.set_threshold(700, 10, 10)  # not that of the command: a method's garbage may hold large arrays
    gc.freeze()
    if parent is None:
        _forks.end_with(os.getppid())
    else:
        threading.Thread(target=_watch, args=(parent,), name="watch-parent", daemon=True).start()
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # stdout is for data
        sys.stdout = sys.stderr
    os.environ.setdefault("PYTHONFAULTHANDLER", "")  # the command says that a worker died
    process_executor._USE_PSUTIL = False  # loky replaces a worker that keeps 300 MB, if it finds psutil
    _jit.use_cache_dir(kernels)
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _watch(parent: int) -> None:
    """End this process soon after its parent."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


class ForkedBackend(ParallelBackendBase):
    """The backend ``confml-forks`` of `joblib.Parallel`: the workers of one call, from one context."""

    supports_retrieve_callback = True

    def effective_n_jobs(self, n_jobs: int) -> int:
        return n_jobs

    def configure(self, n_jobs: int = 1, parallel=None, **given) -> int:
        self.parallel, self._processes = parallel, START(here=True)
        self._processes.start()
        self._workers = executor(n_jobs, self._processes)
        return n_jobs

    def submit(self, func, callback):
        future = self._workers.submit(func)
        future.add_done_callback(callback)
        return future

    apply_async = submit  # its name in joblib 1.4

    def retrieve_result_callback(self, future):
        return future.result()

    def terminate(self) -> None:
        end(self._workers)
        self._processes.stop()


register_parallel_backend("confml-forks", ForkedBackend)


def each(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    jobs: int | None,
    *,
    threads: bool = False,
) -> Generator[Any, None, None]:
    """Yield ``function(item)`` for every item, in their order, from up to ``jobs`` processes of joblib.

    threads: use threads of this process instead, for functions that release the global interpreter lock. A
    process that is a fork of this one has the function and the items already. A new interpreter gets them
    pickled.
    """
    those = list(items)
    results: Iterable[Any] = map(function, those)
    if jobs is not None and jobs > 1 and len(those) > 1:
        where: dict[str, Any] = {"prefer": "threads"} if threads else {"backend": "confml-forks"}
        calls = map(delayed(function), those)
        if forks() and not threads:
            _shared[:] = [(function, those)]
            calls = map(delayed(_shared_call), range(len(those)))
        try:
            results = Parallel(n_jobs=min(jobs, len(those)), return_as="generator", **where)(calls)
        finally:
            _shared.clear()
    yield from results


def forks() -> bool:
    """Return whether `each` uses forks of this process, which have its memory."""
    return START is not Spawned and _forks.has_one_thread()


def _shared_call(place: int) -> Any:
    function, items = _shared[0]
    return function(items[place])
