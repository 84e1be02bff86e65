"""Kernels of Bayesian k-NN: predictions from a posterior over (k, beta).

They compute means, variances and envelopes of the class probabilities, and the posterior probability that
they exceed a threshold. The posterior is given by nodes with masses (quadrature nodes or draws), or by the
distribution function of beta at each k.
"""

import numpy as np

from confml._jit import kernel


@kernel
def _moments(first, second, absent, betas, masses, scratch, out):
    """Compute means and variances over (betas, masses) of the class probabilities of one example.

    first, second: fractions of its neighbours in two classes; ``second`` can be 0. absent: number of further
    classes, which have no neighbours. out (6,): mean and variance for the first class, for the second class,
    and for each absent class. scratch: (3, q).
    """
    far = max(first, second)
    for q in range(betas.size):
        b = betas[q]
        ratio = np.exp(-b * abs(first - second))
        nothing = 0.0 if absent == 0.0 else np.exp(-b * far)
        total = 1.0 + ratio + absent * nothing
        large, small = 1.0 / total, ratio / total
        scratch[0, q] = large if first >= second else small
        scratch[1, q] = small if first >= second else large
        scratch[2, q] = nothing / total
    for part in range(3):
        mean = 0.0
        for q in range(betas.size):
            mean += masses[q] * scratch[part, q]
        variance = 0.0
        for q in range(betas.size):
            variance += masses[q] * (scratch[part, q] - mean) ** 2
        out[2 * part], out[2 * part + 1] = mean, variance


@kernel
def predict_from_nodes(counts, offsets, betas, masses):
    """Return mean, variance and envelope (m, c each) of the class probabilities of m examples, the last two
    times a mass, and this mass, which is about 1.

    counts (K, m, c): class counts among the k nearest (`Training.class_counts`). offsets (K + 1,):
    betas[offsets[k - 1] : offsets[k]] with posterior ``masses`` are the values of beta at k; the sum of all
    masses is 1. The envelope of a class is the posterior mass of those k at which it has the most neighbours,
    divided equally in a tie.
    """
    depth, m, classes = counts.shape
    mean = np.zeros((m, classes))
    spread = np.zeros((m, classes))
    envelope = np.zeros((m, classes))
    mean_at_k, variance_at_k, powers = np.empty(classes), np.empty(classes), np.empty(classes)
    rest, shares = np.empty(6), np.empty(masses.size)
    table = np.empty((depth + 1, 6))  # moments by the number of neighbours in the largest class
    scratch = np.empty((3, betas.size))
    seen = 0.0  # posterior mass so far
    for k in range(1, depth + 1):
        first, behind = offsets[k - 1], offsets[k]
        mass = 0.0
        for q in range(first, behind):
            mass += masses[q]
        if mass < 1e-18:  # below double precision even for 200 such k
            continue
        at, share = betas[first:behind], shares[first:behind]
        for q in range(first, behind):
            shares[q] = masses[q] / mass
        for number in range(k + 1):
            table[number, 0] = -1.0  # not computed yet
        seen += mass
        for i in range(m):
            a = counts[k - 1, i]
            main, present = 0, 0
            for j in range(classes):
                main = j if a[j] > a[main] else main
                present += a[j] > 0.0
            large = a[main]
            if present <= 2:
                # If all neighbours are of one class, the second class is any other class.
                partner = -1
                for j in range(classes):
                    if j != main and (a[j] > 0.0 or (present == 1 and partner < 0)):
                        partner = j
                number = int(large)
                moments = table[number] if number == large else rest
                if number != large or moments[0] < 0.0:
                    _moments(large / k, (k - large) / k, classes - 2.0, at, share, scratch, moments)
                for j in range(classes):
                    mean_at_k[j], variance_at_k[j] = moments[4], moments[5]
                mean_at_k[main], variance_at_k[main] = moments[0], moments[1]
                mean_at_k[partner], variance_at_k[partner] = moments[2], moments[3]
            else:
                for j in range(classes):
                    mean_at_k[j] = variance_at_k[j] = 0.0
                for sweep in range(2):
                    for q in range(at.size):
                        total = 0.0
                        for j in range(classes):
                            powers[j] = np.exp(at[q] * (a[j] - large) / k)
                            total += powers[j]
                        for j in range(classes):
                            if sweep == 0:
                                mean_at_k[j] += share[q] * powers[j] / total
                            else:
                                variance_at_k[j] += share[q] * (powers[j] / total - mean_at_k[j]) ** 2
            tied = 0
            for j in range(classes):
                tied += a[j] >= large - 1e-9
            for j in range(classes):
                if a[j] >= large - 1e-9:
                    envelope[i, j] += mass / tied
                difference = mean_at_k[j] - mean[i, j]
                mean[i, j] += difference * mass / seen
                spread[i, j] += mass * (variance_at_k[j] + difference * difference * (1.0 - mass / seen))
    return mean, spread, envelope, seen


@kernel
def class_probability(j, beta, k, counts):
    """Return p(y = j | x, beta, k) of section 3.3 of the paper; counts (c,): classes among the k nearest."""
    total = 0.0
    for c in range(counts.size):
        total += np.exp(beta * (counts[c] - counts[j]) / k)
    return 1.0 / total


@kernel
def exceedance_from_nodes(counts, offsets, betas, masses, threshold):
    """Return the mass of the nodes at which a class probability exceeds ``threshold`` (m, c)."""
    depth, m, classes = counts.shape
    out = np.zeros((m, classes))
    for k in range(1, depth + 1):
        for q in range(offsets[k - 1], offsets[k]):
            for i in range(m):
                for j in range(classes):
                    if class_probability(j, betas[q], k, counts[k - 1, i]) > threshold:
                        out[i, j] += masses[q]
    return out


@kernel
def _crossing(j, k, counts, threshold, inside, outside):
    """Return the beta between ``inside`` (probability of j above the threshold) and ``outside`` (below)."""
    for _ in range(80):
        middle = 0.5 * (inside + outside)
        if class_probability(j, middle, k, counts) > threshold:
            inside = middle
        else:
            outside = middle
    return inside


@kernel
def _above(j, k, counts, threshold, low, high):
    """Return the interval of [low, high] where the probability of j exceeds the threshold, or (0, -1).

    log p is a linear function minus a log-sum-exp function of beta. It is concave, so there is one interval.
    """
    at_low = class_probability(j, low, k, counts) > threshold
    at_high = class_probability(j, high, k, counts) > threshold
    if at_low and at_high:
        return low, high
    if at_low:
        return low, _crossing(j, k, counts, threshold, low, high)
    if at_high:
        return _crossing(j, k, counts, threshold, high, low), high
    if counts[j] >= counts.max() or counts[j] <= counts.min():
        return 0.0, -1.0  # p is monotone
    left, right = low, high
    for _ in range(100):
        a = left + (right - left) / 3.0
        b = right - (right - left) / 3.0
        if class_probability(j, a, k, counts) < class_probability(j, b, k, counts):
            left = a
        else:
            right = b
    peak = 0.5 * (left + right)
    if class_probability(j, peak, k, counts) <= threshold:
        return 0.0, -1.0
    return _crossing(j, k, counts, threshold, peak, low), _crossing(j, k, counts, threshold, peak, high)


@kernel
def _series(coefficients, x):
    """Return the value of a Legendre series at x in [-1, 1]."""
    before, here = 1.0, x
    total = coefficients[0] + coefficients[1] * x
    for degree in range(2, coefficients.size):
        before, here = here, ((2 * degree - 1) * x * here - (degree - 1) * before) / degree
        total += coefficients[degree] * here
    return total


@kernel
def exceedance_from_series(counts, panels, bounds, cumulative, masses, k_masses, threshold):
    """Compute the (m, c) posterior probability that a class probability is above ``threshold``.

    counts (K, m, c): class counts among the k nearest. panels (K + 1,): the first panel of each k. bounds
    (R, 2), masses (R,): interval of beta and posterior mass of each panel. cumulative (R, q): Legendre series
    of beta's distribution function in each panel. k_masses (K,): posterior masses.
    """
    depth, m, classes = counts.shape
    out = np.zeros((m, classes))
    for k in range(1, depth + 1):
        if k_masses[k - 1] < 1e-18:
            continue
        low, high = bounds[panels[k - 1], 0], bounds[panels[k] - 1, 1]
        for i in range(m):
            for j in range(classes):
                start, end = _above(j, k, counts[k - 1, i], threshold, low, high)
                if end < start:
                    continue
                for panel in range(panels[k - 1], panels[k]):
                    left, right = bounds[panel, 0], bounds[panel, 1]
                    if end <= left or start >= right:
                        continue
                    width = 2.0 / (right - left)
                    mass = 1.0 if end >= right else _series(cumulative[panel], (end - left) * width - 1.0)
                    mass -= 0.0 if start <= left else _series(cumulative[panel], (start - left) * width - 1.0)
                    out[i, j] += masses[panel] * mass
    return out
