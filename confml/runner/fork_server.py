"""Inside the processes of a run: the server that forks worker processes, and the work of a worker.

`serve` and `work_alone` are called by a new process with the number of a socket, the process that started it,
the folder of compiled kernels, and modules to import. They do not return.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import random
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NoReturn

from confml import _jit

_WATCH_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1


def serve(number: int, parent: int, kernels: str, modules: Sequence[str]) -> NoReturn:
    """Import ``modules`` and load the compiler, then fork a worker for each socket that is received.

    It ends with the parent. The server has a single thread, so that a fork never copies a lock that another
    thread holds.
    """
    _begin(parent, kernels, modules)
    _load_compiler()
    gc.freeze()  # the collector of a worker does not write to the pages that all workers share
    requests = socket.socket(fileno=number)
    signal.signal(signal.SIGCHLD, _reap)
    here = os.getpid()
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
        if not message:
            os._exit(0)
        for descriptor in descriptors:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of threads: those of BLAS, which sees to forks
                child = os.fork()
            if child == 0:
                requests.close()
                _be_forked_worker(descriptor, here)
            os.close(descriptor)


def work_alone(number: int, parent: int, kernels: str, modules: Sequence[str]) -> NoReturn:
    """Work in this process, which was not forked."""
    _begin(parent, kernels, modules)
    os.setpgid(0, 0)
    _watch_in_background(parent)
    _work(Connection(number))


def _begin(parent: int, kernels: str, modules: Sequence[str]) -> None:
    """Ignore Ctrl-C, which the parent handles, end with the parent, and import the modules of the run.

    A module that cannot be imported is left to the items that need it: their errors say more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(700, 10, 10)  # not that of the command: a method's garbage may hold large arrays
    _end_with(parent)
    _jit.use_cache_dir(kernels)
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _load_compiler() -> None:
    """Load the parts of numba that the first call of a kernel loads, if the modules have kernels.

    Each worker would take a third of a second for it.
    """
    if "numba" in sys.modules:
        with contextlib.suppress(ImportError, AttributeError):  # of another version
            from numba.core.registry import cpu_target

            cpu_target.typing_context.refresh()
            cpu_target.target_context.refresh()


def _reap(number: int, frame: FrameType | None) -> None:
    """Remove ended workers from the table of processes."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _be_forked_worker(descriptor: int, server: int) -> NoReturn:
    """Work in a process that was just forked. Nothing random may be the same in two workers."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _end_with(server)
    os.setpgid(0, 0)  # `Worker.stop` kills the group: the process and its children
    _watch_in_background(server)
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    try:
        _work(Connection(descriptor))
    finally:
        os._exit(1)


def _work(connection: Connection) -> NoReturn:
    """Say that the process is ready, then run items until the connection is closed."""
    try:
        connection.send_bytes(str(os.getpid()).encode())
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))
    except (OSError, EOFError):
        os._exit(0)


def _answer(message: bytes) -> bytes:
    """Return the pickled (result or exception, whether the worker should be replaced) of an item."""
    result, replace = None, False
    try:
        function, item, memory = pickle.loads(message)
        result, replace = _call(function, item, memory)
    except BaseException as error:
        result = error
    try:
        answer = pickle.dumps((result, replace), protocol=pickle.HIGHEST_PROTOCOL)
        if isinstance(result, BaseException):
            pickle.loads(answer)  # some exceptions can be written and not read
        return answer
    except Exception:
        told = RuntimeError(f"{type(result).__name__}: {result}")
        return pickle.dumps((told, replace), protocol=pickle.HIGHEST_PROTOCOL)


def _call(function: Callable[[Any], Any], item: Any, memory: int | None) -> tuple[Any, bool]:
    """Return the result of a function within a memory limit, and whether much memory is still in use."""
    before = data_bytes()
    with memory_limit(memory):
        result = function(item)
    return result, memory is not None and data_bytes() - before > memory / 2


def _end_with(parent: int) -> None:
    """Let the kernel end this process together with its parent, where it can (Linux)."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if not _is_parent(parent):
        os._exit(1)


def _watch_in_background(parent: int) -> None:
    """End this process soon after its parent, where the kernel does not."""
    threading.Thread(target=_watch, args=(parent,), name="watch-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while _is_parent(parent):
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def _is_parent(process: int) -> bool:
    return os.getppid() == process


def data_bytes() -> int:
    """Return the bytes of private memory of this process, as RLIMIT_DATA counts them; 0 if unknown."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmData:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


@contextlib.contextmanager
def memory_limit(memory: int | None) -> Iterator[None]:
    """Limit this process to ``memory`` additional bytes; larger allocations raise MemoryError."""
    if memory is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = data_bytes() + memory
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
