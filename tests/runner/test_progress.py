"""Progress on stderr: long tasks are named, equal failures are one line, a bar fits its terminal."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from confml.runner import progress as module
from confml.runner.progress import BarProgress, LogProgress, Progress


def cell(dataset, method="knn"):
    return SimpleNamespace(method=method, title=f"{dataset} {method} k=200 r0")


def test_equal_failures_are_counted(capsys):
    progress = Progress()
    for number, name in enumerate(["iris", "wine", "sonar"]):
        progress.failed(cell(name), f"ValueError: {number + 100} rows", "Traceback ...")
    progress.failed(cell("iris", "tcm-nn"), "ValueError: 100 rows")
    progress.print_counts()
    assert capsys.readouterr().err.splitlines() == [
        "failed: iris knn k=200 r0: ValueError: 100 rows",
        "failed: iris tcm-nn k=200 r0: ValueError: 100 rows",
        "failed: 2 more fits like iris knn k=200 r0, with the same error",
    ]
    progress.tracebacks = True
    progress.failed(cell("iris"), "why", "Traceback ...")
    progress.failed(cell("wine"), "why", "Traceback ...")
    progress.print_counts()
    assert capsys.readouterr().err.count("Traceback ...") == 2


def test_a_long_task_is_named_while_it_runs(monkeypatch, capsys):
    monkeypatch.setattr(module, "LONG", 0.05)
    progress = LogProgress(seconds=0.05)
    batch = (SimpleNamespace(cells=[cell("letter", "tcm-svm")]),)
    with progress.of(3, 3):
        progress.started(batch)
        end, line = time.monotonic() + 20, ""
        while "letter" not in line and time.monotonic() < end:
            time.sleep(0.1)
            line = capsys.readouterr().err.strip().rpartition("\n")[2]
        progress.ended(batch)
        assert progress.longest == ""
    assert re.fullmatch(r"0/3 tasks, 0/3 fits, [\d:]+, letter tcm-svm k=200 r0 runs for [\d:]+", line)


def test_the_time_left_is_that_of_the_mean_task(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr("confml.runner.progress.time.monotonic", lambda: clock[0])
    log = LogProgress(seconds=0.0)
    with log.of(4, 4):
        log.advance(0, 0)
        clock[0] = 90.0
        log.advance(3, 2)
    shown = capsys.readouterr().err.splitlines()
    assert shown[1:] == ["0/4 tasks, 0/4 fits, 0:00:00", "3/4 tasks, 2/4 fits, 0:01:30, about 0:00:30 left"]


@pytest.mark.parametrize("width", [60, 100])
def test_a_bar_fits_its_terminal(width, monkeypatch):
    monkeypatch.setattr(module, "LONG", 0.0)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", stream)
    progress = BarProgress()
    with progress.of(1950, 750):
        progress.started((SimpleNamespace(cells=[cell("a-long-name-of-a-data-set" * 3)]),))
        progress.advance(1234, 432)
        progress._bar.refresh()
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()).replace("\r", "\n").split("\n")
    assert max(map(len, lines)) <= width
    assert any("432/750 fits" in line and "1234/1950" in line for line in lines)
    assert any("a-long-name" in line for line in lines)
