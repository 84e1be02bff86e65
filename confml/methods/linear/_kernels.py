"""Kernels of mistake-driven learning: the additive rule (perceptron) and the multiplicative rule (WINNOW).

Training examples are presented one by one in their order; after each epoch the weights are evaluated on all
of them. The kernel sets ``weights`` to those of the best epoch and returns (presentations up to the last
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
def learn_from_mistakes(X, targets, weights, epochs, rate, by_sum, times_input, alpha):
    """Apply a rule to each of X (m, d) with targets (m,) 0 or 1 in turn; weights (d + 1,) is updated.

    alpha = 0: ``w_i += rate (c - h) x_i`` (Kubat 2015, eq. 4.10). by_sum: use the weighted sum instead of h.
    times_input: whether the factor x_i is used. alpha > 0: multiply or divide ``w_i`` by alpha for x_i >= 1/2
    (eq. 4.16); the bias does not change.
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
            output = 1.0 if total > 0.0 else 0.0
            if by_sum:
                output = total
            difference = targets[j] - output
            if difference == 0.0:
                continue
            last_change = presentations
            if alpha == 0.0:
                weights[0] += rate * difference
            for i in range(d):
                if alpha == 0.0:
                    weights[i + 1] += rate * difference * (X[j, i] if times_input else 1.0)
                elif X[j, i] >= 0.5:
                    changed = weights[i + 1] / alpha if difference < 0.0 else weights[i + 1] * alpha
                    weights[i + 1] = min(max(changed, SMALLEST), LARGEST)
        done = epoch + 1
        if not np.isfinite(np.sum(np.abs(weights))):
            break
        wrong = mistakes_of(X, targets, weights)
        if wrong < fewest:
            fewest = wrong
            best[:] = weights
        if wrong == 0:
            break
    weights[:] = best
    return last_change, done, mistakes_of(X, targets, weights)
