"""Kernels of mistake-driven learning: the additive rule (perceptron) and the multiplicative rule (WINNOW).

Training examples are presented one by one in their order; after each epoch the weights are evaluated on all
of them. Both kernels set ``weights`` to those of the best epoch and return (presentations up to the last
change of weights, epochs, mistakes of the returned weights).
"""

import numpy as np

from confml._jit import kernel

# Bounds of WINNOW's weights, so that no weight reaches 0 or infinity.
SMALLEST, LARGEST = 1e-100, 1e100


@kernel
def weighted_sum(row, weights):
    """Return weights[0] + sum of weights[i + 1] row[i], in feature order."""
    total = weights[0]
    for i in range(row.size):
        total += weights[i + 1] * row[i]
    return total


@kernel
def mistakes_of(X, targets, weights):
    """Return the number of the m examples that are on the wrong side of 0."""
    wrong = 0
    for j in range(len(X)):
        wrong += (weighted_sum(X[j], weights) > 0.0) != (targets[j] == 1)
    return wrong


@kernel
def additive(X, targets, weights, rate, epochs, by_sum, times_input):
    """Apply ``w_i += rate (c - h) x_i`` to X (m, d) with targets (m,) 0 or 1 and weights (d + 1,).

    by_sum: use the weighted sum instead of h. times_input: whether the factor x_i is used.
    """
    m, d = X.shape
    best = weights.copy()
    fewest = m + 1
    presentations = 0
    last_change = 0
    done = 0
    for epoch in range(epochs):
        for j in range(m):
            total = weighted_sum(X[j], weights)
            presentations += 1
            given = 1.0 if total > 0.0 else 0.0
            if by_sum:
                given = total
            difference = targets[j] - given
            if difference == 0.0:
                continue
            last_change = presentations
            weights[0] += rate * difference
            for i in range(d):
                weights[i + 1] += rate * difference * (X[j, i] if times_input else 1.0)
        done = epoch + 1
        if not np.isfinite(np.sum(np.abs(weights))):
            break
        wrong = mistakes_of(X, targets, weights)
        if wrong < fewest:
            fewest = wrong
            for i in range(d + 1):
                best[i] = weights[i]
        if wrong == 0:
            break
    for i in range(d + 1):
        weights[i] = best[i]
    return last_change, done, mistakes_of(X, targets, weights)


@kernel
def multiplicative(X, targets, weights, alpha, threshold, epochs):
    """Multiply or divide ``w_i`` by alpha for x_i >= 1/2; X (m, d), targets (m,) 0 or 1, weights (d + 1,).

    weights[0] is minus the threshold and does not change.
    """
    m, d = X.shape
    weights[0] = -threshold
    best = weights.copy()
    fewest = m + 1
    presentations = 0
    last_change = 0
    done = 0
    for epoch in range(epochs):
        for j in range(m):
            positive = weighted_sum(X[j], weights) > 0.0
            presentations += 1
            if positive == (targets[j] == 1):
                continue
            last_change = presentations
            for i in range(d):
                if X[j, i] >= 0.5:
                    changed = weights[i + 1] / alpha if positive else weights[i + 1] * alpha
                    weights[i + 1] = min(max(changed, SMALLEST), LARGEST)
        done = epoch + 1
        wrong = mistakes_of(X, targets, weights)
        if wrong < fewest:
            fewest = wrong
            for i in range(d + 1):
                best[i] = weights[i]
        if wrong == 0:
            break
    for i in range(d + 1):
        weights[i] = best[i]
    return last_change, done, fewest
