"""Seconds of the billiard beside full kernel products, plain numpy, hit-and-run and Gibbs sampling.

Each function returns rows (name, ours, other, other / ours) in seconds on one thread, kernels compiled
beforehand; `samples_per_second` gives seconds per effective sample. Data: (X, y, X_test) with y in -1, 1, as
`heart` or `heart_sized` give them.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from confml.measures.chains import effective_sample_size
from confml.methods.version_space.billiard import BilliardSettings, sample
from confml.methods.version_space.kernel_functions import KernelFunction
from confml.methods.version_space.version_space import RangeSpace, VersionSpace

sys.path.insert(0, str(Path(__file__).parents[2]))
import reference.bayes_transduction as naive  # noqa: E402

SIGMA = 10.0
BOUNCES = 100_000


def heart(split: int = 0):
    """Statlog heart, standardised: 162 training rows and 108 test rows. Needs the data."""
    from confml.data import load

    data = load({"name": "heart"})
    order = np.random.default_rng(split).permutation(len(data.y))
    train, test = order[:162], order[162:]
    X = (data.X - data.X[train].mean(axis=0)) / data.X[train].std(axis=0)
    return X[train], np.where(data.y[train] == 2, 1.0, -1.0), X[test]


def heart_sized(seed: int = 0):
    """Drawn data of heart's size and difficulty, where the real ones are not at hand."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(270) < 0.55, -1.0, 1.0)
    X = rng.normal(size=(270, 13)) + 0.35 * y[:, None]
    return X[:162], y[:162], X[162:]


class Problem:
    """Kernel matrices and the version space of one training set."""

    def __init__(self, X, y, X_test, sigma: float = SIGMA):
        kernel = KernelFunction("rbf", sigma)
        self.y, self.K, self.K_test = y, kernel(X, X), kernel(X, X_test)
        self.space = VersionSpace.of(RangeSpace.of(self.K, 0.0), y)

    def billiard(self, bounces: int, chains: int = 4, burn_in: float = 0.0, seed: int = 1):
        """Return the trajectory and the volumes at the test rows."""
        trajectory = sample(
            self.space, BilliardSettings("geodesic", bounces, burn_in, 4 * math.pi, chains), seed
        )
        return trajectory, trajectory.volumes(self.K_test)


def _best(run, repeats: int) -> float:
    """The least of several times of this thread: the machine may be shared."""
    seconds = []
    for _ in range(repeats):
        begun = time.thread_time()
        run()
        seconds.append(time.thread_time() - begun)
    return min(seconds)


def bounces(data=None, repeats: int = 25):
    """100,000 bounces for all test rows, beside the goal of 0.2 s."""
    problem = Problem(*(data or heart()))
    problem.billiard(1000)
    with threadpool_limits(1):
        ours = _best(lambda: problem.billiard(BOUNCES), repeats)
    return [("bayes-transduction, 100,000 bounces, beside 0.2 s", ours, 0.2, 0.2 / ours)]


@numba.njit(cache=False)
def compiled_products(K, K_test, y, alpha, beta, escapes, bounces):
    """Section 3.2 of the paper as it stands, all kernel products at every bounce, compiled: (m,) shares.

    escapes (e, n): coefficients of random directions.
    """
    n, m = K_test.shape
    a, b, last, escaped = alpha.copy(), beta.copy(), -1, 0
    plus, total = np.zeros(m), 0.0
    for _ in range(bounces):
        wall, tau = -1, np.inf
        for j in range(n):
            level, slope = 0.0, 0.0
            for i in range(n):
                level += a[i] * K[j, i]
                slope += b[i] * K[j, i]
            if j != last and y[j] * slope < 0 and -level / slope < tau:
                wall, tau = j, -level / slope
        if wall < 0:
            b = escapes[escaped % len(escapes)].copy()
            escaped += 1
            continue
        new = a + tau * b
        square, gap = 0.0, 0.0
        for j in range(n):
            for i in range(n):
                square += new[j] * new[i] * K[j, i]
        new /= math.sqrt(square)
        for j in range(n):
            for i in range(n):
                gap += (a[j] - new[j]) * (a[i] - new[i]) * K[j, i]
        arc = math.acos(1.0 - min(gap, 4.0) / 2.0)
        for t in range(m):
            side = 0.0
            for i in range(n):
                side += (a[i] + new[i]) * K_test[i, t]
            plus[t] += arc if side > 0 else 0.0
        total += arc
        slope = 0.0
        for i in range(n):
            slope += b[i] * K[wall, i]
        b[wall] -= 2.0 * slope / K[wall, wall]
        a, last = new, wall
    return plus / total


def full_products(data=None, literal: int = 300, repeats: int = 25):
    """Per bounce, beside the paper's algorithm with kernel products over training and test rows each time.

    Compiled as it stands in the paper; and with its products shared and done by BLAS.
    """
    problem = Problem(*(data or heart()))
    problem.billiard(1000)
    K, y = problem.K, problem.y
    everything = np.hstack([K, problem.K_test])
    basis, start = problem.space.space.basis, problem.space.start
    alpha = basis @ start
    rng = np.random.default_rng(0)
    beta = basis @ rng.normal(size=len(start))

    def products_over_all():
        """Section 3.2 with O(l (l + m)) work a bounce: F and V anew, lengths by w'Kw."""
        a, b, last = alpha.copy(), beta.copy(), -1
        plus, total = np.zeros(problem.K_test.shape[1]), 0.0
        for _ in range(literal):
            F, V = a @ everything, b @ everything
            level, slope = y * F[: len(y)], y * V[: len(y)]
            tau = np.where(slope < 0, level / np.maximum(-slope, 1e-300), np.inf)
            if last >= 0:
                tau[last] = np.inf
            wall = int(np.argmin(tau))
            if not np.isfinite(tau[wall]):
                b = basis @ rng.normal(size=len(start))
                continue
            new = a + tau[wall] * b
            new = new / math.sqrt(new @ K @ new)
            gap = a - new
            arc = math.acos(1 - min(gap @ K @ gap, 4.0) / 2)
            plus += arc * ((a + new) @ problem.K_test > 0)
            total += arc
            b = b.copy()
            b[wall] -= 2 * (K[wall] @ b) / K[wall, wall]
            a, last = new, wall
        return plus / total

    with threadpool_limits(1):
        ours = _best(lambda: problem.billiard(BOUNCES), repeats) / BOUNCES
        by_blas = _best(products_over_all, repeats) / literal
        escapes = rng.normal(size=(10, len(start))) @ basis.T
        compiled_products(K, problem.K_test, y, alpha, beta, escapes, 2)
        compiled = _best(
            lambda: compiled_products(K, problem.K_test, y, alpha, beta, escapes, literal), repeats
        )
        compiled /= literal
    return [
        ("bayes-transduction, one bounce, beside full kernel products", ours, compiled, compiled / ours),
        (
            "bayes-transduction, one bounce, beside full kernel products by BLAS",
            ours,
            by_blas,
            by_blas / ours,
        ),
    ]


def one_chain_of_numpy(data=None, literal: int = 2000, repeats: int = 25):
    """Per bounce, one chain, beside the same algorithm with cached products in plain numpy."""
    problem = Problem(*(data or heart()))
    problem.billiard(1000, chains=1)
    basis, start = problem.space.space.basis, problem.space.start
    v = np.random.default_rng(0).normal(size=len(start))
    v -= (v @ start) * start
    v /= np.linalg.norm(v)

    def numpy_chain():
        return naive.numpy_chain(problem.K, problem.y, problem.K_test, basis @ start, basis @ v, literal)

    with threadpool_limits(1):
        ours = _best(lambda: problem.billiard(BOUNCES, chains=1), repeats) / BOUNCES
        other = _best(numpy_chain, repeats) / literal
    return [("bayes-transduction, one bounce of one chain, beside NumPy", ours, other, other / ours)]


# ---- other samplers of the same version space, written for this comparison


@numba.njit(cache=False)
def hit_and_run(walls, products_with, w, steps, every, seed):
    """(kept, m) <w, phi(x)> of a walk on the sphere: a random great circle, a uniform point of its arc.

    walls (n, r); products_with (m, r) coordinates of the test rows.
    """
    np.random.seed(seed)
    n, r = walls.shape
    out = np.empty((steps // every, products_with.shape[0]))
    F = walls @ w
    for step in range(steps):
        v = np.random.standard_normal(r)
        v -= (v @ w) * w
        v /= math.sqrt(v @ v)
        V = walls @ v
        ahead, behind = -np.inf, -np.inf  # cotangents of the ways to the next walls
        for j in range(n):
            ratio = V[j] / F[j]
            ahead, behind = max(ahead, -ratio), max(behind, ratio)
        low, high = -math.atan2(1.0, behind), math.atan2(1.0, ahead)
        angle = low + np.random.random() * (high - low)
        w = math.cos(angle) * w + math.sin(angle) * v
        w /= math.sqrt(w @ w)
        F = walls @ w
        if (step + 1) % every == 0:
            out[step // every] = products_with @ w
    return out


@numba.njit(cache=False)
def gibbs(precision, y, F, steps, every, seed, to_test):
    """(kept, m) levels at the test rows: each F_i of a Gaussian in turn, on the side of y_i given the others.

    precision (n, n) of F (n,), which is updated; to_test (n, m) takes F to the test rows.
    """
    np.random.seed(seed)
    n = F.size
    out = np.empty((steps // every, to_test.shape[1]))
    for step in range(steps):
        for i in range(n):
            sd = 1.0 / math.sqrt(precision[i, i])
            total = 0.0
            for j in range(n):
                total += precision[i, j] * F[j]
            mean = y[i] * (F[i] - total * sd * sd)
            # A normal variable above 0: by plain draws, or Robert's exponential ones in the tail.
            edge = -mean / sd
            if edge < 0.5:
                x = np.random.standard_normal()
                while x < edge:
                    x = np.random.standard_normal()
            else:
                rate = 0.5 * (edge + math.sqrt(edge * edge + 4.0))
                while True:
                    x = edge - math.log(1.0 - np.random.random()) / rate
                    if math.log(1.0 - np.random.random()) <= -0.5 * (x - rate) ** 2:
                        break
            F[i] = y[i] * (mean + sd * x)
        if (step + 1) % every == 0:
            out[step // every] = F @ to_test
    return out


def samples_per_second(data=None, seconds: float = 3.0):
    """Seconds per effective sample (median over test rows that are in doubt): billiard, and the others."""
    problem = Problem(*(data or heart()))
    space = problem.space.space
    coordinates = np.ascontiguousarray(space.coordinates(problem.K_test).T)
    jitter = 1e-10 * np.trace(problem.K) / len(problem.K)
    precision = np.linalg.inv(problem.K + jitter * np.eye(len(problem.K)))
    to_test = precision @ problem.K_test
    F = space.points @ problem.space.start
    problem.billiard(1000)

    def walk(steps):
        return hit_and_run(problem.space.walls, coordinates, problem.space.start, steps, 20, 1)

    def sweeps(steps):
        return gibbs(precision, problem.y, F.copy(), steps, 1, 1, to_test)

    walk(20)
    sweeps(2)
    with threadpool_limits(1):
        begun = time.thread_time()
        _, shares = problem.billiard(1_000_000, burn_in=0.1)
        spent = time.thread_time() - begun
        doubt = (shares.positive > 0.05) & (shares.positive < 0.95)
        ours = spent / np.median(shares.ess[doubt])
        rows = []
        for name, run in (("hit-and-run", walk), ("Gibbs", sweeps)):
            begun = time.thread_time()
            run(200)
            count = int(200 * seconds / (time.thread_time() - begun)) // 20 * 20
            begun = time.thread_time()
            levels = run(count)
            spent = time.thread_time() - begun
            levels = levels[len(levels) // 10 :]
            ess = [
                effective_sample_size((levels[None, :, j] > 0).astype(float)) for j in np.flatnonzero(doubt)
            ]
            other = spent / np.median(ess)
            gap = np.abs((levels > 0).mean(axis=0) - shares.positive)[doubt].mean()
            name = f"bayes-transduction, one effective sample, beside {name} (p differ by {gap:.3f})"
            rows.append((name, ours, other, other / ours))
    return rows


BENCHMARKS = (bounces, full_products, one_chain_of_numpy, samples_per_second)


if __name__ == "__main__":
    for benchmark in BENCHMARKS:
        for name, ours, other, ratio in benchmark():
            print(f"{name:<70}{ours:12.3e} s{other:12.3e} s{ratio:10.1f}x")
