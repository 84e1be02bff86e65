"""Runs of many tiny cells: CPU time of the runner, of the report, and of a run with nothing left to do.

The data sets have 40 to 76 rows, so that a cell takes less time than its administration. Times are CPU
seconds of all processes, per cell. The start of a process with its imports is not counted for the report.
The plain loop fits the same methods to the same numbers of rows and predicts, in one process and without its
start, and writes nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import yaml
from _pairs import PEAK_MB, Skipped

Row = tuple
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
        lines = [
            ",".join(f"{value:.4f}" for value in row) + f",k{label}" for row, label in zip(X, y, strict=True)
        ]
        path = folder / f"set{number}.csv"
        path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
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


def cpu_of(*command: str, program: str = sys.executable, **given) -> tuple[float, str]:
    """Return CPU seconds of a command and all processes that it started, and what it prints.

    given: passed to `subprocess.run`.

    Linux counts the time of a process for the one that waits for its end. Workers may end after their parent,
    so this process adopts and awaits them.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *command], check=True, capture_output=True, text=True, **given)
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
        files = sum(path.is_file() for path in out.rglob("*"))
    each, loop = 1000.0 / cells, float(looped)
    none = (math.nan, math.nan)
    ms = {"unit": "ms", "repeats": 1}
    return [
        (
            f"{cells} tiny cells, run and report, ms of CPU per cell, beside a plain loop of the fits",
            whole * each,
            loop * each,
            loop / whole,
            ms | {"goal": 0.5},
        ),
        (
            f"{cells} tiny cells, report alone, ms of CPU per cell, beside 1 ms",
            report * each,
            1.0,
            1.0 / (report * each),
            ms | {"goal": 1.0},
        ),
        (f"{cells} tiny cells, peak memory of the report", memory, *none, {"unit": "MB"}),
        (f"{cells} tiny cells, started again with nothing to do", again, *none, {"repeats": 1}),
        (
            f"{cells} tiny cells, cells per file in the folder",
            cells / files,
            100.0,
            cells / files / 100.0,
            {"unit": "cells", "goal": 1.0},
        ),
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
            command = (
                "-m",
                "confml",
                "run",
                str(config),
                "--out",
                str(folder / "out"),
                "--quiet",
                "--jobs",
                "2",
            )
            seconds, _ = cpu_of(*command)
    what = f"report of 20 data sets x 31 variants with {20 * len(FIGURES)} figures, beside 60 s"
    return (what, seconds, 60.0, 60.0 / seconds, {"repeats": 1, "goal": 1.0})


def bench_many_cells() -> list[Row]:
    """The findings of ``make many-cells``, which runs for an hour."""
    path = Path("results/many-cells/many-cells.json")
    if not path.exists():
        raise Skipped("make many-cells comes first")
    rows: list[Row] = []
    for part, found in json.loads(path.read_text()).items():
        counts = ", ".join(f"{found[name]} {name}" for name in ("kills", "deaths") if name in found)
        what = f"{found['cells']} cells, {part}" + (f" with {counts}" if counts else "")
        for name, text, unit in (
            ("cpu", "CPU of all processes", "s"),
            ("scheduler_cpu", "CPU of the scheduler", "s"),
            ("peak_mb", "peak memory of a process", "MB"),
        ):
            if name in found:
                rows.append(
                    (f"{what}: {text}", found[name], math.nan, math.nan, {"unit": unit, "repeats": 1})
                )
    return rows


CLUSTER = """
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
"""


def bench_dask() -> list[Row]:
    """A cluster of two workers by configs/cluster/dask.sh, with its start and end, beside two jobs.

    A run of few cells shows the start. The floor is a cluster of two workers of dask that computes nothing.
    """
    script, path = Path("configs/cluster/dask.sh").absolute(), os.environ.get("PATH", "")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{path}"}
    sizes, turns, sums = (1, 15), 3, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cluster.py").write_text(CLUSTER)
        floor = median(cpu_of(str(folder / "cluster.py"))[0] for _ in range(turns))
        given = {"cwd": folder, "env": environment}
        for repeats in sizes:
            config = write_config(folder, repeats)
            dask, jobs = [], []
            for turn in range(turns):
                options = (str(config), "--quiet", "--out", str(folder / f"{repeats}-{turn}"))
                dask.append(cpu_of(str(script), "2", *options, program="sh", **given)[0])
                jobs.append(
                    cpu_of("-m", "confml", "run", *options[:-1], f"{options[-1]}-jobs", "--jobs", "2")[0]
                )
            sums[CELLS_OF_REPEAT * repeats] = median(dask), median(jobs)
    notes = {"repeats": turns}
    rows: list[Row] = [
        (f"{cells} tiny cells on two dask workers, beside two jobs", *both, both[1] / both[0], notes | goal)
        for (cells, both), goal in zip(sums.items(), ({}, {"goal": 1 / 1.5}), strict=True)
    ]
    (few, (dask_start, start)), (cells, (dask_all, all_)) = sums.items()
    ours, other = (1000 * seconds / (cells - few) for seconds in (dask_all - dask_start, all_ - start))
    ms = notes | {"unit": "ms"}
    rows.append(("one more tiny cell on two dask workers, beside two jobs", ours, other, other / ours, ms))
    what = "a cluster of two dask workers that computes nothing"
    return [*rows, (what, floor, math.nan, math.nan, {"repeats": turns})]


TWO_WORKERS = """
import heapq, sys, time
from confml.__main__ import main
from confml.runner import run
from confml.runner.engines import Engine

class Workers(Engine):
    name, workers, now, busy = "serial", 2, 0.0, 0.0
    def run(self, next_item, function, limits=None):
        running, number = [], 0
        while True:
            while len(running) < self.workers and (item := next_item()) is not None:
                begun = time.process_time()
                result = function(item)
                seconds = time.process_time() - begun
                self.busy, number = self.busy + seconds, number + 1
                heapq.heappush(running, (self.now + seconds, number, item, result))
            if not running:
                return
            self.now, _, item, result = heapq.heappop(running)
            yield item, result

engine = Workers()
run.make_engine = lambda *given: engine
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(engine.now, engine.busy, time.process_time() - engine.busy)
"""


def bench_nested_two_jobs() -> Row:
    """Nested cross-validation, 5 x 5 folds: seconds that two workers take, and one, by their processor time.

    One process computes the tasks in the order in which two workers would get them, and counts the time at
    which each would end. Imports, plan and report belong to no task and are counted in full for both.
    """
    config = {
        "name": "nested",
        "datasets": ["vehicle"],
        "steps": ["standardise"],
        "methods": [
            {
                "name": "kernel-svm",
                "tune": {"C": [1, 4, 16, 64, 256, 1024, 4096, 16384], "sigma": [1, 2, 3, 4, 6, 8, 12, 16]},
            }
        ],
        "protocol": {"kind": "k-fold", "folds": 5, "inner-folds": 5},
        "figures": [],
    }
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "nested.yaml").write_text(yaml.safe_dump(config))
        command = ("run", f"{name}/nested.yaml", "--out", f"{name}/out", "--quiet")
        _, printed = cpu_of("-c", TWO_WORKERS, *command)
    two, one, serial = map(float, printed.split()[-3:])
    what = "nested cross-validation, 5 x 5 folds of vehicle, two jobs, beside one"
    notes = {"repeats": 1, "goal": 1.85, "of_tasks": round(one / two, 3), "serial": round(serial, 2)}
    return (what, serial + two, serial + one, (serial + one) / (serial + two), notes)


def bench_plan_of_many_cells() -> Row:
    """CPU seconds of ``confml run --dry-run``, with its imports, for 100,030 cells that are not computed."""
    repeats = 1429
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = write_config(folder, repeats)
        seconds, _ = cpu_of("-m", "confml", "run", "--dry-run", str(config), "--out", str(folder / "out"))
    what = f"plan of {CELLS_OF_REPEAT * repeats} tiny cells, beside 5 s"
    return (what, seconds, 5.0, 5.0 / seconds, {"repeats": 1, "goal": 1.0})


BENCHMARKS = (bench_thousand_cells, bench_plan_of_many_cells)
WHEN_ASKED = (
    bench_ten_thousand_cells,
    bench_dask,
    bench_nested_two_jobs,
    bench_report_with_figures,
    bench_many_cells,
)
