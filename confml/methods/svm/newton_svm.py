"""`DenseExamples`: the machines of `_liblinear_nodes`, by Newton's method on few attributes."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from confml.errors import ConfmlError
from confml.methods.svm._kernels_newton import newton
from confml.methods.svm.liblinear_nodes import RUNGS

MOST = 200  # Newton steps for one C


class DenseExamples:
    """Examples X (m, d), an array or CSR; made for d up to some hundreds, since d x d systems are solved.

    From one C to the next few rows change sides of the margin, and the Hessian changes by these alone.
    """

    def __init__(self, X):
        X = X.toarray() if hasattr(X, "toarray") else X
        self._inputs = np.hstack([np.ones((len(X), 1)), X])

    def binary_path(
        self,
        rows: np.ndarray,
        targets: np.ndarray,
        Cs: Sequence[float],
        tolerance: float,
        prices: tuple[float, float] = (1.0, 1.0),
    ) -> tuple[np.ndarray, np.ndarray]:
        """As `Nodes.binary_path`: weights (len(Cs), d + 1), the bias first, and seconds (len(Cs),).

        tolerance: how far above its least value the objective may be, as a share of it. Each C starts where
        the next lower rung ended, the lowest at 0, so that what a C gives does not depend on the others.
        Raises ConfmlError where values or C are so large that the equations cannot be solved.
        """
        started = time.thread_time()
        signs = np.where(targets > 0, 1.0, -1.0)
        B = self._inputs[rows] * signs[:, None]
        s = np.where(targets > 0, *map(float, prices))
        weighted = B * s[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            products = weighted.T @ B
        state = (
            np.zeros(B.shape[1]),
            np.zeros(len(B)),
            np.ones(len(B), dtype=bool),
            products,
            weighted.sum(axis=0),
        )
        asked, pending = set(map(float, Cs)), time.thread_time() - started
        rungs = {rung for rung in RUNGS if rung < max(asked)}
        weights, seconds = {}, {}
        for C in sorted(asked | rungs):
            started = time.thread_time()
            here = state if C in rungs else tuple(array.copy() for array in state)
            _solve(B, s, C, *here, tolerance, MOST)
            pending += time.thread_time() - started
            if C in asked:
                weights[C], seconds[C], pending = here[0].copy(), pending, 0.0
        Cs = list(map(float, Cs))
        return np.stack([weights[C] for C in Cs]), np.array([seconds[C] for C in Cs])


def _solve(B, prices, C, *state_and_stops) -> None:
    """`newton`, its failure in words."""
    try:
        newton(B, prices, C, *state_and_stops)
    except np.linalg.LinAlgError:
        largest = float(np.max(np.abs(B)))
        raise ConfmlError(
            f"solver newton cannot solve its equations for C = {C:g} and attributes up to {largest:.3g}",
            hint="scale the attributes (steps: [min-max]), lower C, or take solver: primal",
        ) from None
