"""LIBLINEAR, thinly: one binary linear support vector machine with a bias."""

from __future__ import annotations

import numpy as np

from confml.methods._liblinear_nodes import DUAL, PRIMAL, Nodes

SOLVERS = {"primal": PRIMAL, "dual": DUAL}  # L2-regularised squared hinge loss


def train_binary(
    X: np.ndarray, targets: np.ndarray, C: float, solver: str, tolerance: float, seed: int
) -> np.ndarray:
    """The weights (d + 1,), the bias first, of ``1/2 |w|^2 + C sum max(0, 1 - y f(x))^2``.

    X: (m, d) float64. targets: (m,), positive where above 0; both kinds must occur. The bias is the weight of
    an attribute that is 1 in every example (``-B 1``), so it counts in |w|. tolerance: LIBLINEAR's ``-e``.
    seed: of the order in which the dual solver takes the examples.
    """
    rows, signs = np.arange(len(X)), np.where(targets > 0, 1.0, -1.0)
    weights, _ = Nodes(X).binary_path(rows, signs, [C], SOLVERS[solver], tolerance, seed, warm=False)
    return weights[0]
