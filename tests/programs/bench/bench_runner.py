"""Runs: the quick start, USPS, many tiny fits, and the report of many variants with figures.

The data sets have 40 to 76 rows, so that a cell takes less time than its administration. Times are CPU
seconds of all processes, per cell. The start of a process with its imports is not counted for the report.
The plain loop fits the same methods to the same numbers of rows and predicts, in one process and without its
start, and writes nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from _pairs import PEAK_MB, Row, Skipped, row

PR_SET_CHILD_SUBREAPER = 36
CELLS_OF_REPEAT = 70  # 10 data sets x 7 method variants
VARIANTS = [
    {"name": "tcm-nn", "sweep": {"k": [1, 3]}},
    {"name": "knn", "sweep": {"k": [1, 3, 5]}},
    "naive-bayes",
    {"name": "knn", "k": 7, "conformal": "split"},
]
MANY_VARIANTS = [
    {"name": "tcm-nn", "sweep": {"k": list(range(1, 11))}},
    {"name": "knn", "sweep": {"k": list(range(1, 17))}},
    "naive-bayes",
    *({"name": "knn", "k": k, "conformal": "split"} for k in (1, 3, 5, 7)),
]
FIGURES = ["accuracy-rejection", "coverage-by-level", "efficiency", "error-against", "reliability"]
REPORT = """
import sys, time
import confml.__main__
from confml.report.run.stored import open_run
from confml.report.write import write_report
results = open_run(sys.argv[1])
before = time.process_time()
write_report(results, sys.argv[1])
print(time.process_time() - before, PEAK_MB)
""".replace("PEAK_MB", PEAK_MB)


LOOP = """
import sys, time
import numpy as np
from sklearn.model_selection import train_test_split
from confml import KNN, TCMNN, Conformal, NaiveBayes
def read(path, **columns):
    return np.loadtxt(path, delimiter=",", skiprows=1, **columns)
sets = [(read(path, usecols=(0, 1, 2)), read(path, usecols=3, dtype=str)) for path in sys.argv[2:]]
methods = [TCMNN(k=1), TCMNN(k=3), *(KNN(k=k) for k in (1, 3, 5)), NaiveBayes(), Conformal(KNN(k=7))]
def loop(repeats):
    for X, y in sets:
        for repeat in range(repeats):
            parts = train_test_split(X, y, test_size=0.4, stratify=y, random_state=repeat)
            for method in methods:
                method.fit(parts[0], parts[2]).confident_predict(parts[1])
loop(1)
before = time.process_time()
loop(int(sys.argv[1]))
print(time.process_time() - before)
"""


def write_config(folder: Path, repeats: int, sets: int = 10, methods=VARIANTS, figures=()) -> Path:
    """Write the data sets and the config, and return its path."""
    rng = np.random.default_rng(0)
    datasets = []
    for number in range(sets):
        rows, classes = 40 + 4 * number, 2 + number % 3
        y = rng.permutation(np.arange(rows) % classes)
        X = rng.normal(size=(rows, 3)) + 1.2 * y[:, None]
        path = folder / f"set{number}.csv"
        table = pd.DataFrame(X, columns=list("abc")).assign(y=[f"k{label}" for label in y])
        table.to_csv(path, index=False, float_format="%.4f")
        datasets.append({"name": f"set{number}", "csv": str(path), "label": "y"})
    config = {
        "name": "tiny",
        "datasets": datasets,
        "methods": list(methods),
        "figures": list(figures),
        "protocol": {"kind": "holdout", "repeats": repeats, "test-size": 0.4, "stratify": True},
        "levels": [0.05, 0.2],
        "thresholds": [0.8, 0.95],
        "seed": 1,
    }
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def cpu_of(*command: str) -> tuple[float, str]:
    """Return CPU seconds of a command of Python and all processes that it started, and what it prints.

    Linux counts the time of a process for the one that waits for its end. Workers may end after their parent,
    so this process adopts and awaits them.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def rows_of(repeats: int) -> list[Row]:
    cells = CELLS_OF_REPEAT * repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, out = write_config(folder, repeats), folder / "out"
        command = ("-m", "confml", "run", str(config), "--out", str(out), "--quiet")
        whole, _ = cpu_of(*command, "--jobs", "2")
        again, _ = cpu_of(*command)
        _, looped = cpu_of("-c", LOOP, str(repeats), *map(str, sorted(folder.glob("*.csv"))))
        _, printed = cpu_of("-c", REPORT, str(out))
        report, memory = map(float, printed.split())
    each = 1000.0 / cells
    size, per_fit = f"{cells} tiny fits", f"{cells} tiny fits, run and report, ms of CPU per fit"
    return [
        row(f"{per_fit}, beside 3 ms", whole * each, 3.0, "ms", goal=1.0),
        row(f"{per_fit}, beside a plain loop of the fits", whole * each, float(looped) * each, "ms"),
        row(f"{size}, report alone, ms of CPU per fit, beside 1 ms", report * each, 1.0, "ms"),
        row(f"{size}, peak memory of the report, beside 600 MB", memory, 600.0, "MB", goal=1.0),
        row(f"{size}, started again with nothing to do", again),
    ]


def bench_thousand_cells() -> list[Row]:
    return rows_of(15)


def bench_ten_thousand_cells() -> list[Row]:
    return rows_of(143)


def bench_report_with_figures() -> Row:
    """The report of 20 data sets and 31 variants with 100 figures, beside 60 s: two jobs, 30 s."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for figures in ((), FIGURES):  # the second run has only its report to make
            config = write_config(folder, 3, 20, MANY_VARIANTS, figures)
            command = ("run", str(config), "--out", str(folder / "out"), "--quiet", "--jobs", "2")
            seconds, _ = cpu_of("-m", "confml", *command)
    what = f"report of 20 data sets x 31 variants with {20 * len(FIGURES)} figures, beside 60 s"
    return row(what, seconds, 60.0, goal=1.0)


def in_turns(what: str, ours: tuple[str, ...], reference: tuple[str, ...], goal: float | None = None) -> Row:
    """Return medians of three turns; ``{turn}`` in a command is the number of the turn."""
    seconds = [
        [cpu_of(*(part.replace("{turn}", str(turn)) for part in command))[0] for command in (ours, reference)]
        for turn in range(3)
    ]
    return row(what, *np.median(seconds, axis=0), goal=goal)


def bench_quick_start() -> Row:
    """The quick start with two jobs beside the imports that its report and its methods need."""
    return _beside_imports("quickstart", "quick start, beside its imports", ", sklearn.linear_model")


def bench_usps() -> Row:
    """USPS with its figures and two jobs beside the imports that its report and its methods need."""
    if not os.environ.get("CONFML_DATA"):
        raise Skipped("CONFML_DATA names no folder with the data set usps")
    return _beside_imports("usps", "confml run usps with two figures, beside its imports", "")


def _beside_imports(config: str, what: str, modules: str) -> Row:
    imports = f"import numba, matplotlib.figure, jinja2, pydantic{modules}"
    with tempfile.TemporaryDirectory() as folder:
        ours = ("-m", "confml", "run", config, "--out", f"{folder}/{{turn}}", "--quiet", "--jobs", "2")
        return in_turns(what, ours, ("-c", imports))


BENCHMARKS = (bench_quick_start, bench_usps, bench_thousand_cells)
WHEN_ASKED = (bench_ten_thousand_cells, bench_report_with_figures)
