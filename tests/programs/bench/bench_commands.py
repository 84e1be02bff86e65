"""Commands with start-up: CPU seconds of all processes beside a script or imports, and wall times."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _pairs import Row, Skipped
from bench_runner import CELLS_OF_REPEAT, cpu_of, write_config

SCRIPT = """
import sys
import numpy as np, pandas as pd
from sklearn.naive_bayes import GaussianNB
train, new = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
model = GaussianNB().fit(train.drop(columns="y"), train.y)
scores = model.predict_proba(new)
out = pd.DataFrame(scores, columns=model.classes_)
out.insert(0, "prediction", model.classes_[scores.argmax(axis=1)])
out.to_csv(sys.argv[3], index=False)
"""


def _in_turns(name: str, ours: tuple[str, ...], other: tuple[str, ...], **notes) -> Row:
    """Return medians of three turns; ``{turn}`` in a command is the number of the turn."""
    spent: tuple[list[float], list[float]] = ([], [])
    for turn in range(3):
        for command, seconds in zip((ours, other), spent, strict=True):
            seconds.append(cpu_of(*(part.replace("{turn}", str(turn)) for part in command))[0])
    a, b = map(statistics.median, spent)
    return name, a, b, b / a, {"repeats": 3, **notes}


def bench_predict() -> Row:
    """``confml predict`` on 150 rows beside a script of pandas and scikit-learn."""
    from sklearn.datasets import load_iris

    frame = load_iris(as_frame=True).frame.rename(columns={"target": "y"})
    with tempfile.TemporaryDirectory() as name:
        train, new, script, out = (Path(name, file) for file in ("train.csv", "new.csv", "script.py", "out"))
        frame.to_csv(train, index=False)
        frame.drop(columns="y").to_csv(new, index=False)
        script.write_text(SCRIPT)
        fit = ("--train", str(train), "--label", "y", "--method", "naive-bayes")
        ours = ("-m", "confml", "predict", *fit, str(new), "--out", f"{out}1.csv", "--quiet", "--force")
        other = (str(script), str(train), str(new), f"{out}2.csv")
        what = "confml predict, 150 rows of CSV, beside a script of pandas and scikit-learn"
        return _in_turns(what, ours, other, goal=1.0)


def bench_methods() -> Row:
    """``confml describe`` beside the import of NumPy."""
    return _in_turns(
        "confml describe, beside the import of NumPy", ("-m", "confml", "describe"), ("-c", "import numpy")
    )


def bench_quick_start() -> Row:
    """The quick start with two jobs beside the imports that its report and its methods need."""
    return _run("quickstart", "quick start, beside its imports", "sklearn.linear_model")


def bench_usps() -> Row:
    """USPS with its figures and two jobs beside the imports that its report and its methods need."""
    if not os.environ.get("CONFML_DATA"):
        raise Skipped("CONFML_DATA names no folder with the data set usps")
    return _run("usps", "confml run usps with two figures, beside its imports")


def _run(config: str, what: str, *modules: str) -> Row:
    imports = f"import {', '.join(('numba', 'matplotlib.figure', 'jinja2', 'pydantic', *modules))}"
    with tempfile.TemporaryDirectory() as folder:
        ours = ("-m", "confml", "run", config, "--out", f"{folder}/{{turn}}", "--quiet", "--jobs", "2")
        return _in_turns(what, ours, ("-c", imports))


ONE = """
name: iris
datasets: [{name: iris, csv: iris.csv, label: target}]
methods: [{name: tcm-nn, k: 1}]
protocol: {kind: holdout}
"""


def bench_table() -> list[Row]:
    """Shortest wall times of three turns. Wall times of a busy computer have no meaning."""
    from sklearn.datasets import load_iris

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        load_iris(as_frame=True).frame.to_csv(folder / "iris.csv", index=False)
        (folder / "iris.yaml").write_text(ONE)
        tiny, repeats = str(write_config(folder, 143)), 1429
        new = ("--out", f"{name}/{{new}}", "--quiet", "--jobs", "2")
        commands = {
            "`confml --help`": ("--help",),
            "one method on a CSV file": ("run", f"{name}/iris.yaml", *new),
            "`confml run usps`": ("run", "usps", *new),
            "quick start": ("run", "quickstart", *new),
            f"`confml run --dry-run` of {CELLS_OF_REPEAT * repeats:,} cells": (
                *("run", "--dry-run", tiny, "--set", f"protocol.repeats={repeats}", "--out", f"{name}/plan"),
            ),
            f"a finished run of {CELLS_OF_REPEAT * 143:,} cells, started again": (
                *("run", tiny, "--out", f"{name}/tiny", "--quiet", "--jobs", "2"),
            ),
        }
        if not os.environ.get("CONFML_DATA"):
            del commands["`confml run usps`"]
        _seconds(commands[list(commands)[-1]])  # the run that is started again
        return [
            (what, min(_seconds(command) for _ in range(3)), math.nan, math.nan, {"repeats": 3})
            for what, command in commands.items()
        ]


def _seconds(command: tuple[str, ...]) -> float:
    """Return the wall time of a command of confml; ``{new}`` in it becomes a new name."""
    parts = [part.replace("{new}", str(time.monotonic_ns())) for part in command]
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "confml", *parts], check=True, capture_output=True)
    return time.perf_counter() - begun


BENCHMARKS = (bench_predict, bench_methods, bench_quick_start, bench_usps, bench_table)
