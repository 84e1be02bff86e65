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
from confml.methods.svm.crammer_singer import CrammerSinger
from confml.methods.svm.gen_svm import GenSVM
from confml.methods.svm.newton_svm import DenseExamples
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM
from confml.methods.svm.smart_svm import SmartSVM

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from _pairs import Row, in_threads, seconds_of  # noqa: E402

CS = [2.0**power for power in range(-18, 19, 2)]
GRID = [{"C": C} for C in CS]
SOLVERS = {"newton": 1e-3, "primal": 2e-4}  # tolerances


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
    """A row for each solver: the same problems, all values of C, ours and LinearSVC, and their excess."""
    X, y = letter()
    codes = np.unique(y, return_inverse=True)[1]
    seconds, found = {}, {}
    for solver, tolerance in SOLVERS.items():
        model = method(solver=solver, tolerance=tolerance)
        model.fit(X[:2000], y[:2000])
        begun = time.thread_time()
        for _ in model.evaluate_path(X, y, X[:1], GRID):
            pass
        seconds[solver] = time.thread_time() - begun
        model._fit_path(X, y, CS, None)
        found[solver] = model.path_
    problems = model._problems(X, codes, None)
    begun = time.thread_time()
    theirs = [[linear_svc(X[one.rows], one.targets, C) for C in CS] for one in problems]
    other = time.thread_time() - begun
    excess = dict.fromkeys([*SOLVERS, "LinearSVC"], 0.0)
    examples = DenseExamples(X)
    for place in range(0, len(problems), 13):
        rows, targets = problems[place].rows, problems[place].targets
        tight, _ = examples.binary_path(rows, targets, CS, 1e-12)
        for number, C in enumerate(CS):
            least = objective(tight[number], X[rows], targets, C)
            reached = {solver: weights[C][place] for solver, weights in found.items()}
            for side, w in {**reached, "LinearSVC": theirs[place][number]}.items():
                excess[side] = max(excess[side], objective(w, X[rows], targets, C) / least - 1)
    return [
        (
            f"{name}, 19 values of C, letter, solver {solver}, beside cold fits of LinearSVC",
            seconds[solver],
            other,
            other / seconds[solver],
            {"our_excess": excess[solver], "its_excess": excess["LinearSVC"]}
            | ({"goal": goal} if solver == "newton" else {}),
        )
        for solver in SOLVERS
    ]


def bench_ovo():
    return _paths("OvO", OvOSVM, 4.0)


def bench_ovr():
    return _paths("OvR", OvRSVM, 5.0)


def bench_tree():
    return _paths("SmartSVM with its Bayes errors", SmartSVM, 5.0)


def bench_gen_svm():
    """A path of 19 lambdas on 150 rows of five classes, kappa 0.5, p 1.5, against literal majorisation."""
    from reference import gen_svm as naive_gen_svm

    rng = np.random.default_rng(0)
    y = np.arange(150) % 5
    X = rng.random((5, 4))[y] + 0.3 * rng.random((150, 4))
    GenSVM.compile_kernels()
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


def yeast() -> tuple[np.ndarray, np.ndarray]:
    """Return four fifths of yeast with features in [0, 1]. Raises DataError where the data are missing."""
    data = load({"name": "yeast-smartsvm"})
    rows = np.random.default_rng(1).permutation(len(data.X))[: 4 * len(data.X) // 5]
    X = np.asarray(data.X, dtype=float)[rows]
    return (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-300), data.y[rows]


def bench_ovo_threads() -> Row:
    """One-vs-one binary classifiers and predictions of letter at 19 values of C, on one thread and on two."""
    X, y = letter()
    last = len(X) - 2000

    def run() -> bytes:
        path = OvOSVM().evaluate_path(X[:last], y[:last], X[last:], GRID)
        return b"".join(views["margin"].scores.tobytes() for _, views in path)

    return in_threads("one-vs-one, letter, 19 values of C", run, goal=1.9)


def bench_crammer_singer_threads() -> Row:
    """The path of Crammer and Singer's machine on yeast at 37 values of C, on one thread and on two.

    19 values are solved one after another, and the others by the other thread meanwhile.
    """
    X, y = yeast()
    grid = [{"C": 2.0**power} for power in range(-18, 19)]

    def run() -> bytes:
        path = CrammerSinger(solver="path").evaluate_path(X, y, X, grid)
        return b"".join(views["margin"].scores.tobytes() for _, views in path)

    return in_threads("Crammer-Singer path, yeast, 37 values of C", run, goal=1.5)


def bench_crammer_singer_path():
    """The exact path against cold fits by LIBLINEAR with its default tolerance, at the same values of C.

    Excess: the largest relative excess of the objective over the dual bound of the path.
    """
    from reference.crammer_singer import objective

    X, y = yeast()
    codes = np.unique(y, return_inverse=True)[1]
    CrammerSinger.compile_kernels()
    Cs = [2.0**power for power in range(-18, 7, 2)]
    models = {
        "path": CrammerSinger(solver="path"),
        "dual": CrammerSinger(tolerance=0.1, random_state=1),
    }
    seconds = {
        name: seconds_of(lambda model=model: model._fit_path(X, y, Cs)) for name, model in models.items()
    }
    excess = dict.fromkeys(models, 0.0)
    for C in Cs:
        best = models["path"].path_[C]
        least = best.objective - best.gap
        for name, model in models.items():
            value = objective(model.path_[C].weights, X, codes, C, np.ones(len(y)))
            excess[name] = max(excess[name], value / least - 1)
    return [
        (
            "Crammer-Singer, 13 values of C up to 64, yeast, beside cold fits of LIBLINEAR",
            seconds["path"],
            seconds["dual"],
            seconds["dual"] / seconds["path"],
            {"our_excess": excess["path"], "its_excess": excess["dual"]},
        )
    ]


def bench_gen_svm_path():
    """Newton's method against L-BFGS, both along the 19 lambdas, for three points of the paper's grid."""
    X, y = yeast()
    GenSVM.compile_kernels()
    ridges = [2.0**power for power in range(18, -19, -2)]
    seconds, found = dict.fromkeys(("path", "lbfgs"), 0.0), {}
    for kappa, p in ((-0.9, 1.0), (0.5, 1.5), (5.0, 2.0)):
        for solver in seconds:
            model = GenSVM(solver=solver, kappa=kappa, p=p)
            seconds[solver] += seconds_of(lambda model=model: model._fit_path(X, y, ridges))
            found[solver, kappa] = np.array([model.path_[ridge][1] for ridge in ridges])
    excess = max(
        float(np.max(found["path", kappa] / found["lbfgs", kappa] - 1)) for kappa in (-0.9, 0.5, 5.0)
    )
    return [
        (
            "GenSVM, 3 times 19 values of lambda, yeast, beside L-BFGS",
            seconds["path"],
            seconds["lbfgs"],
            seconds["lbfgs"] / seconds["path"],
            {"our_excess_over_its": excess},
        )
    ]


def bench_cholesky():
    """A factor and a solution with 2,034 unknowns, as those of fars, against scipy.linalg's."""
    from scipy.linalg import cho_factor, cho_solve

    from confml.methods.svm._kernels_cholesky import factorise, solve_factorised, tiles_for

    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(2034, 2100)), rng.normal(size=2034)
    H, tiles = A @ A.T, tiles_for(2034)
    found = {}

    def ours():
        factorise(H.copy(), tiles)
        found["ours"] = solve_factorised(tiles, b)

    def theirs():
        found["scipy"] = cho_solve(cho_factor(H, lower=True, check_finite=False), b, check_finite=False)

    ours()  # compiles
    mine, other = (min(seconds_of(one) for _ in range(5)) for one in (ours, theirs))
    residuals = {f"residual_{name}": float(np.abs(H @ x - b).max()) for name, x in found.items()}
    return [
        ("Cholesky factor and solution, 2,034 unknowns, beside SciPy", mine, other, other / mine, residuals)
    ]


BENCHMARKS = (
    bench_ovo,
    bench_ovr,
    bench_tree,
    bench_gen_svm,
    bench_ovo_threads,
    bench_crammer_singer_threads,
    bench_crammer_singer_path,
    bench_gen_svm_path,
    bench_cholesky,
)
