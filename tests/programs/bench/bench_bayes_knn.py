"""How fast Bayesian k-NN is, beside plain numpy doing the same: each function returns
(name, our seconds, the other's seconds, ratio), medians of runs that take turns.

Processor time of one thread, but where chains run side by side: ``make bench ONLY=bayes_knn``.
"""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
from _pairs import Skipped

from confml.methods.bayes_knn import BayesKNN

Result = tuple[str, float, float, float] | tuple[str, float, float, float, dict]


def pima_sized(seed: int = 0):
    """512 + 256 examples of two overlapping classes with 8 attributes, about as hard as pima."""
    rng = np.random.default_rng(seed)
    y = (rng.random(768) < 0.35).astype(int)
    X = rng.standard_normal((768, 8)) + 0.45 * y[:, None]
    return X[:512], y[:512], X[512:]


def vehicle_sized(seed: int = 0):
    """564 + 282 examples of four classes of ten clusters each, in 18 correlated attributes.

    Small clusters keep k near 10, where it lies on vehicle: the time of a proposal grows with k.
    """
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 40, 846)
    y = cluster % 4
    hidden = rng.standard_normal((846, 6)) + 2.0 * rng.standard_normal((40, 6))[cluster]
    X = hidden @ rng.standard_normal((6, 18)) + 0.5 * rng.standard_normal((846, 18))
    X = (X - X[:564].mean(axis=0)) / X[:564].std(axis=0)
    return X[:564], y[:564], X[564:]


def medians(ours, other, rounds: int = 5) -> tuple[float, float]:
    """Median seconds of two functions, run in turns after one run each to warm up."""
    spent = ([], [])
    for round_ in range(rounds + 1):
        for function, seconds in zip((ours, other), spent, strict=True):
            started = time.thread_time()
            function()
            if round_:
                seconds.append(time.thread_time() - started)
    return float(np.median(spent[0])), float(np.median(spent[1]))


def result(name: str, ours: float, other: float) -> Result:
    return name, ours, other, other / ours


def bench_exact() -> list[Result]:
    """Exact fit and predict of the standard model, beside a chain's 80,000 likelihoods in numpy."""
    X, y, new = pima_sized()
    posterior = BayesKNN().fit(X, y).posterior_
    counts, rows = _counts(posterior.training), np.arange(len(y))
    rng = np.random.default_rng(0)

    def chain():
        k, beta, height = 20, 2.0, -np.inf
        for _ in range(80_000):
            new_k = int(rng.integers(1, 201))
            new_beta = abs(beta + rng.normal())
            powers = new_beta / new_k * counts[new_k - 1]
            likelihood = (powers[rows, y] - np.log(np.exp(powers).sum(axis=1))).sum()
            new_height = likelihood - new_beta**2 / 200
            if np.log(rng.random()) < new_height - height:
                k, beta, height = new_k, new_beta, new_height
        return k

    ours, other = medians(lambda: BayesKNN().fit(X, y).confident_predict(new), chain, rounds=3)
    name = "bayes-knn exact, fit and predict, 512 x 8 + 256"
    return [
        (*result(f"{name}, beside 80,000 likelihoods", ours, other), {"goal": 20}),
        (*result(f"{name}, beside 60 ms", ours, 0.06), {"goal": 1}),
    ]


def bench_chain() -> Result:
    """One chain of 80,000 steps, beside as many likelihoods in numpy (a tenth of them, times ten)."""
    X, y, _ = pima_sized()
    counts, rows = _counts(BayesKNN().fit(X, y).posterior_.training), np.arange(len(y))

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            BayesKNN(inference="mcmc", chains=1, random_state=0).fit(X, y)

    def other():
        for step in range(8_000):
            powers = 2.0 / (step % 200 + 1) * counts[step % 200]
            (powers[rows, y] - np.log(np.exp(powers).sum(axis=1))).sum()

    one, two = medians(ours, other, rounds=3)
    return result(
        "bayes-knn, one chain of 80,000 steps, 512 x 8, beside its likelihoods in NumPy", one, 10 * two
    )


def bench_adaptive() -> list[Result]:
    """One proposal of the adaptive model, beside numpy: Gram matrix, partition, counts, likelihood."""
    X, y, _ = vehicle_sized()
    steps = 1000
    one_hot = np.eye(4)[y]
    rng = np.random.default_rng(0)

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            BayesKNN(
                model="adaptive", chains=1, burn_in=steps - 10, samples=10, thin=1, start_k=10, random_state=0
            ).fit(X, y)

    def other():
        for _ in range(20):
            Z = X @ rng.standard_normal((18, 18))
            norms = (Z**2).sum(axis=1)
            distances = norms[:, None] + norms - 2 * Z @ Z.T
            np.fill_diagonal(distances, np.inf)
            near = np.argpartition(distances, 10, axis=1)[:, :10]
            powers = np.exp(3.0 * one_hot[near].mean(axis=1))
            np.log(powers[np.arange(len(y)), y] / powers.sum(axis=1)).sum()

    one, two = medians(ours, other, rounds=3)
    return [
        result("bayes-knn adaptive, one proposal, 564 x 18, beside NumPy", one / steps, two / 20),
        (
            *result("bayes-knn adaptive, one proposal, 564 x 18, beside 1.5 ms", one / steps, 1.5e-3),
            {"goal": 1},
        ),
    ]


def bench_chains() -> list[Result]:
    """Four chains in two threads beside the same in one, by the clock on the wall; needs two free cores."""
    if os.cpu_count() < 2 or os.getloadavg()[0] > 1.0:
        raise Skipped(f"it needs two free cores; the load is {os.getloadavg()[0]:.1f}")
    X, y, _ = vehicle_sized()

    def seconds(n_jobs):
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            settings = {"chains": 4, "burn_in": 490, "samples": 10, "thin": 1, "random_state": 0}
            BayesKNN(model="adaptive", n_jobs=n_jobs, start_k=10, **settings).fit(X, y)
        return time.perf_counter() - started

    seconds(2)
    two, one = (
        float(np.median(times)) for times in zip(*[(seconds(2), seconds(1)) for _ in range(3)], strict=True)
    )
    return [(*result("bayes-knn adaptive, 4 chains in 2 threads, beside 1 thread", two, one), {"goal": 1.5})]


def _counts(training) -> np.ndarray:
    """(200, n, c) class counts among the k = 1 .. 200 nearest of each training example."""
    return training.class_counts(None, 200)


BENCHMARKS = (bench_exact, bench_chain, bench_adaptive, bench_chains)
