"""Bayesian k-NN written down literally: every neighbour sorted, every likelihood a product over rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

TIE = 1e-12


def squared_distance(a, b) -> float:
    """Summed in the order of the attributes."""
    total = 0.0
    for u, v in zip(a, b, strict=True):
        total += (u - v) * (u - v)
    return total


def class_counts(point, X, codes, classes, k, *, leave_out=None, ties="average"):
    """The list of a_j for one point: class counts among its k nearest rows of X, as exact fractions."""
    others = [
        (squared_distance(point, X[row]), row)
        for row in range(len(X))
        if leave_out is None or row != leave_out
    ]
    others.sort()
    counts = [Fraction(0)] * classes
    place = 0
    while place < k:
        anchor = others[place][0]
        group = [row for distance, row in others[place:] if distance <= anchor + TIE * anchor]
        free = k - place
        if ties == "index":
            for row in sorted(group)[:free]:
                counts[codes[row]] += 1
        else:
            share = Fraction(min(free, len(group)), len(group))
            for row in group:
                counts[codes[row]] += share
        place += len(group)
    return counts


def softmax_shares(beta, k, counts):
    """p(y = j | x, beta, k) for every class."""
    powers = [math.exp(beta * float(count - max(counts)) / k) for count in counts]
    return [power / sum(powers) for power in powers]


def log_likelihood(beta, k, all_counts, codes):
    """log L(D | beta, k), the product over training rows taken as a sum of logarithms."""
    total = 0.0
    for counts, code in zip(all_counts, codes, strict=True):
        total += math.log(softmax_shares(beta, k, counts)[code])
    return total


def posterior_summary(
    X, codes, classes, Xt, *, k_max=200, beta_scale=10.0, simple=False, ties="average", nodes=1601
):
    """(mean, sd, envelope, k posterior) on a uniform grid of beta for each k, by Simpson's rule."""
    depth = min(len(X) - 1, k_max)
    log_evidence = np.full(depth, -np.inf)
    means = np.zeros((depth, len(Xt), classes))
    squares = np.zeros((depth, len(Xt), classes))
    majority = np.zeros((depth, len(Xt), classes))
    for k in range(1, depth + 1):
        own = [class_counts(X[i], X, codes, classes, k, leave_out=i, ties=ties) for i in range(len(X))]
        new = [class_counts(x, X, codes, classes, k, ties=ties) for x in Xt]
        betas = np.array([1.0]) if simple else np.linspace(0.0, 9.0 * beta_scale, nodes)
        weights = np.ones(1)
        if not simple:
            weights = np.full(nodes, 2.0)
            weights[1::2] = 4.0
            weights[[0, -1]] = 1.0
            weights *= (betas[1] - betas[0]) / 3.0
        own_floats = [[float(a) for a in counts] for counts in own]
        heights = np.array([log_likelihood(beta, k, own_floats, codes) for beta in betas])
        if not simple:
            heights += 0.5 * math.log(2.0 / math.pi) - math.log(beta_scale) - 0.5 * (betas / beta_scale) ** 2
        top = heights.max()
        masses = np.exp(heights - top) * weights
        log_evidence[k - 1] = top + math.log(masses.sum())
        masses /= masses.sum()
        for row, counts in enumerate(new):
            floats = [float(a) for a in counts]
            shares = np.array([softmax_shares(beta, k, floats) for beta in betas])
            means[k - 1, row] = masses @ shares
            squares[k - 1, row] = masses @ shares**2
            best = [j for j in range(classes) if counts[j] == max(counts)]
            majority[k - 1, row, best] = 1.0 / len(best)
    posterior = np.exp(log_evidence - log_evidence.max())
    posterior /= posterior.sum()
    mean = np.tensordot(posterior, means, 1)
    variance = np.tensordot(posterior, squares, 1) - mean**2
    envelope = np.tensordot(posterior, majority, 1)
    return mean, np.sqrt(np.maximum(variance, 0.0)), envelope, posterior, log_evidence


def accepted_by_exceedance(exceedance, threshold):
    """Return (n,) bool: P(p(y = j | x, theta) > t) >= threshold for a class j, from these (n, c) at t."""
    return np.max(exceedance, axis=1) >= threshold
