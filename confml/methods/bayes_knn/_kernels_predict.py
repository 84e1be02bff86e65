"""Kernels of Bayesian k-NN: predictions from a posterior over (k, beta).

They compute means, variances and envelopes of the class probabilities, and the posterior probability that
they exceed a threshold. The posterior is given by nodes with masses (quadrature nodes or draws), or by the
distribution function of beta at each k.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.bayes_knn._kernels import advance_counts, begin_counts


@kernel
def _moments(mine, other, absent, betas, masses, scratch, out):
    """Compute means and variances over (betas, masses) of the class probabilities of one example.

    mine, other: fractions of its neighbours in two classes; ``other`` can be 0. absent: number of further
    classes, which have no neighbours. out (6,): mean and variance for the first class, for the second class,
    and for each absent class. scratch: (3, q).
    """
    far = max(mine, other)
    for q in range(betas.size):
        b = betas[q]
        ratio = np.exp(-b * abs(mine - other))
        nothing = 0.0 if absent == 0.0 else np.exp(-b * far)
        total = 1.0 + ratio + absent * nothing
        large, small = 1.0 / total, ratio / total
        scratch[0, q] = large if mine >= other else small
        scratch[1, q] = small if mine >= other else large
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
def predict_from_nodes(labels, ends, last, offsets, betas, masses):
    """Return mean, variance and envelope (m, c each) of the class probabilities of m examples.

    labels, ends, last: neighbours (`sorted_neighbours`). offsets (K + 1,): betas[offsets[k - 1] :
    offsets[k]] with posterior ``masses`` are the values of beta at k; the sum of all masses is 1. The
    envelope of a class is the posterior mass of those k at which it has the most neighbours, divided equally
    in a tie.
    """
    m, depth = labels.shape
    classes = last.shape[1]
    mean = np.zeros((m, classes))
    spread = np.zeros((m, classes))
    envelope = np.zeros((m, classes))
    counts, whole, group, places = begin_counts(m, classes)
    one = np.empty(classes)
    two = np.empty(classes)
    powers = np.empty(classes)
    found = np.empty(6)
    table = np.empty((depth + 1, 6))
    largest_size = 1
    for k in range(depth):
        largest_size = max(largest_size, offsets[k + 1] - offsets[k])
    share = np.empty(largest_size)
    scratch = np.empty((3, largest_size))
    seen = 0.0  # posterior mass so far
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, places)
        first, behind = offsets[k - 1], offsets[k]
        mass = masses[first:behind].sum() if behind > first else 0.0
        if mass < 1e-18:  # below double precision even for 200 such k
            continue
        at = betas[first:behind]
        for q in range(behind - first):
            share[q] = masses[first + q] / mass
        for own in range(k + 1):
            table[own, 0] = -1.0  # not computed yet
        seen += mass
        for i in range(m):
            present = 0
            large = 0.0
            main = 0
            for j in range(classes):
                if counts[i, j] > 0.0:
                    present += 1
                if counts[i, j] > large:
                    large = counts[i, j]
                    main = j
            if present <= 2:
                # If all neighbours are of one class, the second class is any other class.
                partner = -1
                for j in range(classes):
                    if j != main and (counts[i, j] > 0.0 or (present == 1 and partner < 0)):
                        partner = j
                mine = counts[i, main]
                own = int(mine)
                if own != mine:
                    _moments(mine / k, (k - mine) / k, classes - 2.0, at, share, scratch, found)
                elif table[own, 0] < 0.0:
                    _moments(mine / k, (k - mine) / k, classes - 2.0, at, share, scratch, found)
                    for e in range(found.size):
                        table[own, e] = found[e]
                else:
                    for e in range(found.size):
                        found[e] = table[own, e]
                for j in range(classes):
                    one[j], two[j] = found[4], found[5]
                one[main], two[main] = found[0], found[1]
                one[partner], two[partner] = found[2], found[3]
            else:
                for j in range(classes):
                    one[j] = 0.0
                    two[j] = 0.0
                for sweep in range(2):
                    for q in range(at.size):
                        total = 0.0
                        for j in range(classes):
                            powers[j] = np.exp(at[q] * (counts[i, j] - large) / k)
                            total += powers[j]
                        for j in range(classes):
                            if sweep == 0:
                                one[j] += share[q] * powers[j] / total
                            else:
                                two[j] += share[q] * (powers[j] / total - one[j]) ** 2
            tied = 0
            for j in range(classes):
                if counts[i, j] >= large - 1e-9:
                    tied += 1
            for j in range(classes):
                if counts[i, j] >= large - 1e-9:
                    envelope[i, j] += mass / tied
                difference = one[j] - mean[i, j]
                mean[i, j] += difference * mass / seen
                spread[i, j] += mass * (two[j] + difference * difference * (1.0 - mass / seen))
    for i in range(m):
        for j in range(classes):
            spread[i, j] /= seen
            envelope[i, j] = min(1.0, envelope[i, j] / seen)
    return mean, spread, envelope


@kernel
def class_probability(j, beta, k, counts):
    """Return p(y = j | x, beta, k) from the class counts (c,) among the k nearest."""
    total = 0.0
    for other in range(counts.size):
        total += np.exp(beta * (counts[other] - counts[j]) / k)
    return 1.0 / total


@kernel
def exceedance_from_nodes(labels, ends, last, offsets, betas, masses, threshold):
    """Return the mass of the nodes at which a class probability exceeds ``threshold`` (m, c)."""
    m, depth = labels.shape
    classes = last.shape[1]
    out = np.zeros((m, classes))
    counts, whole, group, places = begin_counts(m, classes)
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, places)
        for q in range(offsets[k - 1], offsets[k]):
            for i in range(m):
                for j in range(classes):
                    if class_probability(j, betas[q], k, counts[i]) > threshold:
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
    return (
        _crossing(j, k, counts, threshold, peak, low),
        _crossing(j, k, counts, threshold, peak, high),
    )


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
def exceedance_from_series(
    labels, ends, last, panels, k_masses, panel_masses, bounds, cumulative, threshold
):  # fmt: skip
    """Compute the (m, c) posterior probability that a class probability is above ``threshold``.

    panels (K + 1,): the first panel of each k. k_masses (K,) and panel_masses (R,): posterior masses.
    cumulative (R, q): Legendre series of beta's distribution function in each panel; bounds (R, 2): their
    intervals of beta; q = 0: beta is fixed.
    """
    m, depth = labels.shape
    classes = last.shape[1]
    out = np.zeros((m, classes))
    counts, whole, group, places = begin_counts(m, classes)
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, places)
        if k_masses[k - 1] < 1e-18:
            continue
        low, high = bounds[panels[k - 1], 0], bounds[panels[k] - 1, 1]
        for i in range(m):
            for j in range(classes):
                start, end = _above(j, k, counts[i], threshold, low, high)
                if end < start:
                    continue
                if cumulative.shape[1] == 0 or high <= low:
                    out[i, j] += k_masses[k - 1]
                    continue
                for panel in range(panels[k - 1], panels[k]):
                    left, right = bounds[panel, 0], bounds[panel, 1]
                    if end <= left or start >= right:
                        continue
                    width = 2.0 / (right - left)
                    mass = 1.0 if end >= right else _series(cumulative[panel], (end - left) * width - 1.0)
                    mass -= 0.0 if start <= left else _series(cumulative[panel], (start - left) * width - 1.0)
                    out[i, j] += panel_masses[panel] * mass
    for i in range(m):
        for j in range(classes):
            out[i, j] = min(max(out[i, j], 0.0), 1.0)
    return out
