"""Version spaces as written down: rejection sampling, the paper's billiard in coefficients, great circles."""

import math

import numpy as np


def rbf_matrix(X, Z, sigma):
    """exp(-|x - z|^2 / (2 sigma^2)) one pair at a time."""
    squares = [[sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) for z in Z] for x in X]
    return np.array([[math.exp(-square / (2 * sigma**2)) for square in row] for row in squares])


def rejection_sample(X, y, draws, rng):
    """(k, d) uniform unit vectors that have all rows X (n, d) on the side of y (n,): linear kernel."""
    w = rng.normal(size=(draws, X.shape[1]))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    return w[((w @ X.T) * y > 0).all(axis=1)]


def great_circle_billiard(X, y, w, v, bounces):
    """[(w, v, arc, wall)] of flights on great circles in the space of X itself (linear kernel), by angles."""
    flights, last = [], -1
    for _ in range(bounces):
        arcs = [
            math.pi if j == last else math.atan2(y[j] * (w @ X[j]), -y[j] * (v @ X[j])) for j in range(len(X))
        ]
        wall = int(np.argmin(arcs))
        arc = arcs[wall]
        flights.append((w.copy(), v.copy(), arc, wall))
        w, v = math.cos(arc) * w + math.sin(arc) * v, math.cos(arc) * v - math.sin(arc) * w
        v = v - 2 * (v @ X[wall]) * X[wall] / (X[wall] @ X[wall])
        last = wall
    return flights


def chord_billiard(K, y, alpha, beta, bounces, rng):
    """The paper's section 3.2 in coefficients, full kernel products at every bounce: [(alpha, next, arc)].

    w = sum_i alpha_i phi(x_i), v = sum_i beta_i phi(x_i); K (n, n) of the training points. A direction
    after an escape is drawn among the coefficients.
    """
    flights, last = [], -1
    while len(flights) < bounces:
        at, along = K @ alpha, K @ beta
        with np.errstate(divide="ignore", invalid="ignore"):
            tau = -at / along
        tau[~(y * along < 0)] = np.inf
        if last >= 0:
            tau[last] = np.inf
        wall = int(np.argmin(tau))
        if not np.isfinite(tau[wall]):
            beta = rng.normal(size=len(y))
            if y[last] * (K @ beta)[last] < 0:
                beta = -beta
            continue
        new = alpha + tau[wall] * beta
        new /= math.sqrt(new @ K @ new)
        gap = alpha - new
        arc = math.acos(min(1.0, max(-1.0, 1 - gap @ K @ gap / 2)))
        flights.append((alpha, new, arc))
        beta = beta.copy()
        beta[wall] -= 2 * (K @ beta)[wall] / K[wall, wall]
        alpha, last = new, wall
    return flights


def share_of_arcs(flights, row):
    """Share of great-circle flights on the positive side of ``row``: each arc cut at its sign change."""
    positive = total = 0.0
    for w, v, arc, _ in flights:
        f, g = w @ row, v @ row
        cut = math.atan2(f, -g) if f > 0 else math.atan2(-f, g)
        first = min(cut, arc)
        positive += first if f > 0 else arc - first
        total += arc
    return positive / total
