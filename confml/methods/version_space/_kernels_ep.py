"""Kernels of expectation propagation for a Gaussian truncated by walls."""

import math

import numpy as np

from confml._jit import kernel


@kernel
def hazard(z):
    """Return phi(z) / Phi(z) of the standard normal distribution; accurate in the lower tail."""
    if z > -3.0:
        return math.sqrt(2.0 / math.pi) * math.exp(-0.5 * z * z) / math.erfc(-z / math.sqrt(2.0))
    # Phi(z) / phi(z) as a continued fraction (Abramowitz and Stegun 26.2.14).
    tail = -z
    for k in range(100, 0, -1):
        tail = -z + k / tail
    return tail


@kernel
def pass_through(levels, covariance, precision, shift, damping):
    """Update the factors of b walls in turn; return the largest change of a level in standard deviations.

    levels (b,), covariance (b, b): posterior moments of the levels f = <w, wall>. The factor of a wall is a
    Gaussian in f, exp(-precision f^2 / 2 + shift f). It is removed from the posterior, which gives the cavity
    distribution; the new factor matches the mean and the variance of the cavity distribution truncated to
    f > 0 (damped). All arrays are updated.
    """
    b = levels.size
    along = np.empty(b)
    largest = 0.0
    for i in range(b):
        variance, level = covariance[i, i], levels[i]
        if not variance > 0.0:
            continue
        cavity = 1.0 / variance - precision[i]
        if not cavity > 0.0:
            continue
        cavity_shift = level / variance - shift[i]
        z = cavity_shift / math.sqrt(cavity)
        h = hazard(z)
        share = max(1.0 - h * (z + h), 1e-10)  # variance ratio of the truncated cavity
        new_precision = cavity * (1.0 / share - 1.0)
        new_shift = (cavity_shift + math.sqrt(cavity) * h) / share - cavity_shift
        change = damping * (new_precision - precision[i])
        shift_change = damping * (new_shift - shift[i])
        precision[i] += change
        shift[i] += shift_change
        scale = 1.0 / (1.0 + change * variance)
        step = (shift_change - change * level) * scale
        largest = max(largest, abs(step) * math.sqrt(variance))
        for j in range(b):
            along[j] = covariance[i, j]
        for j in range(b):
            levels[j] += step * along[j]
            factor = change * scale * along[j]
            row = covariance[j]
            for k in range(b):
                row[k] -= factor * along[k]
    return largest
