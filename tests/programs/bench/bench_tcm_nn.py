"""TCM-NN beside a float32 matrix product and beside online-cp, and one spanning tree beside quitefastmst.

No dense method can do without the product: m x m for the training pairs and r x m for the test examples, in
blocks; no distance is formed, none compared. TCM-NN computes half of the m x m, which is symmetric, and so
can be faster than the product.
"""

from __future__ import annotations

import functools
import math
import subprocess
import sys

import numpy as np
from _pairs import PEAK_MB, Row, needs, paired, row

from confml import TCMNN
from confml.bayes_error.crossings import spanning_trees
from confml.data import load
from confml.methods.tcm_nn.online_pass import OnlinePass

BLOCK = 512


@functools.cache
def usps() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(X, y, T) of the parts of USPS, each image with mean 0 and sd 1. Needs the data."""
    data = load({"name": "usps"})
    X = data.X.reshape(len(data.X), -1)
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return X[data.train_rows], data.y[data.train_rows], X[data.test_rows]


def products(X: np.ndarray, *parts: np.ndarray) -> None:
    """Multiply the rows of each part with those of X, in float32 blocks."""
    X32 = X.astype(np.float32)
    room = np.empty((BLOCK, len(X)), np.float32)
    for rows in (part.astype(np.float32) for part in parts):
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            np.dot(block, X32.T, out=room[: len(block)])


def run(X, y, T, ks=(1,)) -> None:
    """Fit on (X, y) and predict T for each k, in one pass."""
    for _ in TCMNN().evaluate_path(X, y, T, [{"k": k} for k in ks]):
        pass


def bench_usps() -> list[Row]:
    """USPS with k = 1, and with every k from 1 to 20 in one pass: at most 1.6 and 2.5 times the products."""
    X, y, T = usps()
    rows = []
    for what, ks, limit in (("k=1", (1,), 1.6), ("k=1..20", range(1, 21), 2.5)):
        ours = functools.partial(run, ks=ks)
        ours(X[:500], y[:500], T[:50])
        name = f"TCM-NN {what}, usps {len(X)} + {len(T)} x {X.shape[1]}, beside its float32 products"
        pair = functools.partial(ours, X, y, T), functools.partial(products, X, X, T)
        rows.append(paired(name, *pair, 5, goal=1 / limit))
    return rows


def bench_online() -> list[Row]:
    """Online with k = 1, beside the products of each block with the examples before it and in it."""
    rng = np.random.default_rng(0)
    rows = []
    for steps, features in ((20_000, 16), (20_000, 54)):
        y = rng.integers(0, 10, steps)
        X = rng.normal(size=(steps, features)) + rng.normal(size=(10, features))[y]
        X32, room = X.astype(np.float32), np.empty((BLOCK, steps), np.float32)

        def ours(steps=steps, features=features, X=X, y=y):
            OnlinePass(features, 10, (1,)).step(X[:steps], y[:steps], predicts=True)

        def reference(steps=steps, X32=X32, room=room):
            for start in range(0, steps, BLOCK):
                block, stop = X32[start : start + BLOCK], min(start + BLOCK, steps)
                np.matmul(block, X32[:stop].T, out=room[: len(block), :stop])

        ours(2000)
        name = f"TCM-NN online, {features} features, {steps} steps, beside its float32 products"
        rows.append(paired(name, ours, reference, 1, goal=1 / 4))
    return rows


def bench_online_cp() -> Row:
    """online-cp's conformal nearest neighbours on a part of USPS that is small enough for them."""
    needs("online_cp")
    from online_cp.classifiers import ConformalNearestNeighboursClassifier

    X, y, T = (part[:size] for part, size in zip(usps(), (1000, 1000, 20), strict=True))
    labels = np.unique(y)
    p_values = np.empty((len(T), len(labels)))

    def reference():
        classifier = ConformalNearestNeighboursClassifier(k=1, label_space=labels, rnd_state=0)
        classifier.learn_initial_training_set(X, y)
        for number, x in enumerate(T):
            _, of_labels = classifier.predict(x, epsilon=0.05, return_p_values=True)
            p_values[number] = [of_labels[label] for label in labels]

    run(X, y, T)
    reference()
    counts = TCMNN().fit(X, y).confident_predict(T)["p-value"].extra
    low = counts["n_greater"] / (len(X) + 1)
    high = low + counts["n_equal"] / (len(X) + 1)
    assert np.mean((p_values >= low - 1e-12) & (p_values <= high + 1e-12)) > 0.99
    name = f"TCM-NN k=1, scaled down to {len(X)} + {len(T)} rows of usps, beside online-cp"
    return paired(name, lambda: run(X, y, T), reference, goal=100.0)


LARGE = f"""
import sys, time
import numpy as np
from confml import TCMNN
n, m, features, classes = int(sys.argv[1]), 10_000, 9, 7
rng = np.random.default_rng(0)
y, labels = rng.integers(0, classes, n), rng.integers(0, classes, m)
centres = 2.0 * rng.normal(size=(classes, features))
X = rng.normal(size=(n, features))
X += centres[y]
T = rng.normal(size=(m, features)) + centres[labels]
TCMNN().fit(X[:2000], y[:2000]).confident_predict(T[:100])
before = time.process_time()
TCMNN().fit(X, y).confident_predict(T)
print(time.process_time() - before, {PEAK_MB})
"""


def bench_tcm_nn_large() -> list[Row]:
    """CPU seconds and peak memory with few features: the k-d tree, on one thread."""
    rows: list[Row] = []
    for n in (200_000, 400_000, 800_000, 1_000_000):
        done = subprocess.run([sys.executable, "-c", LARGE, str(n)], check=True, capture_output=True)
        seconds, memory = map(float, done.stdout.split())
        rows.append(row(f"TCMNN, {n} x 9 rows, CPU", seconds))
        rows.append(row(f"TCMNN, {n} x 9 rows, peak memory", memory, unit="MB"))
    return rows


def gaussian_mixture(n: int, d: int, components: int) -> np.ndarray:
    """A mixture of spherical Gaussians."""
    rng = np.random.default_rng(1)
    centres = rng.normal(scale=4, size=(components, d))
    return centres[rng.integers(0, components, n)] + rng.normal(size=(n, d))


def bench_spanning_tree() -> list[Row]:
    """One tree beside `quitefastmst.mst_euclid`, which has the same total length."""
    needs("quitefastmst")
    import quitefastmst

    quitefastmst.omp_set_num_threads(1)
    spanning_trees(gaussian_mixture(2000, 2, 6))
    rows = []
    for name, X in {
        "mixture of Gaussians, 1,000,000 x 2": gaussian_mixture(1_000_000, 2, 60),
        "mixture of Gaussians, 200,000 x 3": gaussian_mixture(200_000, 3, 20),
    }.items():
        lengths = [spanning_trees(X).distance.sum(), quitefastmst.mst_euclid(X)[0].sum()]
        if not math.isclose(*lengths, rel_tol=1e-9):
            raise AssertionError(f"{name}: our tree and that of quitefastmst have the lengths {lengths}")
        what = f"one tree, {name}, beside quitefastmst"
        rows.append(paired(what, lambda X=X: spanning_trees(X), lambda X=X: quitefastmst.mst_euclid(X)))
    return rows


BENCHMARKS = (bench_usps, bench_online, bench_online_cp, bench_spanning_tree)
WHEN_ASKED = (bench_tcm_nn_large,)
