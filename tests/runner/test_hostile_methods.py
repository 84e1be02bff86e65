"""Methods that crash, exit, hang, eat memory or return nonsense: each fails its own cell alone."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import processes
import pytest
from reference.hostile import install
from runner.runs import stored_keys

from confml.runner.store import Store

CONFIG = """\
name: hostile
datasets: [{generate: five-gaussians, n: 40, test-n: 20}]
methods:
  - {name: knn, k: 1}
METHODS
protocol: fixed-split
baseline: false
figures: []
"""
# What a method does: what the reason of its cell says.
REASONS = {
    "abort": "its worker process died twice",
    "exit": "SystemExit: 3",
    "generator-exit": "GeneratorExit",
    "keyboard-interrupt": "KeyboardInterrupt",
    "leave": "Leave: at once",
    "surrogate": r"label \udce9 is odd",
    "escape": r"\x1b[31mred\x1b]0;title\x07",
    "long": "(5000012 characters) ... x",
    "lines": "(7000012 characters) ... ",
    "complex": "must be real numbers",
    "masked": "must be numbers, and some are masked",
    "no-text": "<NoText whose text raises RuntimeError>",
    "formula": "=HYPERLINK: click",
    "details": "TypeError: Object of type set is not JSON serializable",
    "nan": "must be finite: 1 of 20 rows are not (nan in row 3)",
    "objects": "must hold numbers or text",
}
LIMITED = {
    "hang": "took longer than its limit of 1 s and was stopped",
    "hang-in-c": "took longer than its limit of 1 s and was stopped",
    "memory": "needs more memory than its limit of 300 MB",
}
HARMLESS = ("none", "print", "thread")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = install(tmp_path_factory.mktemp("package"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def command(folder, *methods, options=()):
    (folder / "config.yaml").write_text(CONFIG.replace("METHODS", "\n".join(f"  - {one}" for one in methods)))
    return ["run", "config.yaml", "--out", "out", "--quiet", *options]


def kinds(names, more=""):
    return f"{{name: hostile, sweep: {{kind: [{', '.join(names)}]}}{more}}}"


def confml(folder, environment, *arguments):
    return processes.confml(*arguments, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def ran(tmp_path_factory, environment):
    """One run, in one worker at a time, of all kinds: (its folder, the finished process)."""
    folder = tmp_path_factory.mktemp("hostile")
    late = kinds(["hang", "hang-in-c"], ", limits: {timeout: 1}")
    large = kinds(["memory"], ", limits: {memory: 300MB}")
    arguments = command(folder, kinds([*HARMLESS, *REASONS]), late, large, options=("--jobs", "1"))
    done = confml(folder, environment, *arguments)
    assert done.returncode == 1, done.stderr
    return folder, done


def failures(folder):
    with open(folder / "out" / "tables/failures.csv", newline="", encoding="utf-8") as file:
        return {row["params"].removeprefix("kind="): row["error"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("kind", [*REASONS, *LIMITED])
def test_the_cell_fails_with_its_reason(ran, kind):
    assert {**REASONS, **LIMITED}[kind] in failures(ran[0])[kind]


def test_every_other_cell_is_done(ran, environment):
    folder, _ = ran
    assert set(failures(folder)) == {*REASONS, *LIMITED}
    with open(folder / "out" / "metrics.csv", newline="") as file:
        assert {row["params"] for row in csv.DictReader(file)} == {
            "k=1",
            *(f"kind={kind}" for kind in HARMLESS),
        }
    status = json.loads(confml(folder, environment, "status", "out", "--json").stdout)
    assert (status["done"], status["left"]) == (1 + len(HARMLESS), 0)
    assert confml(folder, environment, "report", "out", "--quiet").returncode == 0
    assert not list((folder / "out").glob(".work*"))


def test_nothing_of_an_error_controls_the_terminal(ran, environment):
    folder, done = ran
    told = done.stderr + confml(folder, environment, "status", "out").stdout
    assert not [one for one in told if not (one.isprintable() or one == "\n")]
    assert "hostile returned an invalid result" in told and "--jobs 1" not in told
    assert max(len(line) for line in told.splitlines() if line.startswith("failed: ")) < 800


def test_what_methods_print_goes_to_the_log_of_the_worker(ran):
    folder, done = ran
    text = "".join(path.read_text() for path in (folder / "out" / ".run/logs").iterdir())
    assert "by Python\n" in text and "by C\n" in text
    assert done.stdout == "" and "by Python" not in done.stderr and "by C" not in done.stderr


def test_a_failure_has_the_place_of_a_hanging_method(ran):
    store = Store(ran[0] / "out")
    records = [store.read("failures", key)[0] for key in store.keys("failures")]
    tracebacks = {record["cell"]["params"]["kind"]: record["traceback"] for record in records}
    assert "in do_hang\n" in tracebacks["hang"] and "in do_hang_in_c\n" in tracebacks["hang-in-c"]
    assert "Fatal Python error: Aborted" in tracebacks["abort"]


def test_a_formula_stays_text_in_a_spreadsheet(ran):
    assert "'=HYPERLINK: click" in (ran[0] / "out" / "tables/failures.csv").read_text(encoding="utf-8")


def test_limits_need_worker_processes(tmp_path, environment):
    arguments = command(tmp_path, kinds(["none"]), options=("--engine", "serial", "--timeout", "5s"))
    done = confml(tmp_path, environment, *arguments)
    assert done.returncode == 2 and "leave out --timeout, --memory and limits:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_serial_on_request_survives_exits(tmp_path, environment):
    """It has no isolation, but sys.exit is the method's own affair there too."""
    options = ("--engine", "serial")
    failing = {"exit", "generator-exit", "leave"}
    arguments = command(tmp_path, kinds([*sorted(failing), *HARMLESS]), options=(*options, "--json"))
    done = confml(tmp_path, environment, *arguments)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert set(failures(tmp_path)) == failing
    json.loads(done.stdout)
    assert done.stderr.count("by Python") == done.stderr.count("by C") == 1
    with open(tmp_path / "out" / "metrics.csv", newline="") as file:
        assert {row["params"] for row in csv.DictReader(file)} == {
            "k=1",
            *(f"kind={one}" for one in HARMLESS),
        }


# ---- signals and orphans

LONG = kinds(["wait"])


def waiting(folder, environment):
    """A run whose method waits in a worker: (the process, the numbers of its descendants)."""
    environment = {**environment, "HOSTILE_WAIT": "600"}
    arguments = command(folder, LONG, options=("--jobs", "2"))
    process = processes.start(*arguments, cwd=folder, env=environment, new_session=True)
    wait_for_a_cell(folder, process)
    return process, descendants(process.pid)


def wait_for_a_cell(folder, process):
    limit = time.monotonic() + 120
    while not stored_keys(folder / "out"):
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.05)


def descendants(parent):
    """Numbers of the processes that a process started, and that those started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True)
    children = [int(word) for word in found.stdout.split()]
    return children + [one for child in children for one in descendants(child)]


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_ended(processes, seconds=20):
    limit = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < limit:
        time.sleep(0.1)
    return not any(map(alive, processes))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("number", "times"), [(signal.SIGTERM, 1), (signal.SIGINT, 3)])
def test_a_signal_ends_a_run_and_its_workers(tmp_path, environment, number, times):
    """Further Ctrl-C do not disturb the end."""
    process, workers = waiting(tmp_path, environment)
    for _ in range(times):
        os.kill(process.pid, number)
        time.sleep(0.05)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and b"run the same command again to continue" in told
    assert b"Traceback" not in told
    assert workers and all_ended(workers)
    assert not list((tmp_path / "out").glob(".work*")) and not (tmp_path / "out" / "failures").exists()


SCRIPT = """
import confml

assert __name__ == "__main__"
method = {"name": "hostile", "sweep": {"kind": ["wait"]}}
data = {"generate": "five-gaussians", "n": 40, "test-n": 20}
confml.run({"name": "a", "datasets": [data], "methods": [{"name": "knn", "k": 1}, method],
            "protocol": "fixed-split", "figures": []}, out="out", jobs=2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_with_a_killed_script(tmp_path, environment):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**environment, "HOSTILE_WAIT": "600"}
    process = subprocess.Popen([sys.executable, "script.py"], cwd=tmp_path, env=environment)
    wait_for_a_cell(tmp_path, process)
    workers = descendants(process.pid)
    process.kill()
    process.wait(timeout=60)
    assert workers and all_ended(workers, seconds=10)
