"""TCM-NN beside the floor of any dense method (a float32 matrix product), a dense scan, and other packages.

The floor is the product alone, blocked: m x m for the training pairs and r x m for the test examples; no
distance is formed, none compared. (Ours computes half of the m x m, which is symmetric, and so can be faster
than this floor.) A ratio is the other's seconds over ours: 0.8 of the floor means that we take 1.25 times as
long.
"""

from __future__ import annotations

import functools
import resource
import sys
import tracemalloc

import numpy as np
from _pairs import Row, Skipped, in_threads, paired, seconds_of

from confml.data import load
from confml.errors import ConfmlError
from confml.methods.tcm_nn import TCMNN
from confml.neighbours.distances import squared_distances_to_columns

BLOCK = 512


@functools.cache
def real(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(X, y, T) of a data set's own parts; images of USPS to mean 0 and sd 1 each. Needs the data."""
    try:
        data = load({"name": name})
    except ConfmlError as error:
        raise Skipped(f"{name}: {error.message}") from None
    X = data.X.reshape(len(data.X), -1)
    if name == "usps":
        X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return X[data.train_rows], data.y[data.train_rows], X[data.test_rows]


def floor(X: np.ndarray, T: np.ndarray) -> None:
    """The products that a dense method cannot do without, in float32 blocks, and nothing else."""
    X32, T32 = X.astype(np.float32), T.astype(np.float32)
    room = np.empty((BLOCK, len(X)), np.float32)
    for rows in (X32, T32):
        for start in range(0, len(rows), BLOCK):
            part = rows[start : start + BLOCK]
            np.dot(part, X32.T, out=room[: len(part)])


def run(X, y, T, ks=(1,), engine: str | None = None) -> list:
    """Fit on (X, y) and predict T for each k, in one pass."""
    method = TCMNN()
    method._engine = engine
    return [views["p-value"].scores for _, views in _engine_path(method, X, y, T, ks)]


def _engine_path(method, X, y, T, ks):
    if method._engine is None:
        return method.evaluate_path(X, y, T, [{"k": k} for k in ks])
    if len(ks) != 1:
        raise ValueError("an engine can be chosen for one k only")
    method.set_params(k=ks[0]).fit(X, y)
    return [({"k": ks[0]}, method.confident_predict(T))]


def _against_floor(name: str, ks, what: str, least: float, repeats: int = 5) -> Row:
    X, y, T = real(name)
    run(X[:500], y[:500], T[:50], ks)
    size = f"{name} {len(X)} + {len(T)} x {X.shape[1]}"
    return paired(
        f"TCM-NN {what}, {size}, beside its float32 products", lambda: run(X, y, T, ks), lambda: floor(X, T),
        repeats, goal=least,
    )  # fmt: skip


def bench_usps_k1() -> Row:
    """USPS, k = 1: at most 1.25 times the floor."""
    return _against_floor("usps", (1,), "k=1", 1 / 1.25)


def bench_prediction() -> Row:
    """Prediction of the test rows of USPS with a fitted method, beside the products of these rows."""
    return _prediction("usps", 7)


def bench_mnist_prediction() -> Row:
    """The same for MNIST."""
    return _prediction("mnist", 3)


def _prediction(name: str, repeats: int) -> Row:
    X, y, T = real(name)
    method = TCMNN().fit(X, y)
    method.confident_predict(T[:50])
    X32 = X.astype(np.float32)
    room = np.empty((BLOCK, len(X)), np.float32)

    def products():
        T32 = T.astype(np.float32)
        for start in range(0, len(T32), BLOCK):
            part = T32[start : start + BLOCK]
            np.dot(part, X32.T, out=room[: len(part)])

    size = f"{name} {len(X)} + {len(T)} x {X.shape[1]}"
    what = f"TCM-NN prediction k=1, {size}, beside its float32 products"
    return paired(what, lambda: method.confident_predict(T), products, repeats, goal=1 / 1.1)


def bench_usps_all_k() -> Row:
    """USPS, every k from 1 to 20 in one pass: at most 2.5 times the floor."""
    return _against_floor("usps", tuple(range(1, 21)), "k=1..20", 1 / 2.5)


def bench_mnist() -> Row:
    """MNIST, k = 1: at most 2.5 times its floor and 2.5 GB for the whole process, data and all."""
    X, y, T = real("mnist")
    run(X[:2000], y[:2000], T[:50])
    ours = seconds_of(lambda: run(X, y, T))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    other = seconds_of(lambda: floor(X, T))
    name = f"TCM-NN k=1, mnist {len(X)} + {len(T)} x {X.shape[1]}, beside its float32 products"
    notes = {"repeats": 1, "goal": 1 / 2.5, "peak_GB": round(peak / 1e9, 2), "peak_goal_GB": 2.5}
    return name, ours, other, other / ours, notes


def bench_shuttle() -> Row:
    """Shuttle, k = 1: trees at least twice as fast as our scan of all pairs with a float32 filter."""
    X, y, T = real("shuttle")
    size = f"TCM-NN k=1, shuttle {len(X)} + {len(T)} x {X.shape[1]}, trees, beside"
    return paired(
        f"{size} our scan with a float32 filter", lambda: run(X, y, T), lambda: run(X, y, T, engine="filter"),
        3, goal=2.0,
    )  # fmt: skip


def bench_online() -> Row:
    """USPS online, 9298 steps, k = 1, beside the distances of each example to those before it alone."""
    X, y, T = real("usps")
    data = load({"name": "usps"})
    X, y = np.vstack([X, T]), np.concatenate([y, data.y[data.test_rows]])
    classes = np.unique(y)
    columns = np.ascontiguousarray(X.T)
    room = np.empty(len(X))

    def ours():
        list(TCMNN().evaluate_online(X[:0], y[:0], X, y, classes, [{"k": 1}]))

    def distances():
        for row, x in enumerate(X):
            squared_distances_to_columns(x, columns, 0, room[: row + 1])

    distances()
    return paired(f"TCM-NN online k=1, usps {len(X)} steps, beside its distances", ours, distances, 1)


# ---- other packages, on a part of USPS small enough for them

SMALL, FEW = 1000, 20


def bench_online_cp() -> Row:
    """online-cp's conformal nearest neighbours, scaled down: at least 100 times as slow."""
    try:
        from online_cp.classifiers import ConformalNearestNeighboursClassifier
    except ImportError:
        raise Skipped("online-cp is not installed (pip install 'confml[bench]')") from None
    X, y, T = _small(FEW)
    labels = np.unique(y)
    p_values = np.empty((len(T), len(labels)))

    def other():
        classifier = ConformalNearestNeighboursClassifier(k=1, label_space=labels, rnd_state=0)
        classifier.learn_initial_training_set(X, y)
        for row, x in enumerate(T):
            _, found = classifier.predict(x, epsilon=0.05, return_p_values=True)
            p_values[row] = [found[label] for label in labels]

    row = paired(f"TCM-NN k=1, {_scaled(FEW)}, beside online-cp", lambda: run(X, y, T), other, 3, goal=100.0)
    ours = TCMNN().fit(X, y).confident_predict(T)["p-value"].extra
    low, high = ours["n_greater"] / (SMALL + 1), (ours["n_greater"] + ours["n_equal"]) / (SMALL + 1)
    row[4]["p_values_alike"] = float(np.mean((p_values >= low - 1e-12) & (p_values <= high + 1e-12)))
    return row


def _small(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, T = real("usps")
    run(X[:SMALL], y[:SMALL], T[:rows])
    return X[:SMALL], y[:SMALL], T[:rows]


def _scaled(rows: int) -> str:
    return f"scaled down to {SMALL} + {rows} rows of usps"


# ---- memory


def bench_memory() -> list[Row]:
    """Peak memory beside that of an m x m float32 matrix: it grows with m, not with its square."""
    rng = np.random.default_rng(0)
    rows = []
    for m in (4000, 8000, 16_000, 32_000):
        X, y, T = rng.standard_normal((m, 40)), rng.integers(0, 5, m), rng.standard_normal((500, 40))
        tracemalloc.start()
        run(X, y, T)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        square = 4 * m**2 / 1e6
        rows.append(
            (f"memory of TCM-NN, m = {m}, beside m x m floats", peak, square, square / peak, {"unit": "MB"})
        )
    return rows


def bench_threads() -> Row:
    """USPS on one thread and on two."""
    return _threads("usps")


def bench_mnist_threads() -> Row:
    """MNIST on one thread and on two: at least 1.8 times as fast."""
    return _threads("mnist", goal=1.8)


def _threads(name: str, **notes) -> Row:
    X, y, T = real(name)
    what = f"TCM-NN k=1, {name} {len(X)} + {len(T)} x {X.shape[1]}"
    return in_threads(what, lambda: run(X, y, T)[0].tobytes(), **notes)


BENCHMARKS = (
    bench_usps_k1, bench_prediction, bench_threads, bench_usps_all_k, bench_shuttle, bench_online,
    bench_online_cp, bench_memory,
)  # fmt: skip
WHEN_ASKED = (bench_mnist, bench_mnist_prediction, bench_mnist_threads)
