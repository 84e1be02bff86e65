"""Kernels of Bayesian k-NN: likelihood and exact posterior over (k, beta).

With a_j of the k nearest in class j, f_j = a_j / k and u_j = f_j - f_own, one training example adds
``-log(1 + sum_{j != own} exp(beta u_j))`` to the log likelihood (section 3.3 of the paper). Training
examples with the same counts are summed once: in two classes there are at most k + 1 different ones.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel

NODES = 48  # Gauss-Legendre nodes over beta for each k: errors of 1e-15 if the mode is well above 0
MANY_NODES = 96  # for a wide density truncated at beta = 0: 48 nodes leave 1e-8 for separable classes
DEPTH = 37.0  # the density is integrated down to exp(-DEPTH) = 1e-16 of its largest value
NEGLIGIBLE = 50.0  # a k with a posterior mass certainly below exp(-NEGLIGIBLE) gets mass 0
ENOUGH = 30.0  # sufficient decrease if the search for the end of the interval steps over DEPTH
LONGEST = 32.0  # length of an interval of beta that one rule of NODES covers with errors below 1e-12
FIRST_PANEL = 16.0  # length of the first panel of a longer interval
PANEL_RATIO = 3.0  # ratio of the ends of each further panel, both counted from the first panel's start


class Terms(NamedTuple):
    """Distinct terms of the log likelihood at one k.

    Row r has the weight weights[r] and the numbers u of values[starts[r]:starts[r + 1]], each counted
    multiples[...] times.
    """

    weights: np.ndarray
    starts: np.ndarray
    values: np.ndarray
    multiples: np.ndarray


@kernel
def likelihood_terms(k, counts, codes):
    """Return the `Terms` at k. counts: (n, c) class counts among the k nearest. codes: (n,) own classes."""
    n, classes = counts.shape
    space = n + k + 1
    weights, starts = np.empty(space), np.empty(space + 1, dtype=np.int64)
    values, multiples = np.empty(space * classes), np.ones(space * classes)
    rows = 0
    fill = 0
    alike = np.zeros(k + 1)  # examples with neighbours in their own and at most one other class
    for i in range(n):
        class_count = counts[i, codes[i]]
        rivals = 0
        for j in range(classes):
            if j != codes[i] and counts[i, j] > 0.0:
                rivals += 1
        if rivals <= 1 and class_count == np.floor(class_count):
            alike[int(class_count)] += 1.0
            continue
        starts[rows], weights[rows] = fill, 1.0
        for j in range(classes):
            if j != codes[i] and counts[i, j] > 0.0:
                values[fill] = (counts[i, j] - class_count) / k
                fill += 1
        if rivals < classes - 1:
            values[fill], multiples[fill] = -class_count / k, classes - 1 - rivals
            fill += 1
        rows += 1
    for matches in range(k + 1):
        if alike[matches] == 0.0:
            continue
        starts[rows], weights[rows] = fill, alike[matches]
        if matches < k:
            values[fill] = (k - matches - matches) / k
            fill += 1
        absent = classes - 1 if matches == k else classes - 2
        if absent > 0:
            values[fill], multiples[fill] = -matches / k, absent
            fill += 1
        rows += 1
    starts[rows] = fill
    return Terms(weights[:rows], starts[: rows + 1], values[:fill], multiples[:fill])


@kernel
def _power(base, exponent):
    """Return base to a small integer power, by squaring."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@kernel
def log_likelihood(beta, terms):
    """Return log L(D | beta, k) from the `Terms` of k.

    The sums of exponentials are multiplied, and one logarithm of the product is taken: twice as fast.
    """
    weights, starts, values, multiples = terms
    total = 0.0
    product = 1.0
    for r in range(weights.size):
        first, stop = starts[r], starts[r + 1]
        weight = weights[r]
        if stop - first == 1 and multiples[first] == 1.0:
            v = beta * values[first]
            total -= weight * max(v, 0.0)
            power_sum = 1.0 + np.exp(-abs(v))
        else:
            top = 0.0
            for t in range(first, stop):
                top = max(top, beta * values[t])
            power_sum = np.exp(-top)
            for t in range(first, stop):
                power_sum += multiples[t] * np.exp(beta * values[t] - top)
            total -= weight * top
        if weight == 1.0:
            product *= power_sum
        elif weight * power_sum < 150.0:  # then the power is below exp(150 / e)
            product *= _power(power_sum, int(weight))
        else:
            total -= weight * np.log(power_sum)
        if product > 1e200:
            total -= np.log(product)
            product = 1.0
    return total - np.log(product)


@kernel
def log_likelihood_slopes(beta, terms):
    """Return the first and second derivative of the log likelihood in beta; the second is not positive."""
    weights, starts, values, multiples = terms
    first_derivative = 0.0
    second_derivative = 0.0
    for r in range(weights.size):
        first, stop = starts[r], starts[r + 1]
        top = 0.0
        for t in range(first, stop):
            top = max(top, beta * values[t])
        total = np.exp(-top)
        mean = 0.0
        mean_square = 0.0
        for t in range(first, stop):
            e = multiples[t] * np.exp(beta * values[t] - top)
            total += e
            mean += e * values[t]
            mean_square += e * values[t] * values[t]
        mean /= total
        mean_square /= total
        first_derivative -= weights[r] * mean
        second_derivative -= weights[r] * (mean_square - mean * mean)
    return first_derivative, second_derivative


@kernel
def log_density(beta, scale, terms):
    """Return log L - beta^2 / (2 scale^2), the log posterior density of beta given k without constants."""
    return log_likelihood(beta, terms) - 0.5 * (beta / scale) ** 2


@kernel
def find_mode(start, scale, terms):
    """Maximise the log density over beta >= 0 by Newton's method: (beta, log density, slope, curvature)."""
    precision = 1.0 / (scale * scale)
    beta = start
    height = log_density(beta, scale, terms)
    for _ in range(200):
        slope, curvature = log_likelihood_slopes(beta, terms)
        slope -= beta * precision
        curvature -= precision
        if beta == 0.0 and slope <= 0.0:
            break
        target = max(0.0, beta - slope / curvature)
        target_height = log_density(target, scale, terms)
        while target_height < height - 1e-12 * abs(height) and abs(target - beta) > 1e-9 * (1.0 + beta):
            target = 0.5 * (target + beta)
            target_height = log_density(target, scale, terms)
        step = abs(target - beta)
        beta, height = target, target_height
        if step <= 1e-6 * (1.0 + beta):  # convergence is quadratic: the next step is about 1e-12
            break
    slope, curvature = log_likelihood_slopes(beta, terms)
    return beta, height, slope - beta * precision, curvature - precision


@kernel
def find_end(mode, height, slope, curvature, direction, scale, terms):
    """Return the beta on one side of the mode where the log density has fallen by about `DEPTH`, at least 0.

    The first guess is that of a parabola. It is stretched or shrunk step by step, and bisected where such a
    step jumps from far too long to too short: wide priors of separable classes fall slowly on the right of
    the mode and at once on the left.
    """
    steep = max(0.0, -slope * direction)  # only a mode at beta = 0 has a slope
    length = 2.0 * DEPTH / (steep + np.sqrt(steep * steep - 2.0 * curvature * DEPTH))
    too_short, too_long = 0.0, np.inf
    for _ in range(200):
        end = mode + direction * length
        if direction < 0.0 and end <= 0.0:
            fall = height - log_density(0.0, scale, terms)
            if fall <= DEPTH + 12.0:
                return 0.0
            end = 0.0
        fall = height - log_density(end, scale, terms)
        if fall < DEPTH:
            if too_long < np.inf and fall >= ENOUGH:
                break
            too_short = length
            length = 0.5 * (too_short + too_long) if too_long < np.inf else length * 1.25
        elif fall > DEPTH + 12.0:
            if too_short > 0.0:
                break
            too_long = min(length, mode) if direction < 0.0 else length
            length = too_long * 0.85
        else:
            break
    return max(0.0, mode + direction * length)


@kernel
def log_densities(betas, scale, terms):
    """Return `log_density` at each of betas (q,)."""
    out = np.empty(betas.size)
    for q in range(betas.size):
        out[q] = log_density(betas[q], scale, terms)
    return out


def panel_ends(low: float, high: float) -> list[float]:
    """Return the ends of the panels that cut [low, high] for composite quadrature, ``low`` included.

    The likelihood varies most near beta = 0. With u_j - u_i = v, its singularities have an imaginary part of
    at least pi / |v| and a real part of at most log(classes) / |v|, so that at a large beta it varies slowly
    and panels may grow in proportion to beta. Separable classes with a wide prior have such densities: the
    class probabilities settle below beta = 20 and the half-normal prior ends at 9 ``beta_scale``.
    """
    ends = [low]
    if high - low > (2.0 * LONGEST if low == 0.0 else LONGEST):
        length = FIRST_PANEL
        while low + PANEL_RATIO * length < high:
            ends.append(low + length)
            length *= PANEL_RATIO
        ends.append(low + length)
    ends.append(high)
    return ends
