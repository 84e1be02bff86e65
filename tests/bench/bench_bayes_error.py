"""Seconds of confml.bayes_error beside a straightforward implementation and mlpack's dual-tree spanning tree.

Each function returns rows (name, ours, other, other / ours): medians over runs that alternate between the
two, one thread, kernels compiled beforehand.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import numba
import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from confml.bayes_error import bayes_errors, spanning_trees


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


def _compared(name, ours, other, repeats=3):
    ours_seconds, other_seconds = [], []
    for _ in range(repeats):
        for run, seconds in ((ours, ours_seconds), (other, other_seconds)):
            begun = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - begun)
    a, b = statistics.median(ours_seconds), statistics.median(other_seconds)
    return name, a, b, b / a


def _warm():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), np.arange(400) % 3
    for trees in (1, 3):
        bayes_errors(X, y, trees=trees)
        spanning_trees(rng.normal(size=(20_000, 3)), trees)
    straightforward(X, y)


def compare_pairs(data_sets, repeats: int = 3):
    """Pairs and one-vs-rest with 3 trees against `straightforward`; data_sets: (name, X, y) each."""
    _warm()
    rows = []
    with threadpool_limits(1):
        for name, X, y in data_sets:
            rows.append(
                _compared(
                    f"Bayes errors, {name}", lambda: bayes_errors(X, y, trees=3),  # noqa: B023
                    lambda: straightforward(X, y), repeats,  # noqa: B023
                )
            )  # fmt: skip
    return rows


def gaussian_mixture(n: int = 58_000, d: int = 9, components: int = 6, seed: int = 1):
    """A mixture of spherical Gaussians, of shuttle's size by default."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=4, size=(components, d))
    return centres[rng.integers(0, components, n)] + rng.normal(size=(n, d))


MLPACK = """
import sys, time, numpy as np
sys.stdout.flush()
import mlpack
X = np.load(sys.argv[1])
mlpack.emst(input_=X[:200])
for line in sys.stdin:
    begun = time.perf_counter()
    result = mlpack.emst(input_=X, copy_all_inputs=False)
    print(time.perf_counter() - begun, float(np.sqrt(1.0) * result["output"][:, 2].sum()), flush=True)
"""


def compare_single_tree(name, X, folder, python: str | None = None, repeats: int = 3):
    """One tree of all rows against `mlpack.emst`, run by `python` (an interpreter that has mlpack)
    alternately."""
    _warm()
    path = os.path.join(folder, "rows.npy")
    np.save(path, X)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [python or sys.executable, "-c", MLPACK, path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as process, threadpool_limits(1):  # fmt: skip
        ours, other, lengths = [], [], set()
        for _ in range(repeats):
            process.stdin.write("go\n")
            process.stdin.flush()
            seconds, length = map(float, process.stdout.readline().split())
            other.append(seconds)
            begun = time.perf_counter()
            tree = spanning_trees(X, 1)
            ours.append(time.perf_counter() - begun)
            lengths |= {round(length, 3), round(float(tree.distance.sum()), 3)}
        process.stdin.close()
    a, b = statistics.median(ours), statistics.median(other)
    return [(f"one tree, {name}", a, b, b / a)], sorted(lengths)


def bench_pairs():
    """`compare_pairs` on real data."""
    from confml.data import load

    sets = (load({"name": name}) for name in ("satimage", "texture", "optdigits", "letter"))
    return compare_pairs([(data.name, data.X, data.y) for data in sets])


BENCHMARKS = (bench_pairs,)
