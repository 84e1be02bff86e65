"""`DenseExamples`: binary linear support vector machines by Newton's method, for few features."""

import time
from collections.abc import Sequence

import numpy as np

from confml.errors import ConfmlError
from confml.methods.svm._kernels_newton import newton
from confml.methods.svm.liblinear_nodes import RUNGS

MOST = 200  # largest number of Newton steps for one C


class DenseExamples:
    """Examples X (m, d), an array or CSR, with d up to a few hundred because d x d systems are solved.

    The Hessian is updated by the rows that cross the margin, of which there are few from one C to the next.
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
        penalties: tuple[float, float] = (1.0, 1.0),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return weights (len(Cs), d + 1), the bias first, and seconds (len(Cs),), as `Nodes.binary_path`.

        tolerance: largest relative excess of the objective over its minimum. A fit starts from the solution
        of the next lower value of `RUNGS`, the lowest one from 0, so the result for one C does not depend on
        the other values. Raises ConfmlError if the equations cannot be solved because C or values of X are
        too large.
        """
        started = time.thread_time()
        signs = np.where(targets > 0, 1.0, -1.0)
        B = self._inputs[rows] * signs[:, None]
        s = np.where(targets > 0, *map(float, penalties))
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


def _solve(B, penalties, C, *state_and_stops) -> None:
    """Call `newton`; raise ConfmlError if its equations cannot be solved."""
    try:
        newton(B, penalties, C, *state_and_stops)
    except np.linalg.LinAlgError:
        largest = float(np.max(np.abs(B)))
        raise ConfmlError(
            f"solver newton cannot solve its equations for C = {C:g} and features up to {largest:.3g}",
            hint="scale the features (steps: [min-max]), lower C, or use solver: primal",
        ) from None
