"""Growth of CPU time and memory with the number of rows, and the extrapolation to 10^7 rows.

The exponent is the slope of log time over log rows between the last two sizes.
"""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
from _pairs import seconds_of

from confml.methods.tcm_nn.neighbour_counter import BlockSizes, NeighbourCounter
from confml.methods.tcm_nn.online_pass import OnlinePass

Row = tuple
FEATURES, CLASSES, TEST_ROWS = 9, 7, 10_000
STEPS, STREAM_FEATURES, STREAM_CLASSES = (10_000, 20_000), 16, 10
PRODUCT_ROWS = 20_000
SIZES = (25_000, 50_000, 100_000)
LARGE = (200_000, 400_000, 800_000)
ONE = """
import resource, sys, time
import numpy as np
from confml.methods.{module} import {name}
n, m = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
y, labels = rng.integers(0, {classes}, n), rng.integers(0, {classes}, m)
centres = 2.0 * rng.normal(size=({classes}, {features}))
X = rng.normal(size=(n, {features})) + centres[y]
T = rng.normal(size=(m, {features})) + centres[labels]
{name}.compile_kernels()
{name}().fit(X[:2000], y[:2000]).confident_predict(T[:100])
before = time.process_time()
{name}().fit(X, y).confident_predict(T)
print(time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measured(module: str, name: str, rows: int) -> tuple[float, float]:
    """Return CPU seconds and peak MB of a fit to ``rows`` rows and `TEST_ROWS` predictions, on one thread."""
    text = ONE.format(module=module, name=name, classes=CLASSES, features=FEATURES)
    command = [sys.executable, "-c", text, str(rows), str(TEST_ROWS)]
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


def bench_tcm_nn() -> list[Row]:
    return growth("tcm_nn", "TCMNN", SIZES)


def bench_knn() -> list[Row]:
    return growth("knn", "KNN", SIZES)


def bench_online() -> list[Row]:
    """TCM-NN online, k = 1, on Gaussian classes: CPU seconds, and the extrapolation to 10^5 steps."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, STREAM_CLASSES, STEPS[-1])
    centres = rng.normal(size=(STREAM_CLASSES, STREAM_FEATURES))
    X = rng.normal(size=(STEPS[-1], STREAM_FEATURES)) + centres[y]

    def run(steps: int) -> None:
        OnlinePass(STREAM_FEATURES, STREAM_CLASSES, (1,)).step(X[:steps], y[:steps], predicts=True)

    run(2000)
    spent = [seconds_of(lambda steps=steps: run(steps)) for steps in STEPS]
    none = (math.nan, math.nan)
    what = f"TCM-NN online, {STREAM_FEATURES} features"
    lines: list[Row] = [
        (f"{what}, {steps} steps, CPU", seconds, *none, {"repeats": 1})
        for steps, seconds in zip(STEPS, spent, strict=True)
    ]
    exponent = exponent_of(STEPS, spent)
    lines.append((f"{what}, growth exponent of the time", exponent, *none, {"unit": ""}))
    lines.append((f"{what}, 100000 steps, extrapolated CPU", spent[-1] * 5**exponent, *none, {}))
    return lines


def bench_online_thousand() -> list[Row]:
    """A thousand steps of TCM-NN online, beside the goal of 8 ms."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, STREAM_CLASSES, 1000)
    X = rng.normal(size=(1000, STREAM_FEATURES)) + rng.normal(size=(STREAM_CLASSES, STREAM_FEATURES))[y]

    def run() -> None:
        OnlinePass(STREAM_FEATURES, STREAM_CLASSES, (1,)).step(X, y, predicts=True)

    run()
    ours = min(seconds_of(run) for _ in range(9))
    what = f"TCM-NN online, {STREAM_FEATURES} features, 1000 steps, beside 8 ms"
    return [(what, ours, 0.008, 0.008 / ours, {"repeats": 9, "goal": 1.0})]


def bench_products() -> list[Row]:
    """Neighbours of training rows with 54 features: products of integers against those of float32."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, CLASSES, PRODUCT_ROWS)
    X = rng.normal(size=(PRODUCT_ROWS, 54)) + 2.0 * rng.normal(size=(CLASSES, 54))[codes]

    def run(integers: bool, rows: int = PRODUCT_ROWS) -> None:
        NeighbourCounter(X[:rows], codes[:rows], "product", BlockSizes(integers=integers)).lists(1)

    run(True, 1000)
    run(False, 1000)
    ours, other = (min(seconds_of(lambda way=way: run(way)) for _ in range(3)) for way in (True, False))
    return [(f"TCM-NN, neighbours of {PRODUCT_ROWS} x 54 rows, float32 products", ours, other, other / ours)]


def bench_tcm_nn_large() -> list[Row]:
    return growth("tcm_nn", "TCMNN", LARGE)


BENCHMARKS = (bench_tcm_nn, bench_knn, bench_online, bench_online_thousand, bench_products)
WHEN_ASKED = (bench_tcm_nn_large,)
