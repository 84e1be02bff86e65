"""Methods that crash, exit, hang, eat memory or return nonsense: each fails its own cell alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import processes
import pytest
from reference.hostile_method import install
from report.report_cases import read
from runner.items import all_ended
from runner.runs import command, run_serial, stored_keys

from confml.runner.store import Store

CONFIG = """\
name: hostile
datasets: [{generate: five-gaussians, n: 40, test-n: 20}]
methods: [METHODS]
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
DONE = {"k=1", *(f"kind={kind}" for kind in HARMLESS)}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return install(tmp_path_factory.mktemp("package"))


def run_command(folder, *methods, options=()):
    text = CONFIG.replace("METHODS", ", ".join(["{name: knn, k: 1}", *methods]))
    (folder / "config.yaml").write_text(text)
    return ["run", "config.yaml", "--out", "out", "--quiet", *options]


def hostile(names, limits="{}"):
    return f"{{name: hostile, sweep: {{kind: [{', '.join(names)}]}}, limits: {limits}}}"


@pytest.fixture(scope="module")
def ran(tmp_path_factory, environment):
    """One run, in one worker at a time, of all kinds: (its folder, the finished process)."""
    folder = tmp_path_factory.mktemp("hostile")
    late = hostile(["hang", "hang-in-c"], "{timeout: 1}")
    large = hostile(["memory"], "{memory: 300MB}")
    arguments = run_command(folder, hostile([*HARMLESS, *REASONS]), late, large, options=("--jobs", "1"))
    done = processes.confml(*arguments, cwd=folder, env=environment)
    assert done.returncode == 1, done.stderr
    return folder, done


def failures(folder):
    rows = read(folder / "out" / "tables/failures.csv")
    return {row["params"].removeprefix("kind="): row["error"] for row in rows}


def finished(folder):
    return {row["params"] for row in read(folder / "out" / "metrics.csv")}


@pytest.mark.parametrize("kind", [*REASONS, *LIMITED])
def test_the_cell_fails_with_its_reason(ran, kind):
    assert {**REASONS, **LIMITED}[kind] in failures(ran[0])[kind]


def test_every_other_cell_is_done(ran):
    folder, _ = ran
    assert set(failures(folder)) == {*REASONS, *LIMITED} and finished(folder) == DONE
    status = json.loads(command("status", folder / "out", "--json").stdout)
    assert (status["done"], status["left"]) == (len(DONE), 0)
    command("report", folder / "out", "--quiet")
    assert not list((folder / "out").glob(".work*"))


def test_nothing_of_an_error_controls_the_terminal(ran):
    folder, done = ran
    printed = done.stderr + command("status", folder / "out").stdout
    assert not [sign for sign in printed if not (sign.isprintable() or sign == "\n")]
    assert "hostile returned an invalid result" in printed and "--jobs 1" not in printed
    assert max(len(line) for line in printed.splitlines() if line.startswith("failed: ")) < 800


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


def test_limits_need_worker_processes(tmp_path):
    run_command(tmp_path)
    refused = run_serial(tmp_path / "config.yaml", tmp_path / "out", "--timeout", "5s", code=2)
    assert "leave out --timeout, --memory and limits:" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_serial_on_request_survives_exits(tmp_path, environment):
    """It has no isolation, but sys.exit is the method's own affair there too."""
    failing = {"exit", "generator-exit", "leave"}
    arguments = run_command(
        tmp_path, hostile([*failing, *HARMLESS]), options=("--engine", "serial", "--json")
    )
    done = processes.confml(*arguments, cwd=tmp_path, env=environment)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert set(failures(tmp_path)) == failing and finished(tmp_path) == DONE
    json.loads(done.stdout)
    assert done.stderr.count("by Python") == done.stderr.count("by C") == 1


# ---- signals and orphans


def workers_of(folder, process):
    """Wait for the first cell of a run, and return the other processes of the session of its process."""
    limit = time.monotonic() + 120
    while not stored_keys(folder / "out"):
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.05)
    listed = subprocess.run(["ps", "-o", "pid=", "--sid", str(process.pid)], capture_output=True, text=True)
    return [number for number in map(int, listed.stdout.split()) if number != process.pid]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("number", "times"), [(signal.SIGTERM, 1), (signal.SIGINT, 3)])
def test_a_signal_ends_a_run_and_its_workers(tmp_path, environment, number, times):
    """Further Ctrl-C do not disturb the end."""
    arguments = run_command(tmp_path, hostile(["wait"]), options=("--jobs", "2"))
    waiting = {**environment, "HOSTILE_WAIT": "600"}
    process = processes.start(*arguments, cwd=tmp_path, env=waiting, new_session=True)
    workers = workers_of(tmp_path, process)
    for _ in range(times):
        os.kill(process.pid, number)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and b"run the same command again to continue" in errors
    assert b"Traceback" not in errors
    assert workers and all_ended(workers)
    assert not list((tmp_path / "out").glob(".work*")) and not stored_keys(tmp_path / "out", "failures")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_with_a_killed_script(tmp_path, environment):
    run_command(tmp_path, hostile(["wait"]))
    (tmp_path / "script.py").write_text(
        "import confml\nassert __name__ == '__main__'\nconfml.run('config.yaml', out='out', jobs=2)"
    )
    waiting = {**environment, "HOSTILE_WAIT": "600"}
    script = [sys.executable, "script.py"]
    process = subprocess.Popen(script, cwd=tmp_path, env=waiting, start_new_session=True)
    workers = workers_of(tmp_path, process)
    process.kill()
    process.wait(timeout=60)
    assert workers and all_ended(workers, seconds=10)
