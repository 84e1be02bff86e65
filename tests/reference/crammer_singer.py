"""The machine of Crammer and Singer as a quadratic program, solved by scipy: slow, for a few examples."""

from __future__ import annotations

import numpy as np


def objective(W, X, y, C, costs):
    """1/2 |W|^2 + C sum_i costs_i max_k (0, 1 - (f_y - f_k)) for W (c, 1 + d), the bias first."""
    total = 0.5 * np.sum(W**2)
    for x, label, cost in zip(X, y, costs, strict=True):
        f = W @ np.append(1.0, x)
        total += C * cost * max(max(f[k] + (k != label) for k in range(len(W))) - f[label], 0.0)
    return float(total)


def minimum(X, y, classes, C, costs):
    """The least objective, from the primal quadratic program with one slack per example."""
    from scipy.optimize import minimize

    inputs = np.hstack([np.ones((len(X), 1)), X])
    n, D = inputs.shape
    rows, right = [], []
    for i in range(n):
        for k in range(classes):
            if k != y[i]:
                row = np.zeros(classes * D + n)
                row[y[i] * D : (y[i] + 1) * D] += inputs[i]
                row[k * D : (k + 1) * D] -= inputs[i]
                row[classes * D + i] = 1.0
                rows.append(row)
                right.append(1.0)
    A, b = np.array(rows), np.array(right)
    slack = np.concatenate([np.zeros(classes * D), C * np.asarray(costs)])
    found = minimize(
        lambda v: 0.5 * np.sum(v[: classes * D] ** 2) + slack @ v,
        np.concatenate([np.zeros(classes * D), np.ones(n)]),
        jac=lambda v: np.concatenate([v[: classes * D], np.zeros(n)]) + slack,
        method="SLSQP",
        bounds=[(None, None)] * (classes * D) + [(0.0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return objective(found.x[: classes * D].reshape(classes, D), X, y, C, costs)
