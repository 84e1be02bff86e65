"""GenSVM by iterative majorisation, as van den Burg & Groenen (JMLR 17, 2016) minimise it, step by step."""

import numpy as np


def corners(c):
    U = np.zeros((c, c - 1))
    for k in range(1, c + 1):
        for column in range(1, c):
            root = np.sqrt(2 * (column**2 + column))
            U[k - 1, column - 1] = -1 / root if k <= column else column / root if k == column + 1 else 0.0
    return U


def huber(q, kappa):
    return np.where(
        q <= -kappa, 1 - q - (kappa + 1) / 2, np.where(q <= 1, (1 - q) ** 2 / (2 * (kappa + 1)), 0.0)
    )


def differences(V, X, y, U):
    """(n, c) q of every example and class; infinite for its own, whose hinge is 0."""
    z = X @ V[1:] + V[0]
    q = np.array([[z[i] @ (U[y[i]] - U[j]) for j in range(len(U))] for i in range(len(y))])
    q[np.arange(len(y)), y] = np.inf
    return q


def example_weights(y, c, weights):
    counts = np.bincount(y, minlength=c)
    return np.array([len(y) / (counts[k] * c) if weights == "group" else 1.0 for k in y])


def objective(V, X, y, ridge, kappa, p, weights):
    c = V.shape[1] + 1
    errors = huber(differences(V, X, y, corners(c)), kappa)
    rho = example_weights(y, c, weights)
    return np.mean(rho * np.sum(errors**p, axis=1) ** (1 / p)) + ridge * np.sum(V[1:] ** 2)


def simple_majorisation(q, kappa):
    """a, b of a parabola above h that touches it at q: curvature, and half the slope downwards (p = 1)."""
    h = 1 - q - (kappa + 1) / 2
    if q <= -kappa:
        return 0.25 / h, 0.5
    if q <= 1:
        return 1 / (2 * kappa + 2), (1 - q) / (2 * kappa + 2)
    return -0.25 / (0.5 - kappa / 2 - q), 0.0


def power_majorisation(q, kappa, p):
    """The same for h^p, p above 1."""
    h = 0.5 - kappa / 2 - q  # the linear part of the hinge
    middle = 0.25 * p * (2 * p - 1) * ((kappa + 1) / 2) ** (p - 2)
    slope = (
        0.5 * p * h ** (p - 1) if q <= -kappa else p * max(1 - q, 0.0) ** (2 * p - 1) / (2 * kappa + 2) ** p
    )
    if p == 2:
        return 1.5, slope
    if q <= (p + kappa - 1) / (p - 2):
        return 0.25 * p**2 * h ** (p - 2), slope
    if q <= 1:
        return middle, slope
    far = p / (p - 2) * h
    a = 0.25 * p**2 * far ** (p - 2)
    return a, a * (2 * q + kappa - 1) / (p - 2) + 0.5 * p * far ** (p - 1)


def majorise(X, y, ridge, kappa, p, weights, steps=3000, tolerance=1e-12, doubled=50):
    """(V, objectives of the steps): from 0, with doubled steps after the first ``doubled``."""
    n, c = len(X), int(y.max()) + 1
    U, rho = corners(c), example_weights(y, c, weights)
    Z = np.hstack([np.ones((n, 1)), X])
    J = np.diag([0.0] + [1.0] * X.shape[1])
    V = np.zeros((X.shape[1] + 1, c - 1))
    objectives = [objective(V, X, y, ridge, kappa, p, weights)]
    for step in range(steps):
        q = differences(V, X, y, U)
        h = huber(q, kappa)
        alpha, beta = np.zeros(n), np.zeros((n, c - 1))
        for i in range(n):
            rivals = [j for j in range(c) if j != y[i]]
            if np.count_nonzero(h[i] > 0) <= 1:  # then the norm is the one error itself
                omega, parabola = 1.0, lambda value: simple_majorisation(value, kappa)
            else:
                omega = np.sum(h[i] ** p) ** (1 / p - 1) / p
                if p == 1:
                    parabola = lambda value: simple_majorisation(value, kappa)  # noqa: E731
                else:
                    parabola = lambda value: power_majorisation(value, kappa, p)  # noqa: E731
            for j in rivals:
                a, b = parabola(q[i, j])
                alpha[i] += rho[i] * omega * a / n
                beta[i] += rho[i] * omega * b * (U[y[i]] - U[j]) / n
        system = Z.T @ (alpha[:, None] * Z) + ridge * J
        right = Z.T @ beta - ridge * J @ V
        move = np.linalg.lstsq(system, right, rcond=None)[0]
        V = V + (2 * move if step >= doubled else move)
        objectives.append(objective(V, X, y, ridge, kappa, p, weights))
        if step > doubled and abs(objectives[-2] - objectives[-1]) <= tolerance * objectives[-1]:
            break
    return V, np.array(objectives)
