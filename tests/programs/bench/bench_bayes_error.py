"""Seconds of confml.bayes_error beside a straightforward implementation and quitefastmst.

Each function returns rows (name, ours, other, other / ours): medians over runs that alternate between the
two, one thread, kernels compiled beforehand.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from functools import partial

import numba
import numpy as np
from _pairs import Skipped, paired
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
        "mixture of Gaussians, 58,000 x 9": gaussian_mixture(),
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


BENCHMARKS = (bench_pairs, bench_tree_quitefastmst)
WHEN_ASKED = (bench_fars,)
