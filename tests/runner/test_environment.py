"""A full disk, a folder that is removed, no file handles: the run stops in one line, and resumes."""

from __future__ import annotations

import csv
import errno
import os
import shutil
import subprocess
import sys
import time

import processes
import pytest
from reference.hostile import install
from runner.runs import stored_keys

import confml
from confml.runner import store as store_module
from confml.runner.environment import EnvironmentFault, fault_of, guarded
from confml.runner.store import Store

CONFIG = """\
name: small
datasets: [{generate: five-gaussians, n: 60, test-n: 200}]
methods: [{name: knn, sweep: {k: ["1..6"]}}, {name: knn, tune: {k: [1, 3]}}]
protocol: {kind: holdout, test-size: 0.3, repeats: 2, inner-folds: 3}
figures: []
"""


def write_config(folder, text=CONFIG):
    (folder / "config.yaml").write_text(text)


RUN = ("run", "config.yaml", "--out", "out", "--quiet")


def run(folder, *options, text=CONFIG, **more):
    write_config(folder, text)
    done = processes.confml(*RUN, *options, cwd=folder, **more)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def is_resumed(folder):
    """A run that stopped has left no failures, and completes."""
    write_config(folder)
    assert not (folder / "out" / "failures").exists()
    confml.run(folder / "config.yaml", out=folder / "out", engine="serial")
    with open(folder / "out" / "metrics.csv", newline="") as file:
        assert len({(row["params"], row["split"]) for row in csv.DictReader(file)}) == 14


def one_line(done):
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1 and "run the same command again" in lines[0], done.stderr
    return lines[0]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_files_that_cannot_grow(tmp_path):
    done = run(tmp_path, limits={"RLIMIT_FSIZE": 4000})
    assert done.returncode == 2 and "the limit on the size of a file is reached" in one_line(done)
    is_resumed(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_no_file_handles_for_workers(tmp_path):
    done = run(tmp_path, "--jobs", "2", limits={"RLIMIT_NOFILE": 9})
    assert done.returncode == 2 and "many open files" in one_line(done).lower()
    is_resumed(tmp_path)


def test_a_full_disk(tmp_path, monkeypatch):
    write_config(tmp_path)
    write, calls = store_module.write_atomically, []

    def full(path, content, **options):
        if path.parent.name == "batches":
            calls.append(path)
            if len(calls) > 4:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, content, **options)

    with monkeypatch.context() as patch:
        patch.setattr(store_module, "write_atomically", full)
        with pytest.raises(EnvironmentFault, match="the disk is full; free some space") as fault:
            confml.run(tmp_path / "config.yaml", out=tmp_path / "out", engine="serial")
    assert str(tmp_path / "out" / ".run/batches") in str(fault.value)
    assert len(stored_keys(tmp_path / "out")) >= 2
    is_resumed(tmp_path)


def test_a_full_disk_that_a_method_meets(tmp_path):
    """In a worker: it is told where, and no cell is called failed."""
    folder = install(tmp_path)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    text = CONFIG.replace("methods: [", "methods: [{name: hostile, kind: disk-full}, ")
    done = run(tmp_path, text=text, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 2 and "/somewhere/full: the disk is full" in one_line(done)
    is_resumed(tmp_path)


def test_a_folder_that_is_removed(tmp_path):
    slow = CONFIG.replace("repeats: 2", "repeats: 300").replace(", {name: knn, tune: {k: [1, 3]}}", "")
    write_config(tmp_path, slow)
    process = processes.start(*RUN, "--jobs", "2", cwd=tmp_path)
    last = time.monotonic() + 120
    while not list((tmp_path / "out").glob(".run/batches/*.jsonl")):
        assert process.poll() is None and time.monotonic() < last, process.communicate()
        time.sleep(0.02)
    while (tmp_path / "out").exists():
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    told = process.communicate(timeout=120)[1].decode()
    assert process.returncode == 2 and "was removed while the run was using it" in told
    assert "Traceback" not in told and not (tmp_path / "out").exists()


def test_a_store_whose_file_cannot_be_read_is_not_empty(tmp_path, monkeypatch):
    """Too many open files must not make stored records look damaged."""
    store = Store(tmp_path)
    store.write("cells", "k", {})
    store.sync()

    def refuse(self):
        raise OSError(errno.EMFILE, "Too many open files", str(self))

    monkeypatch.setattr(store_module.Path, "read_bytes", refuse)
    with pytest.raises(EnvironmentFault, match="too many open files"):
        store.has("cells", "k")


def test_which_errors_are_faults(tmp_path):
    assert fault_of(OSError(errno.EDQUOT, "quota")).message == "the disk quota is used up"
    assert fault_of(FileNotFoundError(errno.ENOENT, "no such file")) is None  # a method's own
    try:
        try:
            raise OSError(errno.ENOSPC, "full", "/there")
        except OSError as error:
            raise RuntimeError("cannot keep the model") from error
    except RuntimeError as error:
        assert fault_of(error).where == "/there"
    with pytest.raises(EnvironmentFault, match="was removed"), guarded(tmp_path):
        (tmp_path / "missing").read_bytes()


def test_data_that_do_not_fit_the_memory_limit_are_a_failure_of_the_cell(tmp_path):
    """The address space counts mapped files, for which the system has an OSError and no MemoryError."""
    from confml.runner.limits import Limits
    from confml.runner.tasks import Failure

    with pytest.raises(OSError) as raised, guarded(tmp_path):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    assert fault_of(raised.value) is None
    failure = Failure.of("key", raised.value, Limits(memory=10**9))
    assert failure.error.startswith("needs more memory than its limit of 1000 MB")


def test_the_commit_is_marked_for_changed_code_and_not_for_changed_results(tmp_path):
    from confml.runner.provenance import git_commit

    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True)

    package, stored = tmp_path / "confml", tmp_path / "results" / "reference"
    package.mkdir()
    stored.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (stored / "table.csv").write_text("1\n")
    git("init")
    git("add", "-A")
    git("commit", "-m", "first")
    clean = git_commit(package)
    (stored / "table.csv").write_text("2\n")
    assert clean and git_commit(package) == clean and len(clean) == 40
    (package / "__init__.py").write_text("x = 1\n")
    assert git_commit(package) == f"{clean}+changes"
