"""Compiled solver of the support vector machine without a bias."""

from confml._jit import kernel


@kernel
def descend(gram, alpha, gradient, C, tolerance, steps):
    """Minimise a Q a / 2 - sum(a) over 0 <= a <= C by coordinate descent; return the number of steps.

    gram (n, n): Q = y_i y_j k(x_i, x_j), with a positive diagonal. alpha (n,): start and result. gradient
    (n,): Q alpha - 1, updated. Each step minimises over the coordinate with the largest decrease. The loop
    ends when no component violates the optimality conditions by more than ``tolerance``.
    """
    n = alpha.size
    for step in range(steps):
        best, gain, violation = -1, 0.0, 0.0
        for i in range(n):
            slope = gradient[i]
            if (slope > 0.0 and alpha[i] <= 0.0) or (slope < 0.0 and alpha[i] >= C):
                continue
            violation = max(violation, abs(slope))
            if slope * slope > gain * gram[i, i]:
                best, gain = i, slope * slope / gram[i, i]
        if violation <= tolerance:
            return step
        new = min(max(alpha[best] - gradient[best] / gram[best, best], 0.0), C)
        change = new - alpha[best]
        alpha[best] = new
        row = gram[best]
        for i in range(n):
            gradient[i] += change * row[i]
    return steps
