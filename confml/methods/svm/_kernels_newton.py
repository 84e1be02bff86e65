"""Compiled function of `newton_svm`: Newton's method for the squared hinge loss."""

import numpy as np

from confml._jit import kernel


@kernel
def newton(B, penalties, C, w, m, active, S, r, tolerance, most):
    """Minimise ``|w|^2 / (4 C) + 1/2 sum s max(0, 1 - b w)^2`` from the start w; return the iterations.

    B (n, D): examples times their targets. penalties (n,): s. State, updated in place: w (D,); m (n,), B w;
    active (n,) bool, m < 1; S (D, D), the sum of s b b' over the active rows (lower triangle); r (D,), the
    sum of s b. Each step goes to the minimum of the quadratic function of the active rows, with a line
    search. The loop ends when this minimum is lower than the objective by at most ``tolerance`` times the
    objective.
    """
    n, D = B.shape
    H = np.empty((D, D))
    for iteration in range(most):
        for a in range(D):
            for b in range(a):
                H[a, b] = H[b, a] = S[a, b]
            H[a, a] = S[a, a] + 0.5 / C
        new = np.linalg.solve(H, r)
        step = new - w
        change = B @ new - m
        value, slope, end = 0.0, 0.0, 0.0
        own, along = 0.0, 0.0
        for a in range(D):
            value += w[a] * w[a] * 0.25 / C
            own += w[a] * step[a] * 0.5 / C
            along += step[a] * step[a] * 0.5 / C
        for i in range(n):
            lack = 1.0 - m[i]
            if lack > 0.0:
                value += 0.5 * penalties[i] * lack * lack
                slope -= penalties[i] * lack * change[i]
            lack -= change[i]
            if lack > 0.0:
                end -= penalties[i] * lack * change[i]
        slope += own
        end += own + along
        if -0.5 * slope <= tolerance * value:
            return iteration
        far = 1.0
        if end > 0.0:
            # The slope along the step is piecewise linear and increasing, so it has one root in between.
            low, high, low_slope, high_slope = 0.0, 1.0, slope, end
            for turn in range(60):
                far = low - low_slope * (high - low) / (high_slope - low_slope)
                if turn % 3 == 2:
                    far = 0.5 * (low + high)
                here = own + far * along
                for i in range(n):
                    lack = 1.0 - m[i] - far * change[i]
                    if lack > 0.0:
                        here -= penalties[i] * lack * change[i]
                if abs(here) <= -1e-3 * slope:
                    break
                if here > 0.0:
                    high, high_slope = far, here
                else:
                    low, low_slope = far, here
        for a in range(D):
            w[a] = new[a] if far == 1.0 else w[a] + far * step[a]
        for i in range(n):
            m[i] += far * change[i]
            now = m[i] < 1.0
            if now != active[i]:
                active[i] = now
                sign = penalties[i] if now else -penalties[i]
                for a in range(D):
                    part = sign * B[i, a]
                    if part != 0.0:
                        r[a] += part
                        for b in range(a + 1):
                            S[a, b] += part * B[i, b]
    return most
