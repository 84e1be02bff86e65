"""`Forked`: a context of `multiprocessing` on Linux with a fork server for each run, not one for all.

The server has the modules, environment and path of the run, and not the main script. It is a fork of this
process, if that has one thread. The USPS run takes 2.8 s of processor time so, 3.7 s with a server that is a
new interpreter, and 5.0 s with workers that are new interpreters (means of three on two cores).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import io
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Sequence
from multiprocessing import connection, context, forkserver, reduction, spawn, util
from multiprocessing.popen_forkserver import Popen
from typing import Any

from confml import _jit


class Forked(context.ForkServerContext):
    """A context with a fork server for itself. here: whether the server may be a fork of this process."""

    def __init__(self, modules: Sequence[str] = (), here: bool = False):
        self._server = _Server(modules, here)
        self.start, self.stop = self._server.ensure_running, self._server.kill

    def Process(self, **given: Any) -> _Process:  # type: ignore[override]
        process = _Process(**given)
        process.server = self._server
        return process


def has_one_thread() -> bool:
    """Return whether a fork of this process copies no lock that another thread holds."""
    return threading.active_count() == 1


class _Server(forkserver.ForkServer):
    """A fork server that ends with this process, and with all its workers by `kill`."""

    _forkserver_pid: int | None
    _forkserver_alive_fd: int

    def __init__(self, modules: Sequence[str], here: bool):
        super().__init__()
        self._modules, self._here = tuple(modules), here

    def ensure_running(self) -> None:
        """Start the server if it does not run."""
        with self._lock:  # type: ignore[attr-defined]
            if self._forkserver_pid is not None:
                if os.waitpid(self._forkserver_pid, os.WNOHANG)[0] == 0:
                    return
                os.close(self._forkserver_alive_fd)
            ended, self._forkserver_alive_fd = os.pipe()
            self._forkserver_address = connection.arbitrary_address("AF_UNIX")  # type: ignore[attr-defined]
            with socket.socket(socket.AF_UNIX) as listener, open(ended, "rb"):
                listener.bind(self._forkserver_address)
                listener.listen()
                given = (listener.fileno(), ended, os.getpid(), str(_jit.cache_dir()), self._modules)
                self._forkserver_pid = (_fork if self._here and has_one_thread() else _start)(given)

    def kill(self) -> None:
        if self._forkserver_pid is not None:
            os.kill(self._forkserver_pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                self._stop()  # type: ignore[attr-defined]


def _fork(given: tuple) -> int:
    """Call `_serve` in a fork of this process."""
    util._flush_std_streams()  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: those of BLAS, which sees to forks
        if pid := os.fork():
            return pid
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        _serve(*given)
    finally:
        os._exit(1)


def _start(given: tuple) -> int:
    """Call `_serve` in a new interpreter."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from confml._forks import _serve; _serve(*{given!r})"
    command: list = [spawn.get_executable(), *util._args_from_interpreter_flags(), "-c", code]  # type: ignore[attr-defined]
    return util.spawnv_passfds(command[0], command, given[:2])


def _serve(listener: int, ended: int, parent: int, kernels: str, modules: Sequence[str]) -> None:
    """Import modules, without those that calls will fail to import, and be a fork server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    end_with(parent)
    _jit.use_cache_dir(kernels)
    for name in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    if modules and "numba" in sys.modules:
        _jit.load_compiler()
    gc.freeze()  # the collector of a worker does not write to the pages that all workers share
    forkserver.main(listener, ended, [])


def end_with(parent: int) -> None:
    """Let the kernel end this process together with its parent."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


class _Popen(Popen):
    """A process from the server of its context, without the main script and in the present folder."""

    def _launch(self, process: Any) -> None:
        prepared, content = spawn.get_preparation_data(process.name), io.BytesIO()
        for name in ("init_main_from_name", "init_main_from_path", "dir"):
            prepared.pop(name, None)
        context.set_spawning_popen(self)
        try:
            reduction.dump(prepared, content)
            reduction.dump(process, content)
        finally:
            context.set_spawning_popen(None)
        self.sentinel, end = process.server.connect_to_new_process(self._fds)  # type: ignore[attr-defined]
        self.finalizer = util.Finalize(self, os.close, (self.sentinel,))
        with open(end, "wb") as pipe:
            pipe.write(content.getbuffer())
        self.pid = forkserver.read_signed(self.sentinel)


class _Process(context.ForkServerProcess):
    server: _Server
    _Popen = _Popen

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "server"}
