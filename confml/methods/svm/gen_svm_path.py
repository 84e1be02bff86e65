"""`gen_svm_path`: GenSVM for several values of the ridge by Newton's method with conjugate gradients."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from confml.methods.svm._kernels_gen_newton import minimise
from confml.methods.svm.linear_rows import check_size, linear_rows

# Each path starts with these decreasing values of the ridge, so the start of a fit depends on its ridge only.
RUNGS = tuple(2.0**power for power in range(18, -19, -2))
MOST = 200  # largest number of Newton steps for one ridge
NARROWER = 3.0  # factor between the widths kappa + 1 that lead to a kappa below 0
FIRST_WIDTH = 1.5

# A minimiser that is used where Newton's method does not converge: (V, ridge) -> (V, objective, iterations).
Fallback = Callable[[np.ndarray, float], tuple[np.ndarray, float, int]]


class Solution(NamedTuple):
    """Coefficients V (1 + d, c - 1), t in the first row; objective; iterations from the first ridge on."""

    V: np.ndarray
    objective: float
    iterations: float


def gen_svm_path(
    inputs,
    codes: np.ndarray,
    corners: np.ndarray,
    rho: np.ndarray,
    kappa: float,
    p: float,
    ridges: Sequence[float],
    tolerance: float,
    fallback: Fallback,
) -> tuple[dict[float, Solution], dict[float, float]]:
    """Return the solution and the seconds of this thread for each ridge.

    Minimises ``sum_i rho_i (sum_j h^p(q_ij))^(1/p) + ridge tr W'W``, see `GenSVM`. inputs (m, d): examples,
    an array or CSR. codes (m,): class numbers. corners (c, c - 1): of the simplex. tolerance: a fit stops
    where the Newton decrement, an estimate of the excess of the objective over its minimum, is at most
    this times the objective. V is exactly 0 where the objective at 0 is within the same distance.

    A fit starts from the solution of the next larger value of `RUNGS`, so the result for one ridge does not
    depend on the other values. With a kappa below 0, the first one starts from solutions with larger values
    of kappa, because at V = 0 the loss has no curvature.
    """
    started = time.thread_time()
    D, K = inputs.shape[1] + 1, corners.shape[1]
    asked = set(map(float, ridges))
    if K == 0:
        return {ridge: Solution(np.zeros((D, 0)), 0.0, 0.0) for ridge in asked}, dict.fromkeys(asked, 0.0)
    check_size(K * D, "lbfgs")
    rows = linear_rows(inputs)
    V, blocks = np.zeros((D, K)), np.zeros((K * (K + 1) // 2, D * (D + 1) // 2))
    fixed = rows, codes, rho, corners
    width = FIRST_WIDTH
    while width > kappa + 1.0 and kappa < 0:
        minimise(*fixed, width - 1.0, p, RUNGS[0], V, blocks, True, 1e3 * tolerance, MOST)
        width /= NARROWER
    # The loss of one example at V = 0, where each q is 0.
    hinge = 1.0 - 0.5 * (kappa + 1.0) if kappa <= 0 else 0.5 / (kappa + 1.0)
    at_zero = float(rho.sum()) * K ** (1.0 / p) * hinge
    solutions: dict[float, Solution] = {}
    seconds: dict[float, float] = {}
    pending, fresh, iterations = time.thread_time() - started, True, 0
    for ridge in sorted(asked | {rung for rung in RUNGS if rung > min(asked)}, reverse=True):
        started = time.thread_time()
        its_V, its_blocks = (V, blocks) if ridge in RUNGS else (V.copy(), blocks.copy())
        objective, steps, converged = minimise(
            *fixed, kappa, p, ridge, its_V, its_blocks, fresh, tolerance, MOST
        )
        if not converged:
            its_V[:], objective, more = fallback(its_V.copy(), ridge)
            steps += more
        total = float(iterations + steps)
        if ridge in RUNGS:
            iterations, fresh = iterations + steps, False
        pending += time.thread_time() - started
        if ridge in asked:
            if at_zero <= objective * (1.0 + tolerance):
                solutions[ridge] = Solution(np.zeros_like(V), at_zero, total)
            else:
                solutions[ridge] = Solution(its_V.copy(), float(objective), total)
            seconds[ridge], pending = pending, 0.0
    return solutions, seconds
