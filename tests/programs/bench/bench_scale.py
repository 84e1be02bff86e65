"""Growth of CPU time and memory with the number of rows, and the extrapolation to 10^7 rows.

The exponent is the slope of log time over log rows between the last two sizes.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _pairs import PEAK_MB, seconds_of
from bench_runner import cpu_of

from confml.methods.tcm_nn.online_pass import BLOCK, OnlinePass

Row = tuple
FEATURES, CLASSES, TEST_ROWS = 9, 7, 10_000
STEPS, STREAM_FEATURES, STREAM_CLASSES = (20_000, 100_000), 16, 10
LARGE = (200_000, 400_000, 800_000)
ONE = """
import sys, time
import numpy as np
from confml.methods.{module} import {name}
n, m, features, classes = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
y, labels = rng.integers(0, classes, n), rng.integers(0, classes, m)
centres = 2.0 * rng.normal(size=(classes, features))
X = rng.normal(size=(n, features))
X += centres[y]
T = rng.normal(size=(m, features)) + centres[labels]
{name}().fit(X[:2000], y[:2000]).confident_predict(T[:100])
before = time.process_time()
{name}().fit(X, y).confident_predict(T)
print(time.process_time() - before, {peak})
"""

PEAK = """
import resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""
REGIONS = """
name: regions
datasets: [{name: rows, csv: train.csv, test: test.csv, label: y}]
methods: [naive-bayes]
protocol: {kind: fixed-split}
figures: []
seed: 1
"""


def measured(
    module: str, name: str, rows: int, features: int = FEATURES, classes: int = CLASSES
) -> tuple[float, float]:
    """Return CPU seconds and peak MB of a fit to ``rows`` rows and `TEST_ROWS` predictions, on one thread."""
    sizes = map(str, (rows, TEST_ROWS, features, classes))
    command = [sys.executable, "-c", ONE.format(module=module, name=name, peak=PEAK_MB), *sizes]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def growth(module: str, name: str, sizes: tuple[int, ...]) -> list[Row]:
    found = [measured(module, name, rows) for rows in sizes]
    none = (math.nan, math.nan)
    lines: list[Row] = []
    for rows, (seconds, memory) in zip(sizes, found, strict=True):
        lines.append((f"{name}, {rows} x {FEATURES} rows, CPU", seconds, *none, {"repeats": 1}))
        lines.append((f"{name}, {rows} x {FEATURES} rows, peak memory", memory, *none, {"unit": "MB"}))
    exponent = exponent_of(sizes, [seconds for seconds, _ in found])
    lines.append((f"{name}, growth exponent of the time", exponent, *none, {"unit": ""}))
    hours = found[-1][0] * (10_000_000 / sizes[-1]) ** exponent / 3600
    lines.append((f"{name}, 10000000 x {FEATURES} rows, extrapolated CPU", hours, *none, {"unit": "h"}))
    return lines


def exponent_of(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return math.log(seconds[-1] / seconds[-2]) / math.log(sizes[-1] / sizes[-2])


def bench_online() -> list[Row]:
    """TCM-NN online, k = 1, on Gaussian classes: CPU seconds beside the float32 products of each block with
    the examples before it and those of the block."""
    return [row for features in (STREAM_FEATURES, 54) for row in online_rows(features)]


def online_rows(features: int) -> list[Row]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, STREAM_CLASSES, STEPS[-1])
    centres = rng.normal(size=(STREAM_CLASSES, features))
    X = rng.normal(size=(STEPS[-1], features)) + centres[y]
    rows, block = X.astype(np.float32), BLOCK
    room = np.empty((block, STEPS[-1]), np.float32)

    def run(steps: int) -> None:
        OnlinePass(features, STREAM_CLASSES, (1,)).step(X[:steps], y[:steps], predicts=True)

    def products(steps: int) -> None:
        for start in range(0, steps, block):
            stop = min(start + block, steps)
            np.matmul(rows[start:stop], rows[:stop].T, out=room[: stop - start, :stop])

    run(2000)
    products(2000)
    what = f"TCM-NN online, {features} features"
    lines, spent = [], []
    for steps in STEPS:
        ours, floor = (
            seconds_of(lambda steps=steps: run(steps)),
            seconds_of(lambda steps=steps: products(steps)),
        )
        notes = {"repeats": 1, "goal": 1 / 1.3} if steps == STEPS[-1] else {"repeats": 1}
        lines.append(
            (f"{what}, {steps} steps, beside its float32 products", ours, floor, floor / ours, notes)
        )
        spent.append(ours)
    none = (math.nan, math.nan)
    name = f"{what}, growth exponent of the time"
    return [*lines, (name, exponent_of(STEPS, spent), *none, {"unit": ""})]


def bench_tcm_nn_large() -> list[Row]:
    return growth("tcm_nn", "TCMNN", LARGE)


def peak_of(*arguments: str) -> tuple[float, float]:
    """Return CPU seconds of a command and the peak MB of its largest process."""
    seconds, printed = cpu_of("-c", PEAK, *arguments)
    return seconds, float(printed.splitlines()[-1])


def bench_ten_million_rows() -> list[Row]:
    """TCM-NN on 10^7 rows of 9 features, beside 6 GB."""
    seconds, memory = measured("tcm_nn", "TCMNN", 10_000_000)
    what = f"TCM-NN, 10000000 x {FEATURES} rows and {TEST_ROWS} predictions"
    return [
        (f"{what}, CPU", seconds, math.nan, math.nan, {"repeats": 1}),
        (f"{what}, peak memory beside 6 GB", memory, 6000.0, 6000.0 / memory, {"unit": "MB", "goal": 1.0}),
    ]


def bench_regions() -> list[Row]:
    """Peak memory of a run whose regions of 10 classes are written, for 10^5 and 10^6 test rows."""
    rows: list[Row] = []
    for count in (100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _write_rows(folder / "train.csv", 2000, labels=True)
            _write_rows(folder / "test.csv", count, labels=True)
            (folder / "config.yaml").write_text(REGIONS)
            command = (
                "run",
                str(folder / "config.yaml"),
                "--out",
                str(folder / "out"),
                "--jobs",
                "1",
                "--quiet",
            )
            seconds, memory = peak_of("-m", "confml", *command)
        what = f"run with regions of {count} test rows x 10 classes"
        rows.append((f"{what}: CPU", seconds, math.nan, math.nan, {"repeats": 1}))
        rows.append((f"{what}: peak memory", memory, math.nan, math.nan, {"unit": "MB"}))
    return rows


def bench_predictions() -> list[Row]:
    """Peak memory of ``confml predict`` for 10^5, 10^6 and 10^7 rows of CSV: it does not grow."""
    rows: list[Row] = []
    for count in (100_000, 1_000_000, 10_000_000):
        with tempfile.TemporaryDirectory() as name:
            train, new, out = (Path(name, file) for file in ("train.csv", "new.csv", "out.csv"))
            _write_rows(train, 2000, labels=True)
            _write_rows(new, count, labels=False)
            fit = ("--train", str(train), "--label", "y", "--method", "naive-bayes")
            seconds, memory = peak_of("-m", "confml", "predict", *fit, str(new), "--out", str(out), "--quiet")
        what = f"confml predict, naive-bayes, {count} rows of CSV"
        rows.append((f"{what}: CPU", seconds, math.nan, math.nan, {"repeats": 1}))
        rows.append((f"{what}: peak memory", memory, math.nan, math.nan, {"unit": "MB"}))
    return rows


def _write_rows(path: Path, count: int, labels: bool) -> None:
    """Write rows of 6 features and 10 classes: blocks of at most 100,000 rows, repeatedly."""
    rng = np.random.default_rng(1)
    some = min(count, 100_000)
    y = rng.integers(10, size=some)
    frame = pd.DataFrame(np.round(rng.normal(size=(some, 6)) + y[:, None], 4)).add_prefix("x")
    text = (frame.assign(y=y) if labels else frame).to_csv(index=False)
    head, _, body = text.partition("\n")
    with open(path, "w") as file:
        file.write(head + "\n")
        for _ in range(count // some):
            file.write(body)


BENCHMARKS = (bench_online,)
WHEN_ASKED = (bench_tcm_nn_large, bench_ten_million_rows, bench_regions, bench_predictions)
