"""Linear SVMs put together beside scikit-learn's LinearSVC, and GenSVM beside iterative majorisation.

19 values of C, 2^-18 to 2^18, on nine tenths of letter (one inner fold), one thread. The machines are the
same: squared hinge loss, a bias that counts in |w|. LinearSVC starts anew at each C with its own defaults;
ours goes along C. Notes: the largest relative excess of the objective over a tight reference, of ours and of
the other, on every 13th machine.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

from confml.data import load
from confml.methods.svm.gen_svm import GenSVM
from confml.methods.svm.liblinear_nodes import PRIMAL, Nodes
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM
from confml.methods.svm.smart_svm import SmartSVM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from _pairs import Row, in_threads  # noqa: E402

CS = [2.0**power for power in range(-18, 19, 2)]
GRID = [{"C": C} for C in CS]
TOLERANCE = 2e-4


def letter() -> tuple[np.ndarray, np.ndarray]:
    """Nine tenths of letter, attributes in [0, 1]; DataError where the data are missing."""
    data = load({"name": "letter"})
    rows = np.random.default_rng(1).permutation(len(data.X))[: 9 * len(data.X) // 10]
    X = data.X[rows]
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), data.y[rows]


def objective(w, X, t, C) -> float:
    return float(0.5 * w @ w + C * np.sum(np.maximum(0, 1 - t * (X @ w[1:] + w[0])) ** 2))


def linear_svc(X, t, C) -> np.ndarray:
    """Weights of scikit-learn's machine, the bias first."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = LinearSVC(C=C, dual="auto").fit(X, t)
    return np.append(machine.intercept_, machine.coef_)


def _paths(name: str, method, goal: float) -> list[tuple]:
    """The same problems, all values of C, ours and LinearSVC, and their excess."""
    X, y = letter()
    codes = np.unique(y, return_inverse=True)[1]
    model = method(tolerance=TOLERANCE)
    model.fit(X[:2000], y[:2000])
    begun = time.thread_time()
    for _ in model.evaluate_path(X, y, X[:1], GRID):
        pass
    seconds = time.thread_time() - begun
    model._fit_path(X, y, CS, None)
    problems = model._problems(X, codes, None)
    begun = time.thread_time()
    theirs = [[linear_svc(X[one.rows], one.targets, C) for C in CS] for one in problems]
    other = time.thread_time() - begun
    excess = {"ours": 0.0, "LinearSVC": 0.0}
    nodes = Nodes(X)
    for place in range(0, len(problems), 13):
        rows, targets = problems[place].rows, problems[place].targets
        tight, _ = nodes.binary_path(rows, targets, CS, PRIMAL, 1e-9)
        for number, C in enumerate(CS):
            least = objective(tight[number], X[rows], targets, C)
            for side, w in {"ours": model.path_[C][place], "LinearSVC": theirs[place][number]}.items():
                excess[side] = max(excess[side], objective(w, X[rows], targets, C) / least - 1)
    return [
        (
            f"{name}, 19 values of C, letter, beside cold fits of LinearSVC",
            seconds,
            other,
            other / seconds,
            {"our_excess": excess["ours"], "its_excess": excess["LinearSVC"], "goal": goal},
        )
    ]


def bench_ovo():
    return _paths("OvO", OvOSVM, 2.5)


def bench_ovr():
    return _paths("OvR", OvRSVM, 2.5)


def bench_tree():
    return _paths("SmartSVM with its Bayes errors", SmartSVM, 1.5)


def bench_gen_svm():
    """A path of 19 lambdas on 150 rows of five classes, kappa 0.5, p 1.5, against literal majorisation."""
    from reference import gen_svm as naive_gen_svm

    rng = np.random.default_rng(0)
    y = np.arange(150) % 5
    X = rng.random((5, 4))[y] + 0.3 * rng.random((150, 4))
    GenSVM().fit(X, y)  # compiles its kernels
    grid = [{"ridge": 2.0**power} for power in range(-18, 19, 2)]
    found = {}

    def ours():
        for point, views in GenSVM(kappa=0.5, p=1.5).evaluate_path(X, y, X, grid):
            found[point["ridge"]] = views.fit_metrics["objective"]

    begun = time.thread_time()
    ours()
    mine = time.thread_time() - begun
    begun, excess = time.thread_time(), -np.inf
    for point in grid:
        _, reached = naive_gen_svm.majorise(X, y, point["ridge"], 0.5, 1.5, "unit", steps=60, tolerance=1e-9)
        excess = max(excess, found[point["ridge"]] / reached[-1] - 1)
    other = time.thread_time() - begun
    return [
        (
            "GenSVM, 19 values of lambda, 150 rows, beside literal majorisation",
            mine,
            other,
            other / mine,
            {"our_excess": float(excess)},
        )
    ]


def bench_ovo_threads() -> Row:
    """One-vs-one binary classifiers and predictions of letter at 19 values of C, on one thread and on two."""
    X, y = letter()
    last = len(X) - 2000

    def run() -> bytes:
        path = OvOSVM().evaluate_path(X[:last], y[:last], X[last:], GRID)
        return b"".join(views["margin"].scores.tobytes() for _, views in path)

    return in_threads("one-vs-one, letter, 19 values of C", run, goal=1.9)


BENCHMARKS = (
    bench_ovo,
    bench_ovr,
    bench_tree,
    bench_gen_svm,
    bench_ovo_threads,
)
