"""`Worker`: a worker process that runs one item at a time, and the way to start one.

On Linux, worker processes are forked from one server process, which imports the modules of the run once
(`confml.runner.fork_server`). The command line forks the server from its own process, which has imported them
already. Elsewhere each worker is a new interpreter. A worker process ends with its parent, and the death of
one does not affect the items of the others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from confml import _jit
from confml.config.limits import Limits
from confml.errors import ConfmlError, printable
from confml.runner.fork_server import serve

_SECONDS_TO_END = 10.0  # the longest wait for a process that was killed


class WorkerDied(Exception):
    """The process of a worker ended before it returned a result."""


class ProcessStarter:
    """Starts worker processes, each at one end of a socket.

    forked: whether processes are forked from one server (Linux only) or each is a new interpreter. here:
    whether the server may be forked from this process, if it has one thread; otherwise it is a new
    interpreter. Libraries that this process has used must work in a forked process.
    """

    def __init__(self, forked: bool = sys.platform == "linux", here: bool = False):
        self._forked, self._here = forked, here
        self._modules: tuple[str, ...] = ()
        self._server: subprocess.Popen | ForkedServer | None = None
        self._requests: socket.socket | None = None
        self._others: list[subprocess.Popen] = []

    def prepare(self, modules: Sequence[str]) -> None:
        """Start the server, if there is one; it imports ``modules`` in the background."""
        self._modules = tuple(modules)
        if self._forked and self._server is None:
            self._requests, theirs = socket.socketpair()
            with theirs:
                if self._here and threading.active_count() == 1:
                    self._server = ForkedServer(theirs, self._requests, self._modules)
                else:
                    self._server = _interpreter("serve", theirs, self._modules)

    def start(self) -> Connection:
        """Start a worker process and return the connection to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            if self._forked:
                self._ask_server(theirs)
            else:
                self._others.append(_interpreter("work_alone", theirs, self._modules))
        return Connection(ours.detach())

    def _ask_server(self, theirs: socket.socket) -> None:
        for attempt in range(2):
            self.prepare(self._modules)
            assert self._requests is not None  # made by `prepare`
            try:
                socket.send_fds(self._requests, [b"f"], [theirs.fileno()])
                return
            except OSError:
                self.stop()  # the server was killed: another one is started
                if attempt:
                    raise

    def stop(self) -> None:
        """End the server, and with it all its workers."""
        processes, self._others = [*self._others, *([self._server] if self._server else [])], []
        if self._requests is not None:
            self._requests.close()
        self._server = self._requests = None
        for process in processes:
            process.kill()
            process.wait()


def _interpreter(function: str, theirs: socket.socket, modules: Sequence[str]) -> subprocess.Popen:
    """Start a new interpreter that calls a function of `confml.runner.fork_server` on a socket."""
    text = (
        f"import sys; sys.path[:] = {sys.path!r}; from confml.runner.fork_server import {function}; "
        f"{function}({theirs.fileno()}, {os.getpid()}, {str(_jit.cache_dir())!r}, {tuple(modules)!r})"
    )
    options = [f"-W{option}" for option in sys.warnoptions]
    command = [sys.executable, *options, "-c", text]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])


class ForkedServer:
    """The server of worker processes as a fork of this process; it never returns to the code of this process.

    theirs: the socket of its requests. ours: the other end, which it closes.
    """

    def __init__(self, theirs: socket.socket, ours: socket.socket, modules: Sequence[str]):
        parent, kernels = os.getpid(), str(_jit.cache_dir())
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads: those of BLAS, which sees to forks
            self._pid = os.fork()
        if self._pid == 0:
            try:
                ours.close()
                _forget_signals_and_input()
                serve(theirs.detach(), parent, kernels, modules)
            finally:
                os._exit(1)
        self._ended = False

    def kill(self) -> None:
        if not self._ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        if not self._ended:
            self._ended = True
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


def _forget_signals_and_input() -> None:
    """Handle signals as a new process does, and read nothing from the terminal."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)


class Worker:
    """A worker process, started at the first item and again after `stop`."""

    def __init__(self, starter: ProcessStarter) -> None:
        self._starter = starter
        self.connection: Connection | None = None
        self._process: int | None = None
        self._sentinel: int | None = None
        self._ready_at: float | None = None
        self.item: Any = None
        self.limits = Limits()

    def start(self) -> None:
        """Start the process; return immediately."""
        if self.connection is None:
            self._process = self._ready_at = None
            self.connection = self._starter.start()

    def submit(self, function: Callable[[Any], Any], item: Any, limits: Limits) -> None:
        """Run ``function(item)`` within limits; `collect` returns its result."""
        self.item, self.limits = item, limits
        message = pickle.dumps((function, item, limits.memory), protocol=pickle.HIGHEST_PROTOCOL)
        self.start()
        assert self.connection is not None  # made by `start`
        if self._ready_at is not None:
            self._ready_at = time.monotonic()
        with contextlib.suppress(OSError):  # it died: `collect` says so
            self.connection.send_bytes(message)

    def collect(self) -> tuple[Any] | None:
        """Read one message: return (result or exception,), or None if the process is only ready now.

        Raises WorkerDied. A worker that still holds much memory of a limited item is stopped.
        """
        assert self.connection is not None  # an item was submitted
        try:
            if not self.connection.poll():  # the process ended; one that it started holds the socket open
                raise EOFError
            message = self.connection.recv_bytes()
        except (OSError, EOFError):
            raise WorkerDied from None
        if self._process is None:
            self._is_ready(message)
            return None
        try:
            result, replace = pickle.loads(message)
        except Exception as error:
            result, replace = ConfmlError(f"its result cannot be read: {printable(error)}"), False
        if replace:
            self.stop()
        return (result,)

    def _is_ready(self, message: bytes) -> None:
        self._process, self._ready_at = int(message), time.monotonic()
        if hasattr(os, "pidfd_open"):
            try:
                self._sentinel = os.pidfd_open(self._process)
            except OSError as error:
                if error.errno == errno.ESRCH:
                    raise WorkerDied from None

    @property
    def waited(self) -> list[Any]:
        """Objects for `multiprocessing.connection.wait`; one is ready if `collect` can be called."""
        return [one for one in (self.connection, self._sentinel) if one is not None]

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, not counting the start of the process; None without a limit."""
        if self.limits.timeout is None:
            return None
        if self._ready_at is None:
            return self.limits.timeout
        return self.limits.timeout - (time.monotonic() - self._ready_at)

    def stop(self) -> None:
        """Kill the process and its children."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        sentinel, self._sentinel = self._sentinel, None
        if sentinel is not None:
            os.close(sentinel)
        with connection:
            if self._process is None and connection.poll():  # it became ready just now
                with contextlib.suppress(OSError, EOFError, ValueError):
                    self._process = int(connection.recv_bytes())
            if self._process is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process, signal.SIGKILL)
                _wait_for_end(connection)


def _wait_for_end(connection: Connection) -> None:
    """Wait until the process at the other end has ended, or a while."""
    limit = time.monotonic() + _SECONDS_TO_END
    with contextlib.suppress(OSError, EOFError):
        while connection.poll(max(limit - time.monotonic(), 0)):
            connection.recv_bytes()


def limits_memory() -> bool:
    """Return whether this system can limit the memory of a task."""
    return sys.platform == "linux"
