"""LIBLINEAR, thinly: one binary linear support vector machine with a bias."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref

import numpy as np

SOLVERS = {"primal": 2, "dual": 1}  # L2-regularised squared hinge loss


def train_binary(
    X: np.ndarray, targets: np.ndarray, C: float, solver: str, tolerance: float, seed: int
) -> np.ndarray:
    """The weights (d + 1,), the bias first, of ``1/2 |w|^2 + C sum max(0, 1 - y f(x))^2``.

    X: (m, d) float64. targets: (m,), positive where above 0; both kinds must occur. The bias is the weight of
    an attribute that is 1 in every example (``-B 1``), so it counts in |w|. tolerance: LIBLINEAR's ``-e``.
    seed: the dual solver permutes by the C library's generator, which is process-wide and started here; never
    run two fits of it at once in threads.
    """
    from liblinear.liblinear import feature_node, liblinear, parameter, problem

    m, d = X.shape
    # Every example as d + 1 nodes (attribute number from 1, value), the bias behind them, and an end mark.
    nodes = np.empty((m, d + 2), dtype=np.dtype(feature_node))
    nodes["index"] = np.append(np.arange(1, d + 2), -1)
    nodes["value"][:, :d] = X
    nodes["value"][:, d:] = 1.0
    labels = np.where(targets > 0, 1.0, -1.0)
    order = np.argsort(-labels, kind="stable")  # the class of the first example gets the positive weights
    rows = nodes.ctypes.data + order * nodes.strides[0]
    pointers = np.ascontiguousarray(rows.astype(np.uintp))
    labels = np.ascontiguousarray(labels[order])

    task = problem.__new__(problem)
    task.l, task.n, task.bias = m, d + 1, 1.0
    task.y = labels.ctypes.data_as(POINTER(ctypes.c_double))
    task.x = pointers.ctypes.data_as(POINTER(POINTER(feature_node)))
    options = parameter(f"-s {SOLVERS[solver]} -c {C!r} -e {tolerance!r} -B 1 -q")
    if solver == "dual":
        ctypes.CDLL(None).srand(ctypes.c_uint(seed % 2**31))
    trained = liblinear.train(byref(task), byref(options))
    try:
        weights = np.ctypeslib.as_array(trained.contents.w, (d + 1,)).copy()
    finally:
        liblinear.free_and_destroy_model(byref(trained))
    return np.append(weights[d], weights[:d])
