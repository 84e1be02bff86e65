"""Workspaces: a run that is alive keeps its own; a killed run's is removed by the next."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from confml._outputs import open_atomically, remove_abandoned_files
from confml.runner.workspace import Workspace

pytest.importorskip("fcntl")


def folders(run):
    return sorted(path.name for path in run.glob(".confml-*.work"))


def make_and_die(run):
    """The workspace of a process that was killed."""
    program = "import sys, os; from confml.runner.workspace import Workspace; from pathlib import Path\n"
    program += "Workspace.make(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", program, str(run)], timeout=100)
    (name,) = folders(run)
    return name


def test_a_live_workspace_stays_and_that_of_a_killed_run_is_removed(tmp_path):
    dead = make_and_die(tmp_path)
    first, second = Workspace.make(tmp_path), Workspace.make(tmp_path)
    assert len(folders(tmp_path)) == 2 and first.folder != second.folder and dead not in folders(tmp_path)
    Workspace.make(tmp_path).remove()
    assert first.folder.is_dir() and second.folder.is_dir()
    first.remove()
    assert folders(tmp_path) == [second.folder.name]
    second.remove()
    assert not list(tmp_path.iterdir())


def test_the_workspace_of_another_machine_is_kept_for_a_week(tmp_path):
    """Its lock may not be visible on this machine."""
    dead = make_and_die(tmp_path)
    elsewhere = dead.replace(platform.node(), "other-machine")
    (tmp_path / dead).rename(tmp_path / elsewhere)
    lock = (tmp_path / dead.removesuffix(".work")).rename(tmp_path / elsewhere.removesuffix(".work"))
    remove_abandoned_files(tmp_path)
    assert folders(tmp_path) == [elsewhere]
    os.utime(lock, (0, 0))
    remove_abandoned_files(tmp_path)
    assert not list(tmp_path.iterdir())


def test_temporary_files_that_are_being_written_stay(tmp_path):
    (tmp_path / "tables").mkdir()
    with open_atomically(tmp_path / "tables/a.csv") as file:
        (name,) = [path.name for path in (tmp_path / "tables").iterdir()]
        remove_abandoned_files(tmp_path, inner=True)
        file.write(b"1")
    assert (tmp_path / "tables/a.csv").read_bytes() == b"1"
    abandoned, list_of_files = tmp_path / "tables" / name, tmp_path / "tables" / ".confml-files"
    for path in (abandoned, list_of_files):
        path.touch()
    remove_abandoned_files(tmp_path)
    assert abandoned.exists()  # only in inner folders
    remove_abandoned_files(tmp_path, inner=True)
    assert not abandoned.exists() and list_of_files.exists()
