"""Kernels of expectation propagation for a Gaussian that is cut off by walls."""

from __future__ import annotations

import math

from confml._jit import kernel


@kernel
def hazard(z):
    """phi(z) / Phi(z) of the standard normal distribution, also far in the lower tail."""
    if z > -3.0:
        return math.sqrt(2.0 / math.pi) * math.exp(-0.5 * z * z) / math.erfc(-z / math.sqrt(2.0))
    # Phi(z) / phi(z) as a continued fraction (Abramowitz and Stegun 26.2.14).
    tail = -z
    for k in range(100, 0, -1):
        tail = -z + k / tail
    return tail


@kernel
def sweep(walls, mean, covariance, precision, shift, damping):
    """One pass over all walls (n, r); returns the largest change of a wall's level in standard deviations.

    Each wall's factor is held as a Gaussian in the level f = <w, wall>, exp(-precision f^2 / 2 + shift f).
    It is taken out of the posterior (mean (r,), covariance (r, r)), the truncation [f > 0] is put in, and the
    factor is set so that mean and variance of f come out the same (damped). All arrays are updated.
    """
    n, r = walls.shape
    along = mean.copy()
    largest = 0.0
    for i in range(n):
        wall = walls[i]
        variance, level = 0.0, 0.0
        for a in range(r):
            total = 0.0
            row = covariance[a]
            for b in range(r):
                total += row[b] * wall[b]
            along[a] = total
            variance += total * wall[a]
            level += mean[a] * wall[a]
        if not variance > 0.0:
            continue
        cavity = 1.0 / variance - precision[i]
        if not cavity > 0.0:
            continue
        cavity_shift = level / variance - shift[i]
        z = cavity_shift / math.sqrt(cavity)
        h = hazard(z)
        share = max(1.0 - h * (z + h), 1e-10)  # of the cavity's variance that truncation leaves
        new_precision = cavity * (1.0 / share - 1.0)
        new_shift = (cavity_shift + math.sqrt(cavity) * h) / share - cavity_shift
        change = damping * (new_precision - precision[i])
        shift_change = damping * (new_shift - shift[i])
        precision[i] += change
        shift[i] += shift_change
        scale = 1.0 / (1.0 + change * variance)
        step = (shift_change - change * level) * scale
        largest = max(largest, abs(step) * math.sqrt(variance))
        for a in range(r):
            mean[a] += step * along[a]
            factor = change * scale * along[a]
            row = covariance[a]
            for b in range(r):
                row[b] -= factor * along[b]
    return largest
