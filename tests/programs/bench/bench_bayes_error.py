"""Seconds of confml.bayes_error beside a straightforward implementation and mlpack's dual-tree spanning tree.

Each function returns rows (name, ours, other, other / ours): medians over runs that alternate between the
two, one thread, kernels compiled beforehand.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial

import numba
import numpy as np
from _pairs import PEAK_MB, Skipped, paired
from scipy.spatial.distance import cdist

from confml.bayes_error import bayes_errors, spanning_trees
from confml.data import load


@numba.njit(cache=False)
def prim(distance, source):
    """Prim on a full matrix of squared distances; used edges become infinite. Fills source; one tree."""
    n = distance.shape[0]
    best = np.full(n, np.inf)
    done = np.zeros(n, np.bool_)
    source[:] = -1
    pick = 0
    for _ in range(n):
        done[pick] = True
        row = distance[pick]
        following, least = -1, np.inf
        for j in range(n):
            if not done[j]:
                if row[j] < best[j]:
                    best[j] = row[j]
                    source[j] = pick
                if best[j] < least:
                    following, least = j, best[j]
        pick = following
        if pick < 0:
            break
    for j in range(n):
        if source[j] >= 0:
            distance[j, source[j]] = distance[source[j], j] = np.inf


def straightforward(X, y, trees: int = 3):
    """Mean crossings of every pair and of every class against the rest: a full matrix for each, Prim on
    it."""
    classes, codes = np.unique(y, return_inverse=True)
    k = classes.size

    def sources(rows):
        distance = cdist(X[rows], X[rows], "sqeuclidean")
        found = np.empty((trees, rows.size), np.int64)
        for t in range(trees):
            prim(distance, found[t])
        return found

    pairs = np.full((k, k), np.nan)
    for a in range(k):
        for b in range(a + 1, k):
            rows = np.flatnonzero((codes == a) | (codes == b))
            inside = codes[rows] == a
            crossed = [np.sum(inside[s >= 0] != inside[s[s >= 0]]) for s in sources(rows)]
            pairs[a, b] = pairs[b, a] = np.mean(crossed)
    rest = np.zeros(k)
    for s in sources(np.arange(codes.size)):
        ends = np.column_stack([codes[s >= 0], codes[s[s >= 0]]])
        for a in range(k):
            rest[a] += np.sum((ends[:, 0] == a) != (ends[:, 1] == a)) / trees
    return pairs, rest


def gaussian_mixture(n: int = 58_000, d: int = 9, components: int = 6, seed: int = 1):
    """A mixture of spherical Gaussians, of shuttle's size by default."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=4, size=(components, d))
    return centres[rng.integers(0, components, n)] + rng.normal(size=(n, d))


MLPACK = """
import json, sys, time, numpy as np, mlpack
X = np.load(sys.argv[1])
mlpack.emst(input_=X[:200])
for line in sys.stdin:
    begun = time.thread_time()
    result = mlpack.emst(input_=X)
    print(json.dumps([time.thread_time() - begun, result["output"][:, 2].sum()]), flush=True)
"""


def compare_single_tree(name: str, X: np.ndarray, goal: float, repeats: int = 3):
    """One tree of all rows against `mlpack.emst` in a process of its own, in turns; thread time, one thread
    each. Then three orthogonal trees, against what mlpack takes for one."""
    if importlib.util.find_spec("mlpack") is None:
        raise Skipped("mlpack is not installed (pip install mlpack; it belongs to the extra 'bench')")
    X = np.ascontiguousarray(X, dtype=np.float64)
    for trees in (1, 3):
        spanning_trees(X[:2000], trees)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ours: dict[int, list[float]] = {1: [], 3: []}
    other = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.npy")
        np.save(path, X)
        with subprocess.Popen(
            [sys.executable, "-c", MLPACK, path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        ) as process:  # fmt: skip
            for _ in range(repeats):
                process.stdin.write("go\n")
                process.stdin.flush()
                seconds, length = json.loads(process.stdout.readline())
                other.append(seconds)
                for trees, spent in ours.items():
                    begun = time.thread_time()
                    found = spanning_trees(X, trees)
                    spent.append(time.thread_time() - begun)
                    own = found.distance[found.tree == 0].sum()
                    if abs(own - length) > 1e-9 * length:
                        raise AssertionError(f"{name}: our tree has length {own}, mlpack's {length}")
            process.stdin.close()
    theirs, one, three = map(statistics.median, (other, ours[1], ours[3]))
    notes = {"repeats": repeats, "other_is": "mlpack.emst, one tree, same total length"}
    return [
        (f"one tree, {name}, beside mlpack", one, theirs, theirs / one, {"goal": goal, **notes}),
        (f"three trees, {name}, beside one of mlpack", three, theirs, theirs / three, notes),
    ]


def bench_tree_shuttle():
    """Whole numbers, nearly all distances tied, rows along few lines: what mlpack's dual tree is best at."""
    return compare_single_tree("shuttle, 58,000 x 9", load({"name": "shuttle"}).X, goal=1)


def bench_tree_mixture():
    """Six spherical Gaussians in nine dimensions: the rows fill the space, which dual trees are worst at."""
    return compare_single_tree("mixture of Gaussians, 58,000 x 9", gaussian_mixture(), goal=10)


def bench_tree_plane():
    """The same in two dimensions: where dual trees are good."""
    X = gaussian_mixture(d=2, components=60)
    return compare_single_tree("mixture of Gaussians, 58,000 x 2", X, goal=1)


def bench_tree_quitefastmst():
    """One tree against `quitefastmst.mst_euclid` in the same process, in turns; thread time, one thread."""
    if importlib.util.find_spec("quitefastmst") is None:
        raise Skipped("quitefastmst is not installed (pip install quitefastmst; of the extra 'bench')")
    import quitefastmst

    quitefastmst.omp_set_num_threads(1)
    spanning_trees(gaussian_mixture(2000, 2))
    rows = []
    for name, X in {
        "mixture of Gaussians, 1,000,000 x 2": gaussian_mixture(1_000_000, 2, 60),
        "mixture of Gaussians, 200,000 x 3": gaussian_mixture(200_000, 3, 20),
        "shuttle, 58,000 x 9": load({"name": "shuttle"}).X,
    }.items():
        X = np.ascontiguousarray(X, dtype=np.float64)
        spent: tuple[list[float], list[float]] = [], []
        for _ in range(3):
            begun = time.thread_time()
            theirs = quitefastmst.mst_euclid(X)[0].sum()
            spent[1].append(time.thread_time() - begun)
            begun = time.thread_time()
            ours = spanning_trees(X).distance.sum()
            spent[0].append(time.thread_time() - begun)
            if abs(ours - theirs) > 1e-9 * theirs:
                raise AssertionError(f"{name}: our tree has length {ours}, quitefastmst's {theirs}")
        one, other = map(statistics.median, spent)
        notes = {"goal": 1, "repeats": 3, "other_is": "quitefastmst.mst_euclid, same total length"}
        rows.append((f"one tree, {name}, beside quitefastmst", one, other, other / one, notes))
    return rows


def bench_fars():
    """Pairs and one-vs-rest of fars with dummy columns (100,959 x 338), one tree: seconds on one thread, and
    on two threads. Takes some minutes."""
    import confml

    data = load({"name": "fars-smartsvm"})
    width = np.ptp(data.X, axis=0)
    X = (data.X - data.X.min(axis=0)) / np.where(width > 0, width, 1.0)
    seconds, found = [], []
    for threads in (1, 2):
        with confml.threads(threads):
            begun = time.perf_counter()
            found.append(bayes_errors(X, data.y, trees=1).one_vs_rest.per_tree)
            seconds.append(time.perf_counter() - begun)
    if not np.array_equal(*found):
        raise AssertionError("fars: two threads give other crossings than one")
    columns = {"one thread": f"{seconds[0]:.1f} s", "two threads": f"{seconds[1]:.1f} s"}
    columns["ratio of processor times"] = ""
    notes = {"limit": 120, "other_is": "two threads, wall-clock time", "columns": columns}
    return (
        "Bayes errors of fars, 100959 x 338, all pairs and one-vs-rest",
        *seconds,
        seconds[1] / seconds[0],
        notes,
    )


MEMORY = """
from threadpoolctl import threadpool_limits
from confml.bayes_error import pairwise_bayes_error
from confml.data import load
def peak():
    return PEAK_MB / 1024
data = load({"name": "mnist"})
before = peak()
with threadpool_limits(1):
    pairwise_bayes_error(data.X, data.y, trees=3)
print(before, peak(), data.X.nbytes / 2**30)
""".replace("PEAK_MB", PEAK_MB)


def bench_mnist_memory():
    """Peak memory (resident, GiB) of a process that estimates all 45 pairs of MNIST with 3 trees, beside that
    of the largest pair's distance matrix in float64. Takes some minutes."""
    data = load({"name": "mnist"})
    largest = int(np.sort(np.unique(data.y, return_counts=True)[1])[-2:].sum())
    output = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout
    before, after, rows = map(float, output.split())
    matrix = largest**2 * 8 / 2**30
    notes = {
        "unit": "GiB",
        "loaded": before,
        "rows": rows,
        "other_is": "one matrix, largest pair",
    }
    return "peak memory, MNIST pairs", after, matrix, matrix / after, notes


def bench_pairs():
    """Pairs and one-vs-rest with 3 trees against `straightforward`."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 20)), np.arange(400) % 3
    for few in (4, 20):
        bayes_errors(X[:, :few], y)
    straightforward(X, y)
    rows = []
    for name, goal in {"satimage": 10, "texture": 10, "optdigits": 20, "letter": 20}.items():
        data = load({"name": name})
        ours, other = (partial(one, data.X, data.y) for one in (bayes_errors, straightforward))
        what = f"Bayes errors, three trees, {name}, beside Prim on distance matrices"
        rows.append(paired(what, ours, other, goal=goal))
    return rows


BENCHMARKS = (
    bench_pairs,
    bench_tree_shuttle,
    bench_tree_mixture,
    bench_tree_plane,
    bench_tree_quitefastmst,
)
WHEN_ASKED = (bench_mnist_memory, bench_fars)
