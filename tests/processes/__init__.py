"""Command lines in processes of their own that start at once.

`start` and `confml` have the meaning of ``python -m confml ARGUMENTS`` in a new process: its own folder,
environment, session, signals and limits. The process is forked from a server that has imported confml before
(`processes.server`): a new interpreter would import confml, scikit-learn and numba for some seconds each
time. Worker processes of its run start as for users. Tests of what a new interpreter does call it themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")
CLIENT = Path(__file__).with_name("client.py")
SECONDS = 300  # the longest wait of `confml`


class Process:
    """A forked process, with the part of the interface of `subprocess.Popen` that tests and confml need."""

    def __init__(self, request: dict, descriptors: Sequence[int], pipes: dict[str, int] | None = None):
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(server())
        content = json.dumps(request).encode()
        socket.send_fds(self._connection, [f"{len(content)}\n".encode()], descriptors)
        self._connection.sendall(content)
        self.pid = self._answer()
        self.returncode: int | None = None
        self._pipes = pipes or {}

    def _answer(self) -> int:
        """Read one line and no byte of the next, for which `wait` asks `select`."""
        line = b""
        while not line.endswith(b"\n"):
            line += self._connection.recv(1) or b"\n"
        return int(line)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"confml, process {self.pid}", timeout or 0)
            self.returncode = self._answer()
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Read stdout and stderr to their ends, and wait for the end of the process."""
        limit = None if timeout is None else time.monotonic() + timeout
        found = {"stdout": b"", "stderr": b""}
        while self._pipes:
            left = None if limit is None else max(limit - time.monotonic(), 0)
            ready = select.select(list(self._pipes.values()), [], [], left)[0]
            if not ready:
                raise subprocess.TimeoutExpired(f"confml, process {self.pid}", timeout or 0)
            for name in [one for one, pipe in self._pipes.items() if pipe in ready]:
                content = os.read(self._pipes[name], 1 << 16)
                found[name] += content
                if not content:
                    os.close(self._pipes.pop(name))
        self.wait(None if limit is None else max(limit - time.monotonic(), 0.1))
        return found["stdout"], found["stderr"]


def start(
    *arguments: object,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    new_session: bool = False,
    output: int | None = None,
    limits: Mapping[str, int] | None = None,
    program: Path | str | None = None,
    path_has_folder: bool = True,
) -> Process:
    """Start ``python -m confml ARGUMENTS``, or ``python PROGRAM ARGUMENTS``.

    output: a file descriptor for stdout and stderr; by default both are pipes for `Process.communicate`.
    limits: limits of the system by their names in `resource`, such as RLIMIT_NOFILE.
    path_has_folder: whether ``sys.path`` begins with the current folder; that of ``confml`` does not.
    """
    request = {
        "arguments": [str(one) for one in arguments],
        "cwd": str(cwd or os.getcwd()),
        "env": dict(os.environ if env is None else env),
        "new_session": new_session,
        "limits": dict(limits or {}),
        "program": str(program) if program else None,
        "path_has_folder": path_has_folder,
    }
    pipes, ends = {}, []
    for name in () if output is not None else ("stdout", "stderr"):
        pipes[name], end = os.pipe()
        ends.append(end)
    with open(os.devnull, "rb") as nothing:
        process = Process(request, [nothing.fileno(), *(ends or [output, output])], pipes)
    for end in ends:
        os.close(end)
    return process


def assert_program(program: str, **options) -> None:
    """Run the text of a Python program in a new interpreter; fail with its errors unless it succeeds."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, **options)
    assert done.returncode == 0, done.stderr


def confml(*arguments: object, text: bool = True, timeout: float = SECONDS, **options):
    """Run ``python -m confml ARGUMENTS`` to its end, and return a `subprocess.CompletedProcess`."""
    process = start(*arguments, **options)
    try:
        found = process.communicate(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    out, errors = (one.decode() for one in found) if text else found
    return subprocess.CompletedProcess(arguments, process.returncode, out, errors)


@functools.cache
def server() -> str:
    """Start the server of this process, and return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="confml-processes-")
    path = os.path.join(folder.name, "socket")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(one for one in sys.path if one)
    begun = subprocess.Popen(
        [sys.executable, str(SERVER), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )

    def end() -> None:
        begun.kill()
        begun.wait()
        folder.cleanup()

    atexit.register(end)
    assert begun.stdout.readline() == b"ready\n", "the server of command lines did not start"
    return path


def program_text() -> str:
    """Return a shell script that stands for the command ``confml``, for tests of scripts."""
    return f'#!/bin/sh\nexec {sys.executable} -I -S {CLIENT} {server()} "$@"\n'
