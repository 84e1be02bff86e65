"""Command lines in processes of their own that start at once.

`start` and `confml` have the meaning of ``python -m confml ARGUMENTS`` in a new process: its own folder,
environment, session, signals and limits. The process is forked from a server that has imported confml before
(`processes.server`): a new interpreter would import confml, scikit-learn and numba for some seconds each
time. Worker processes of its run start as for users. Tests of what a new interpreter does call it themselves.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")
CLIENT = Path(__file__).with_name("client.py")
SECONDS = 300  # the longest wait of `confml`


class Process:
    """A forked process, with the part of the interface of `subprocess.Popen` that tests and confml need.

    output: a file descriptor for stdout and stderr; by default both are files for `communicate`.
    """

    def __init__(self, request: dict, output: int | None = None):
        self._files = [tempfile.TemporaryFile() for _ in range(2 if output is None else 0)]
        outputs = [file.fileno() for file in self._files] or [output, output]
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(server())
        with open(os.devnull, "rb") as nothing:
            descriptors = [nothing.fileno(), *outputs]
            socket.send_fds(self._connection, [json.dumps(request).encode()], descriptors)
        self.pid = int(self._connection.recv(20))
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"confml, process {self.pid}", timeout or 0)
            self.returncode = int(self._connection.recv(20))
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> list[bytes]:
        """Wait for the end of the process, and return what it wrote to stdout and stderr."""
        self.wait(timeout)
        return [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in self._files]


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

    output: as in `Process`. limits: limits of the system by their names in `resource`, such as RLIMIT_NOFILE.
    path_has_folder: whether ``sys.path`` begins with the current folder; that of ``confml`` does not.
    """
    request = {
        "arguments": list(map(str, arguments)),
        "cwd": str(cwd or os.getcwd()),
        "env": dict(os.environ if env is None else env),
        "new_session": new_session,
        "limits": dict(limits or {}),
        "program": str(program) if program else None,
        "path_has_folder": path_has_folder,
    }
    return Process(request, output)


def assert_program(program: str, **options) -> None:
    """Run the text of a Python program in a new interpreter; fail with its errors unless it succeeds."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, **options)
    assert done.returncode == 0, done.stderr


def confml(*arguments: object, text: bool = True, timeout: float = SECONDS, **options):
    """Run ``python -m confml ARGUMENTS`` to its end, and return a `subprocess.CompletedProcess`."""
    process = start(*arguments, **options)
    try:
        written = process.communicate(timeout)
    finally:
        process.kill()
    out, errors = (content.decode() for content in written) if text else written
    return subprocess.CompletedProcess(arguments, process.returncode, out, errors)


@functools.cache
def server() -> str:
    """Start the server of this process, and return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="confml-processes-")
    path = os.path.join(folder.name, "socket")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
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
