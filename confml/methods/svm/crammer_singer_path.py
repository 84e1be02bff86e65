"""`crammer_singer_path`: Crammer and Singer's machine for several values of C, to a given duality gap."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from confml._threads import for_each
from confml.errors import ConfmlError
from confml.methods.svm._kernels_crammer_singer import (
    margin_scores,
    mean_range,
    minimise,
    scale_start,
    weights_of,
)
from confml.methods.svm.linear_rows import check_size, linear_rows

# Each path starts with these increasing values of C, so the start of a fit depends on its own C only.
RUNGS = tuple(2.0**power for power in range(-18, 19, 2))
MOST = 2000  # largest number of turns for one C
WIDER = 30.0  # factor of tau from one C to the next


class Solution(NamedTuple):
    """Weights (c, d + 1), the bias first; objective; duality gap; Newton steps from the first C on."""

    weights: np.ndarray
    objective: float
    gap: float
    steps: int


class _State(NamedTuple):
    """Weights (d + 1, c), multipliers (m, c), their supports and Gram matrices, C, tau, and steps."""

    W: np.ndarray
    P: np.ndarray
    support: np.ndarray
    G: np.ndarray
    C: float
    tau: float
    steps: int

    def copy(self) -> "_State":
        return self._replace(W=self.W.copy(), P=self.P.copy(), support=self.support.copy(), G=self.G.copy())


def crammer_singer_path(
    X, codes: np.ndarray, penalties: np.ndarray, Cs: Sequence[float], relative: float
) -> tuple[dict[float, Solution], dict[float, float]]:
    """Return the solution and the processor seconds for each C.

    Minimises ``1/2 |W|^2 + C sum_i s_i max_k (0, 1 - (f_y(x_i) - f_k(x_i)))``. X (m, d): examples, an array
    or CSR. codes (m,): class numbers from 0, all of which must occur. penalties (c,): s of each class.
    relative: the duality gap is at most this times the smaller of the objective and its difference from
    the objective at W = 0, or a tenth of it times the objective. W is exactly 0 where this is a solution.

    The objective is made smooth by proximal terms around dual multipliers, and minimised by a semismooth
    Newton method. A fit starts from the solution of the next lower value of `RUNGS`, so the result for one C
    does not depend on the other values. Other threads fit the values between the rungs meanwhile. Raises
    ConfmlError if the gap is not reached.
    """
    started = time.thread_time()
    rows, c, D = linear_rows(X), len(penalties), X.shape[1] + 1
    check_size(c * D, "dual")
    costs = np.ascontiguousarray(penalties, dtype=np.float64)[codes]
    asked = set(map(float, Cs))
    chain = [rung for rung in RUNGS if rung <= max(asked)]
    values = sorted(asked.union(chain))
    below = {C: max((rung for rung in chain if rung < C), default=0.0) for C in values}
    # A rung comes before other values with the same start: these are computed by other threads meanwhile.
    order = sorted(values, key=lambda C: (below[C], C not in RUNGS, C))
    starts: dict[float, Future[_State | None]] = {C: Future() for C in values}
    solutions: dict[float, Solution] = {}
    own: dict[float, float] = {}
    errors: dict[float, Exception] = {}

    def solve(C: float, _: None) -> None:
        """Set the solution at C, or its error; no value above one with an error is solved."""
        begun = time.thread_time()
        state: _State | None = None
        copied: _State | None = None
        followers = [later for later in values if below[later] == C]
        try:
            if not below[C]:
                starts[C].set_result(_start(rows, codes, costs, c, D, C))
            before = starts[C].result()
            del starts[C]
            if before is not None and C < min(list(errors), default=np.inf):
                solved, gap, objective = _solve(rows, codes, costs, before, C, relative, keep=C in RUNGS)
                solutions[C] = Solution(np.array(solved.W.T, order="C"), objective, gap, solved.steps)
                copied = solved.copy() if any(later not in RUNGS for later in followers) else None
                state = solved
        except Exception as error:
            errors[C] = error
        finally:
            for later in followers:
                starts[later].set_result(state if later in RUNGS else copied)
            own[C] = time.thread_time() - begun

    pending = time.thread_time() - started
    for_each(solve, order)
    if errors:
        raise errors[min(errors)]
    seconds: dict[float, float] = {}
    for C in values:
        pending += own[C]
        if C in asked:
            seconds[C], pending = pending, 0.0
    return {C: solutions[C] for C in seconds}, seconds


def _start(rows, codes, costs, c: int, D: int, C: float) -> _State:
    """Return the state in which each example is shared by the wrong classes."""
    m = len(codes)
    P = np.full((m, c), 1.0 / (c - 1))
    P[np.arange(m), codes] = 0.0
    W = weights_of(rows, codes, costs, C, P, D)
    tau = mean_range(margin_scores(rows, codes, W))
    grams = np.zeros(((c - 1) * c // 2, D * (D + 1) // 2))
    return _State(W, P, np.zeros((m, c), dtype=np.bool_), grams, C, tau, 0)


def _solve(
    rows, codes, costs, state: _State, C: float, relative: float, keep: bool
) -> tuple[_State, float, float]:
    """Return the state at C, the duality gap and the objective. keep: ``state`` may be changed."""
    state = state if keep else state.copy()
    if state.C < C:
        scale_start(rows, codes, costs, state.C, C, state.W, state.P)
        state = state._replace(tau=state.tau * WIDER)
    objective, gap, tau, steps = minimise(rows, codes, costs, C, *state[:4], state.tau, relative, MOST)
    at_zero = C * float(costs.sum())
    allowed = relative * max(min(objective, at_zero - objective), 0.1 * objective)
    if not gap <= max(allowed, 1e3 * np.finfo(float).eps * at_zero):
        raise ConfmlError(
            f"solver path reached a duality gap of {gap:.3g} instead of {allowed:.3g} for C = {C:g}",
            hint="scale the features (steps: [min-max]), raise tolerance, or use solver: dual",
        )
    return state._replace(C=C, tau=tau, steps=state.steps + steps), float(gap), float(objective)
