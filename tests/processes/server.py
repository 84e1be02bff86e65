"""The server of `processes`: it imports confml, and forks a process for each command line that it is sent.

``python server.py SOCKET`` prints "ready" when it listens, and ends when its stdin is closed. It has one
thread, so that a fork never copies a lock that another thread holds. A request is a packet of JSON with the
descriptors of stdin, stdout and stderr; the answers are the number of the process and, when it has ended, its
exit code, negative for a signal.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import traceback

NOT_IMPORTED = ("confml.__main__", "confml.methods._template")


def import_all() -> None:
    """Import the modules of confml and those that its functions import."""
    import confml

    for module in pkgutil.walk_packages(confml.__path__, "confml."):
        if module.name not in NOT_IMPORTED:
            importlib.import_module(module.name)
    for name in ("matplotlib.pyplot", "pandas", "rich.table", "sklearn.ensemble", "sklearn.neighbors"):
        importlib.import_module(name)


def serve(path: str) -> None:
    import_all()
    os.fsync = lambda file: None  # as in the process of the tests
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes processes of `supervise`
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen(64)
        print("ready", flush=True)
        while 0 not in select.select([0, listening], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                supervise(connection)
            connection.close()


def supervise(connection: socket.socket) -> None:
    """Fork the process of a request, send its number and its exit code, and end.

    The process keeps its number until its client closes the connection, as with Popen.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    content, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    request = json.loads(content)
    process = os.fork()
    if process == 0:
        if request.get("new_session"):
            os.setsid()
        connection.send(b"%d" % os.getpid())  # now it can be killed as the leader of its session
        be_process(request, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    try:
        connection.send(b"%d" % code)
        connection.recv(1)
    finally:  # the client may have been killed
        os._exit(0)


# ---- in the forked process


def be_process(request: dict, descriptors: list[int]) -> None:
    """Be the process that was asked for, and end."""
    code = 1
    try:
        prepare(request, descriptors)
        code = call(request)
    except BaseException:
        traceback.print_exc()
    finally:
        end(code)


def prepare(request: dict, descriptors: list[int]) -> None:
    """Have the folder, environment, files and signals of a new process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):  # a shell in the background, or nohup, ignores some
        signal.signal(number, signal.SIG_DFL)
    copies = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100) for descriptor in descriptors]
    for number, copy in enumerate(copies):
        os.dup2(copy, number)
    os.closerange(len(copies), 1024)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), encoding=encoding)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding=encoding)
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", 0, closefd=False), encoding=encoding, errors="backslashreplace", write_through=True
    )
    for name, value in request.get("limits", {}).items():
        import resource

        kind = getattr(resource, name)
        resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def call(request: dict) -> int:
    path = os.environ.get("PYTHONPATH", "")
    sys.path[:0] = filter(None, path.split(os.pathsep))
    if request.get("path_has_folder", True):
        sys.path.insert(0, request["cwd"])
    importlib.invalidate_caches()
    program = request.get("program")
    try:
        if program:
            sys.argv = [program, *request["arguments"]]
            runpy.run_path(program, run_name="__main__")
        else:
            from confml.cli import main

            sys.argv = ["confml", *request["arguments"]]
            main(request["arguments"])
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
            return 1
        return ended.code or 0
    return 0


def end(code: int) -> None:
    """End as an interpreter does: wait for threads, run the exit functions, write what is buffered."""
    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    finally:
        os._exit(code & 255)


if __name__ == "__main__":
    serve(sys.argv[1])
