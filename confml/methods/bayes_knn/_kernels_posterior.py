"""Kernels of Bayesian k-NN: likelihood and exact posterior over (k, beta).

With a_j of the k nearest in class j, f_j = a_j / k and u_j = f_j - f_own, one training example adds
``-log(1 + sum_{j != own} exp(beta u_j))`` to the log likelihood (section 3.3 of the paper). Training
examples with the same counts are summed once: in two classes there are at most k + 1 different ones.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.bayes_knn._kernels import advance_counts, begin_counts

NODES = 48  # Gauss-Legendre nodes over beta for each k: errors of 1e-15 if the mode is well above 0
MANY_NODES = 96  # for a wide density truncated at beta = 0: 48 nodes leave 1e-8 for separable classes
DEPTH = 37.0  # the density is integrated down to exp(-DEPTH) = 1e-16 of its largest value
NEGLIGIBLE = 50.0  # a k with a posterior mass certainly below exp(-NEGLIGIBLE) gets mass 0
ENOUGH = 30.0  # sufficient decrease if the search for the end of the interval steps over DEPTH
LONGEST = 32.0  # length of an interval of beta that one rule of NODES covers with errors below 1e-12
FIRST_PANEL = 16.0  # length of the first panel of a longer interval
PANEL_RATIO = 3.0  # ratio of the ends of each further panel, both counted from the first panel's start


@kernel
def term_rows(k, counts, codes, weights, starts, values, multiples):
    """Write the distinct likelihood terms at k; return the number of rows.

    Row r has the weight weights[r] and the numbers u of values[starts[r]:starts[r + 1]], each counted
    multiples[...] times. counts: (n, c) class counts among the k nearest. codes: (n,) own classes. The arrays
    need space for n + k + 2 rows of c.
    """
    n, classes = counts.shape
    rows = 0
    fill = 0
    alike = np.zeros(k + 1)  # examples with neighbours in their own and at most one other class
    for i in range(n):
        own = counts[i, codes[i]]
        others = 0
        for j in range(classes):
            if j != codes[i] and counts[i, j] > 0.0:
                others += 1
        if others <= 1 and own == np.floor(own):
            alike[int(own)] += 1.0
            continue
        starts[rows] = fill
        weights[rows] = 1.0
        for j in range(classes):
            if j != codes[i] and counts[i, j] > 0.0:
                values[fill] = (counts[i, j] - own) / k
                multiples[fill] = 1.0
                fill += 1
        if others < classes - 1:
            values[fill] = -own / k
            multiples[fill] = classes - 1 - others
            fill += 1
        rows += 1
    for own in range(k + 1):
        if alike[own] > 0.0:
            starts[rows] = fill
            weights[rows] = alike[own]
            if own < k:
                values[fill] = (k - own - own) / k
                multiples[fill] = 1.0
                fill += 1
            absent = classes - 1 if own == k else classes - 2
            if absent > 0:
                values[fill] = -own / k
                multiples[fill] = absent
                fill += 1
            rows += 1
    starts[rows] = fill
    return rows


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
def log_likelihood(beta, rows, weights, starts, values, multiples):
    """Return log L(D | beta, k) from the rows of `term_rows`.

    The sums of exponentials are multiplied, and one logarithm of the product is taken: twice as fast.
    """
    total = 0.0
    product = 1.0
    for r in range(rows):
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
def log_likelihood_slopes(beta, rows, weights, starts, values, multiples):
    """Return the first and second derivative of the log likelihood in beta; the second is not positive."""
    first_derivative = 0.0
    second_derivative = 0.0
    for r in range(rows):
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
def log_density(beta, scale, rows, weights, starts, values, multiples):
    """Return log L - beta^2 / (2 scale^2), the log posterior density of beta given k without constants."""
    return log_likelihood(beta, rows, weights, starts, values, multiples) - 0.5 * (beta / scale) ** 2


@kernel
def find_mode(start, scale, rows, weights, starts, values, multiples):
    """Maximise the log density over beta >= 0 by Newton's method: (beta, log density, slope, curvature)."""
    precision = 1.0 / (scale * scale)
    beta = start
    height = log_density(beta, scale, rows, weights, starts, values, multiples)
    for _ in range(200):
        slope, curvature = log_likelihood_slopes(beta, rows, weights, starts, values, multiples)
        slope -= beta * precision
        curvature -= precision
        if beta == 0.0 and slope <= 0.0:
            break
        target = max(0.0, beta - slope / curvature)
        target_height = log_density(target, scale, rows, weights, starts, values, multiples)
        while target_height < height - 1e-12 * abs(height) and abs(target - beta) > 1e-9 * (1.0 + beta):
            target = 0.5 * (target + beta)
            target_height = log_density(target, scale, rows, weights, starts, values, multiples)
        step = abs(target - beta)
        beta, height = target, target_height
        if step <= 1e-6 * (1.0 + beta):  # convergence is quadratic: the next step is about 1e-12
            break
    slope, curvature = log_likelihood_slopes(beta, rows, weights, starts, values, multiples)
    return beta, height, slope - beta * precision, curvature - precision


@kernel
def find_end(mode, height, slope, curvature, direction, scale, rows, weights, starts, values, multiples):
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
            fall = height - log_density(0.0, scale, rows, weights, starts, values, multiples)
            if fall <= DEPTH + 12.0:
                return 0.0
            end = 0.0
        fall = height - log_density(end, scale, rows, weights, starts, values, multiples)
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
def panel_ends(low, high):
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


@kernel
def exact_posterior(labels, ends, last, codes, scale, fixed_beta, few, many):
    """Compute the posterior over k and beta at Gauss-Legendre nodes.

    scale: scale of beta's half-normal prior. fixed_beta: the value of beta, where it is positive (no
    integration). few (p,), many (q,): nodes on [-1, 1]; the latter are used for densities that beta = 0 cuts
    off.

    Return log_modes (K,), the largest log posterior density at each k; modes (K,), its beta; panels (K + 1,),
    the first panel of each k and the number R of panels; bounds (R, 2), the interval of beta of each panel
    (the panels of a k hold all but 1e-13 of its mass); density (R, q), the log density at the nodes, -inf
    where k is negligible and beyond p where p nodes are used; sizes (R,), p or q. The constants of the priors
    are left out.
    """
    n, depth = labels.shape
    classes = last.shape[1]
    space = n + depth + 2
    weights = np.empty(space)
    starts = np.empty(space + 1, dtype=np.int64)
    values = np.empty(space * classes)
    multiples = np.empty(space * classes)
    log_modes = np.empty(depth)
    modes = np.empty(depth)
    slopes = np.empty((depth, 2))
    panels = np.arange(depth + 1)
    bounds = np.zeros((depth, 2))
    density = np.full((depth, many.size), -np.inf)
    sizes = np.full(depth, few.size)
    counts, whole, group, places = begin_counts(n, classes)
    beta = 1.0
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, places)
        rows = term_rows(k, counts, codes, weights, starts, values, multiples)
        if fixed_beta > 0.0:
            modes[k - 1] = fixed_beta
            log_modes[k - 1] = log_likelihood(fixed_beta, rows, weights, starts, values, multiples)
            bounds[k - 1] = fixed_beta
            density[k - 1] = log_modes[k - 1]
            continue
        beta, height, slope, curvature = find_mode(beta, scale, rows, weights, starts, values, multiples)
        modes[k - 1], log_modes[k - 1] = beta, height
        slopes[k - 1, 0], slopes[k - 1, 1] = slope, curvature
    if fixed_beta > 0.0:
        return log_modes, modes, panels, bounds, density, sizes
    # The log density lies between parabolas: its second derivative is at most -1 / scale^2 and at least
    # -(n + 1 / scale^2), its first at most n in size, because no u exceeds 1. So the mass of k is at most
    # exp(mode) scale sqrt(2 pi), and that of the best k at least exp(mode) / (2 (n + 1 + 1 / scale)).
    least = log_modes.max() - np.log(2.0 * (n + 1.0 + 1.0 / scale)) - NEGLIGIBLE
    most = np.log(scale * np.sqrt(2.0 * np.pi))
    counts, whole, group, places = begin_counts(n, classes)
    panel = 0
    for k in range(1, depth + 1):
        advance_counts(k, labels, ends, last, counts, whole, group, places)
        panels[k - 1] = panel
        if log_modes[k - 1] + most < least:
            panel += 1
            continue
        rows = term_rows(k, counts, codes, weights, starts, values, multiples)
        mode, height = modes[k - 1], log_modes[k - 1]
        slope, curvature = slopes[k - 1, 0], slopes[k - 1, 1]
        low = 0.0
        if mode > 0.0:
            slope = 0.0
            low = find_end(
                mode, height, slope, curvature, -1.0, scale, rows, weights, starts, values, multiples
            )
        high = find_end(mode, height, slope, curvature, 1.0, scale, rows, weights, starts, values, multiples)
        cuts = panel_ends(low, high)
        added = len(cuts) - 2
        if added > 0:
            bounds = np.concatenate((bounds, np.zeros((added, 2))))
            density = np.concatenate((density, np.full((added, many.size), -np.inf)))
            sizes = np.concatenate((sizes, np.full(added, few.size)))
        for part in range(len(cuts) - 1):
            left, right = cuts[part], cuts[part + 1]
            bounds[panel, 0], bounds[panel, 1] = left, right
            # The nearest poles of the likelihood are at +- i pi, so short intervals need few nodes.
            abscissas = many if left == 0.0 and right > np.pi else few
            sizes[panel] = abscissas.size
            for q in range(abscissas.size):
                node = left + 0.5 * (abscissas[q] + 1.0) * (right - left)
                density[panel, q] = log_density(node, scale, rows, weights, starts, values, multiples)
            panel += 1
    panels[depth] = panel
    return log_modes, modes, panels, bounds, density, sizes
