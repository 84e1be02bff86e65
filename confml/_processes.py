"""Worker processes of joblib: how they start and end, and `each` for independent calls.

The executors of joblib (loky) start workers from a context of `multiprocessing`. On Linux the context is
`Forked`: the fork server of the standard library, which imports the modules of all workers once. On macOS and
Windows it is joblib's own context, with a new interpreter for each worker.

`Forked` differs from the standard library in two points. Its server belongs to one run, with the modules,
environment and path of that time, and neither the server nor a worker imports the main script, which needs no
``__main__`` guard. And the server is a fork of this process where this process has one thread: the command
line has imported everything by then. In seconds of processor time on two cores, means of three: the USPS run
without figures takes 2.8, 3.7 with a server that is a new interpreter, and 5.0 with workers that are new
interpreters. The context is also the joblib backend ``confml-forks``.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from multiprocessing import context, forkserver, reduction, resource_tracker, spawn, util
from multiprocessing.popen_forkserver import Popen
from typing import Any

from joblib import Parallel, delayed, register_parallel_backend
from joblib.externals.loky import ProcessPoolExecutor, process_executor
from joblib.externals.loky.backend import get_context
from joblib.parallel import ParallelBackendBase

from confml import _jit

_WATCH_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1
_starting = threading.Lock()
_shared: list[tuple[Callable[[Any], Any], Sequence[Any]]] = []  # the calls of `each`, which forks inherit


class _Server(forkserver.ForkServer):
    """A fork server that ends with this process.

    modules: those that it imports. here: whether it may be a fork of this process.
    """

    def __init__(self, modules: Sequence[str], here: bool):
        super().__init__()
        self.set_forkserver_preload([])  # `_serve` imports them
        self._modules, self._here = tuple(modules), here

    def ensure_running(self) -> None:
        with _starting:
            resource_tracker.ensure_running()
            start = util.spawnv_passfds
            forks = self._here and has_one_thread()
            replaced = functools.partial(
                _fork if forks else _spawn, self._modules, threading.get_ident(), start
            )
            util.spawnv_passfds = replaced
            try:
                super().ensure_running()
            finally:
                util.spawnv_passfds = start

    def stop(self) -> None:
        """Kill the server, and with it all workers."""
        pid = self._forkserver_pid  # type: ignore[attr-defined]
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                self._stop()  # type: ignore[attr-defined]


def has_one_thread() -> bool:
    """Return whether a fork of this process copies no lock that another thread holds."""
    return threading.active_count() == 1


def _fork(modules: Sequence[str], thread: int, start, path, args: list[str], descriptors) -> int:
    """Run the last argument, Python code, in a fork of this process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: those of BLAS, which sees to forks
        pid = os.fork()
    if pid:
        return pid
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        _serve(args[-1], parent, str(_jit.cache_dir()), modules)
    finally:
        os._exit(1)


def _spawn(modules: Sequence[str], thread: int, start, path, args: list[str], descriptors) -> int:
    """Run the last argument, Python code, in a new interpreter."""
    if threading.get_ident() != thread:  # another process of another thread
        return start(path, args, descriptors)
    call = f"_serve({args[-1]!r}, {os.getpid()}, {str(_jit.cache_dir())!r}, {modules!r})"
    code = f"import sys; sys.path[:] = {sys.path!r}; from confml._processes import _serve; {call}"
    return start(path, [*args[:-1], code], descriptors)


def _serve(code: str, parent: int, kernels: str, modules: Sequence[str]) -> None:
    """Import modules and load the compiler, then be a fork server.

    A module that cannot be imported is left to the calls that need it: their errors say more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _end_with(parent)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    _jit.use_cache_dir(kernels)
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    if modules and "numba" in sys.modules:
        # The first call of a kernel would load these parts, which takes each worker a third of a second.
        with contextlib.suppress(ImportError, AttributeError):  # of another version
            from numba.core.registry import cpu_target

            cpu_target.typing_context.refresh()
            cpu_target.target_context.refresh()
    gc.freeze()  # the collector of a worker does not write to the pages that all workers share
    exec(code, {})


class _ForkedPopen(Popen):
    """A process from the server of its context, without the main script and in the present folder."""

    def _launch(self, process: Any) -> None:
        prepared = spawn.get_preparation_data(process.name)
        for name in ("init_main_from_name", "init_main_from_path", "dir"):
            prepared.pop(name, None)
        content = io.BytesIO()
        context.set_spawning_popen(self)
        try:
            reduction.dump(prepared, content)
            reduction.dump(process, content)
        finally:
            context.set_spawning_popen(None)
        self.sentinel, end = process.server.connect_to_new_process(self._fds)  # type: ignore[attr-defined]
        kept = os.dup(end)  # tells the process that this one has not ended
        self.finalizer = util.Finalize(self, util.close_fds, (kept, self.sentinel))  # type: ignore[attr-defined]
        with open(end, "wb") as pipe:
            pipe.write(content.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class _ForkedProcess(context.ForkServerProcess):
    server: _Server

    @staticmethod
    def _Popen(process: Any) -> _ForkedPopen:
        return _ForkedPopen(process)

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "server"}


class Forked(context.ForkServerContext):
    """A context of `multiprocessing` with a fork server for itself, which ends with `stop`."""

    def __init__(self, modules: Sequence[str] = (), here: bool = False):
        self.server = _Server(modules, here)

    def Process(self, **given: Any) -> _ForkedProcess:  # type: ignore[override]
        process = _ForkedProcess(**given)
        process.server = self.server
        return process

    def start(self) -> None:
        self.server.ensure_running()

    def stop(self) -> None:
        self.server.stop()


class Spawned:
    """joblib's own context: each worker is a new interpreter, which does not import the main script."""

    def __init__(self, modules: Sequence[str] = (), here: bool = False):
        self._context = get_context("loky")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def start(self) -> None:
        """Do nothing: there is no server."""

    def stop(self) -> None:
        """Do nothing: there is no server."""


Context = Forked | Spawned
START: type[Forked] | type[Spawned] = Forked if sys.platform == "linux" else Spawned


def executor(workers: int, processes: Context) -> ProcessPoolExecutor:
    """Return an executor of joblib whose workers end with this process and do not write to its stdout."""
    # On systems without pgrep and psutil loky warns that it can kill no children, which `end` kills before.
    warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
    parent = None if isinstance(processes, Forked) else os.getpid()
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
    _end_with(os.getppid() if parent is None else parent)
    wait = _joined if parent is None else functools.partial(_watch, parent)
    threading.Thread(target=wait, name="watch-parent", daemon=True).start()
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # stdout is for data
        sys.stdout = sys.stderr
    os.environ.setdefault("PYTHONFAULTHANDLER", "")  # the command says that a worker died
    process_executor._USE_PSUTIL = False  # loky replaces a worker that keeps 300 MB, if it finds psutil
    _jit.use_cache_dir(kernels)
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _end_with(parent: int) -> None:
    """Let the kernel end this process together with its parent, where it can (Linux)."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if hasattr(os, "setpgid") and os.getppid() != parent:
        os._exit(1)


def _joined() -> None:
    """End this process soon after the one that asked the fork server for it."""
    from multiprocessing import parent_process

    asked = parent_process()
    if asked is not None:
        asked.join()
        os._exit(1)


def _watch(parent: int) -> None:
    """End this process soon after its parent."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


class ForkedBackend(ParallelBackendBase):
    """The backend ``confml-forks`` of `joblib.Parallel`: the workers of one call, from one context."""

    supports_retrieve_callback = True
    supports_return_generator = True

    def effective_n_jobs(self, n_jobs: int) -> int:
        return n_jobs

    def configure(self, n_jobs: int = 1, parallel=None, processes: Context | None = None, **given) -> int:
        self.parallel = parallel
        self._processes = processes or START(here=True)
        self._processes.start()
        self._workers = executor(n_jobs, self._processes)
        return n_jobs

    def submit(self, func, callback=None):
        future = self._workers.submit(func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit  # its name in joblib 1.4

    def retrieve_result_callback(self, future):
        return future.result()

    def terminate(self) -> None:
        end(self._workers)
        self._processes.stop()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        self.terminate()
        if ensure_ready:
            self.configure(self.parallel.n_jobs, self.parallel)


register_parallel_backend("confml-forks", ForkedBackend)


Progress = Callable[[Iterable[Any], int], Iterable[Any]]


def each(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    jobs: int | None,
    *,
    threads: bool = False,
    progress: Progress | None = None,
) -> Generator[Any, None, None]:
    """Yield ``function(item)`` for every item, in their order, from up to ``jobs`` processes of joblib.

    threads: use threads of this process instead, for functions that release the global interpreter lock.
    progress: what shows the progress of the results, such as `confml.terminal.track`. A process that is a
    fork of this one has the function and the items already. A new interpreter gets them pickled.
    """
    those = list(items)
    results: Iterable[Any]
    if jobs in (None, 1) or len(those) < 2:
        results = map(function, those)
    elif threads:
        results = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
            map(delayed(function), those)
        )
    else:
        results = _from_processes(function, those, min(jobs, len(those)))
    yield from results if progress is None else progress(results, len(those))


def forks() -> bool:
    """Return whether `each` uses forks of this process, which have its memory."""
    return START is Forked and has_one_thread()


def _from_processes(function: Callable[[Any], Any], items: list, number: int) -> Iterable[Any]:
    _shared[:] = [(function, items)]
    try:
        if forks():
            calls = map(delayed(_shared_call), range(len(items)))
        else:
            calls = map(delayed(function), items)
        return Parallel(n_jobs=number, backend="confml-forks", return_as="generator")(calls)
    finally:
        _shared.clear()


def _shared_call(place: int) -> Any:
    function, items = _shared[0]
    return function(items[place])
