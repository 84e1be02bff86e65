"""Seconds of the billiard beside the goal and beside plain numpy.

Each function returns rows (name, ours, other, other / ours) in seconds on one thread, kernels compiled
beforehand. Data: (X, y, X_test) with y in -1, 1, as `heart` or `heart_sized` give them.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

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


BENCHMARKS = (bounces, one_chain_of_numpy)
