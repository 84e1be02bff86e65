"""Workspaces: a run that is alive keeps its own, wherever it runs; a killed run's is removed by the next."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from confml.runner import lease
from confml.runner.store import open_atomically, remove_temporary_files
from confml.runner.workspace import Workspace

fcntl = pytest.importorskip("fcntl")


def folders(run):
    return sorted(path.name for path in run.glob(".work-*"))


def make_and_die(run):
    """The workspace of a process that was killed."""
    program = "import sys, os; from confml.runner.workspace import Workspace; from pathlib import Path\n"
    program += "Workspace.make(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", program, str(run)], timeout=100)
    (name,) = folders(run)
    return name


def make_old(path):
    os.utime(path, (0, 0))


def test_a_live_workspace_stays_though_host_and_process_number_are_the_same(tmp_path):
    """As in two containers that share both: the old names would have been equal here."""
    first, second = Workspace.make(tmp_path), Workspace.make(tmp_path)
    assert len(folders(tmp_path)) == 2 and first.folder != second.folder
    make_old(first.folder / "lease")  # it is held on this machine: its age does not matter
    Workspace.make(tmp_path).remove()
    assert first.folder.is_dir() and second.folder.is_dir()
    first.remove()
    assert folders(tmp_path) == [second.folder.name]
    second.remove()


def test_the_workspace_of_a_killed_run_is_removed(tmp_path):
    dead = make_and_die(tmp_path)
    workspace = Workspace.make(tmp_path)
    assert folders(tmp_path) == [workspace.folder.name] != [dead]
    workspace.remove()
    assert not list(tmp_path.iterdir())


KILLED_EVERYWHERE = """
import os, sys
from pathlib import Path
from confml.runner.store import open_atomically
from confml.runner.workspace import Workspace

def life(run):
    workspace = Workspace.make(run)
    workspace.put_arrays("pieces", "one", {})
    with open_atomically(run / "metrics.csv") as file:
        file.write(b"1")
    workspace.remove()
    os.remove(run / "metrics.csv")

def live(run, operations=None):
    # Fork a process that ends before this file operation; return its exit code.
    child = os.fork()
    if not child:
        left = [operations]
        def count(event, arguments):
            if operations is not None and event.partition(".")[0] in ("open", "os", "fcntl", "shutil"):
                left[0] -= 1
                if not left[0]:
                    os._exit(9)
        sys.addaudithook(count)
        life(run)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

life(Path(sys.argv[1]))  # imports
code, operations = 9, 0
while code == 9:
    operations += 1
    run = Path(sys.argv[1]) / str(operations)
    run.mkdir()
    code = live(run, operations)
    (run / "metrics.csv").unlink(missing_ok=True)
    was = sorted(os.listdir(run))
    assert live(run) == 0
    assert not os.listdir(run), f"killed before operation {operations}: {was}, later {os.listdir(run)}"
print(code, operations)
"""


def test_a_run_that_is_killed_at_any_moment_leaves_nothing_after_the_next(tmp_path):
    command = [sys.executable, "-c", KILLED_EVERYWHERE, str(tmp_path)]
    done = subprocess.run(command, timeout=100, capture_output=True, text=True)
    code, operations = map(int, done.stdout.split() or (1, 0))
    assert code == 0 and operations > 30, done.stderr


def test_temporary_files_that_are_being_written_stay(tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    with open_atomically(tmp_path / "tables" / "a.csv") as file:
        (name,) = [path.name for path in (tmp_path / "tables").iterdir()]
        remove_temporary_files(tmp_path)
        file.write(b"1")
    assert (tmp_path / "tables" / "a.csv").read_bytes() == b"1"
    left, others = tmp_path / "tables" / name, tmp_path / ".a.csv.00000001-0a1b2c3d"
    for path in (left, others):
        path.touch()
    remove_temporary_files(tmp_path)
    assert not left.exists() and others.exists()  # another machine may be writing it
    make_old(others)
    monkeypatch.setattr(fcntl, "flock", lambda file, operation: None)  # the lock tells nothing
    left.touch()
    remove_temporary_files(tmp_path)
    assert left.exists() and not others.exists()


def test_a_lock_that_is_free_here_may_be_held_on_another_machine(tmp_path):
    """As on a network file system: the lease names another kernel, and only its age tells."""
    other = tmp_path / make_and_die(tmp_path)
    (other / "lease").write_text("another kernel")
    assert not lease.is_abandoned(other)
    make_old(other / "lease")
    assert lease.is_abandoned(other)


def test_folders_of_older_versions_go_when_they_are_old(tmp_path):
    old = tmp_path / ".work-host-123"
    old.mkdir()
    assert not lease.is_abandoned(old)
    make_old(old)
    assert lease.is_abandoned(old)
