"""A full disk, a folder that is removed, no file handles: the run stops in one line, and resumes."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
import time

import processes
import pytest
from reference.hostile_method import install
from report.report_cases import read
from runner.runs import run_serial, stored_keys

from confml.runner import store as store_module
from confml.runner.environment import EnvironmentFault, fault_of, guarded
from confml.runner.limits import Limits
from confml.runner.provenance import git_commit
from confml.runner.store import Store
from confml.runner.tasks import Failure

CONFIG = """\
name: small
datasets: [{generate: five-gaussians, n: 60, test-n: 200}]
methods: [{name: knn, sweep: {k: ["1..6"]}}, {name: knn, tune: {k: [1, 3]}}]
protocol: {kind: holdout, test-size: 0.3, repeats: 2, inner-folds: 3}
figures: []
"""


RUN = ("run", "config.yaml", "--out", "out", "--quiet")


def fault(folder, *options, text=CONFIG, **process):
    """Run a config in another process, which ends with one line, and return the line."""
    (folder / "config.yaml").write_text(text)
    done = processes.confml(*RUN, *options, cwd=folder, **process)
    # Python's own resource tracker may warn that a worker was killed before it removed a semaphore.
    lines = [line for line in done.stderr.splitlines() if line.strip() and "resource_tracker" not in line]
    assert done.returncode == 2 and len(lines) == 1 and "run the same command again" in lines[0], done.stderr
    return lines[0]


def assert_resumed(folder):
    """A run that stopped has stored no failures, and completes."""
    (folder / "config.yaml").write_text(CONFIG)
    assert not stored_keys(folder / "out", "failures")
    run_serial(folder / "config.yaml", folder / "out", "--quiet")
    assert len({(row["params"], row["split"]) for row in read(folder / "out" / "metrics.csv")}) == 14


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("RLIMIT_FSIZE", 4000, "the limit on the size of a file is reached"),
        ("RLIMIT_NOFILE", 9, "too many open files"),
    ],
)
def test_limits_of_the_system(tmp_path, limit, value, words):
    assert words in fault(tmp_path, "--jobs", "2", limits={limit: value}).lower()
    assert_resumed(tmp_path)


def test_a_full_disk(tmp_path, monkeypatch):
    (tmp_path / "config.yaml").write_text(CONFIG)
    write, batches = store_module.write_atomically, []

    def full(path, content, **options):
        batches.extend([path] * (path.parent.name == "batches"))
        if len(batches) > 4:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, content, **options)

    with monkeypatch.context() as patch:
        patch.setattr(store_module, "write_atomically", full)
        stopped = run_serial(tmp_path / "config.yaml", tmp_path / "out", "--quiet", code=2)
    assert str(batches[-1]) in stopped.stderr and "the disk is full; free some space" in stopped.stderr
    assert len(stored_keys(tmp_path / "out")) >= 2
    assert_resumed(tmp_path)


def test_a_full_disk_that_a_method_meets(tmp_path):
    """In a worker: the message says where, and no cell is called failed."""
    text = CONFIG.replace("methods: [", "methods: [{name: hostile, kind: disk-full}, ")
    assert "/somewhere/full: the disk is full" in fault(tmp_path, text=text, env=install(tmp_path))
    assert_resumed(tmp_path)


def test_a_folder_that_is_removed(tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG.replace("repeats: 2", "repeats: 300"))
    process = processes.start(*RUN, "--jobs", "2", cwd=tmp_path)
    last = time.monotonic() + 120
    while not list((tmp_path / "out").glob(".run/batches/*.jsonl")):
        assert process.poll() is None and time.monotonic() < last, process.communicate()
        time.sleep(0.02)
    while (tmp_path / "out").exists():
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    errors = process.communicate(timeout=120)[1].decode()
    assert process.returncode == 2 and "was removed while the run was using it" in errors
    assert "Traceback" not in errors and not (tmp_path / "out").exists()


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
    error = RuntimeError("cannot store the model")
    error.__cause__ = OSError(errno.ENOSPC, "full", "/there")
    assert fault_of(error).where == "/there"
    with pytest.raises(EnvironmentFault, match="was removed"), guarded(tmp_path):
        (tmp_path / "missing").read_bytes()


def test_data_that_do_not_fit_the_memory_limit_are_a_failure_of_the_cell(tmp_path):
    """The address space counts mapped files, for which the system has an OSError and no MemoryError."""
    with pytest.raises(OSError) as raised, guarded(tmp_path):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    assert fault_of(raised.value) is None
    failure = Failure.of("key", raised.value, Limits(memory=10**9))
    assert failure.error.startswith("needs more memory than its limit of 1000 MB")


def test_the_commit_is_marked_for_changed_code_and_not_for_changed_results(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True)

    code, table = tmp_path / "__init__.py", tmp_path / "results" / "table.csv"
    table.parent.mkdir()
    for path in (code, table):
        path.write_text("1\n")
    git("init")
    git("add", "-A")
    git("commit", "-m", "first")
    clean = git_commit(tmp_path)
    table.write_text("2\n")
    assert clean and git_commit(tmp_path) == clean and len(clean) == 40
    code.write_text("2\n")
    assert git_commit(tmp_path) == f"{clean}+changes"
