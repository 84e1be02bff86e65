"""Compiled functions of `crammer_singer_path`: proximal multipliers and a semismooth Newton method.

Z holds the scores with margins: z_ik + [k is not the label of i]. P (n, c) holds the multipliers, one point
of the simplex per example. C p_ik - C [k is the label] are the dual variables with their signs reversed.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.svm._kernels_cholesky import factorise, solve_factorised, tiles_for
from confml.methods.svm._kernels_line_search import LARGE, flat_enough, next_point
from confml.methods.svm._kernels_rows import (
    add_grams,
    add_multiple,
    back_products,
    block_size,
    copy_into,
    fill_blocks,
    products,
    sum_of_products,
)

TRIALS = 40  # largest number of points of a line search


@kernel
def project(Z, codes, costs, centres, tau, P):
    """Set P to the maximisers of <p, z> - tau/2 |p - centre|^2 over the simplex.

    Returns the sum of costs_i (maximum - z_iy). The threshold is found by Newton's method from below.
    """
    n, c = Z.shape
    v = np.empty(c)
    total = 0.0
    for i in range(n):
        top = Z[i, 0]
        for k in range(1, c):
            top = max(top, Z[i, k])
        largest = -np.inf
        for k in range(c):
            v[k] = centres[i, k] + (Z[i, k] - top) / tau
            largest = max(largest, v[k])
        threshold, count = largest - 1.0, 0
        for _ in range(c + 1):
            above, m = 0.0, 0
            for k in range(c):
                if v[k] > threshold:
                    above += v[k] - largest
                    m += 1
            threshold = largest + (above - 1.0) / m
            if m == count:
                break
            count = m
        own, moved = 0.0, 0.0
        for k in range(c):
            p = max(v[k] - threshold, 0.0)
            P[i, k] = p
            own += p * (Z[i, k] - Z[i, codes[i]])
            moved += (p - centres[i, k]) * (p - centres[i, k])
        total += costs[i] * (own - 0.5 * tau * moved)
    return total


@kernel
def sums(Z, codes, costs, P):
    """Return the sums of costs_i times <p, z> - z_iy, max z - z_iy, and 1 - p_iy."""
    n, c = Z.shape
    linear, hinge, lack = 0.0, 0.0, 0.0
    for i in range(n):
        y = codes[i]
        top, mean = Z[i, y], 0.0
        for k in range(c):
            top = max(top, Z[i, k])
            mean += P[i, k] * (Z[i, k] - Z[i, y])
        linear += costs[i] * mean
        hinge += costs[i] * (top - Z[i, y])
        lack += costs[i] * (1.0 - P[i, y])
    return linear, hinge, lack


@kernel
def weights_of(rows, codes, costs, C, P, D):
    """Return the weights (D, c) that belong to the multipliers: C sum_i costs_i x_i (e_y - p_i)'."""
    n, c = P.shape
    parts = np.empty((n, c))
    for i in range(n):
        for k in range(c):
            parts[i, k] = -C * costs[i] * P[i, k]
        parts[i, codes[i]] += C * costs[i]
    return back_products(rows, parts, D)


@kernel
def margin_scores(rows, codes, W):
    """Return Z (n, c) for the weights W (D, c)."""
    Z = products(rows, W)
    for i in range(len(Z)):
        own = Z[i, codes[i]]
        for k in range(Z.shape[1]):
            Z[i, k] += 1.0
        Z[i, codes[i]] = own
    return Z


@kernel
def mean_range(Z):
    """Return the mean over the examples of max z - min z."""
    n, c = Z.shape
    total = 0.0
    for i in range(n):
        low = high = Z[i, 0]
        for k in range(1, c):
            low, high = min(low, Z[i, k]), max(high, Z[i, k])
        total += high - low
    return total / n


@kernel
def update_grams(rows, costs, P, support, G):
    """Update G (pairs, P) by the examples whose support {k: p_k > 0} changed, and ``support``.

    An example with support A adds costs_i (diag(1_A) - 1_A 1_A' / |A|) to the coefficients of the pairs of
    classes. The pairs with the last class are left out: the rows of this matrix sum to 0.
    """
    n, c = P.shape
    pairs, size = G.shape
    most = block_size(size)
    block, coefficients = np.empty(most, dtype=np.int64), np.zeros((most, pairs))
    m = 0
    for i in range(n):
        before, after, changed = 0, 0, False
        for k in range(c):
            now = P[i, k] > 0.0
            before += support[i, k]
            after += now
            changed |= now != support[i, k]
        if not changed:
            continue
        for k in range(c - 1):
            now_k = P[i, k] > 0.0
            for other in range(k + 1):
                now, was = now_k and P[i, other] > 0.0, support[i, k] and support[i, other]
                value = 0.0
                if now:
                    value += (1.0 if k == other else 0.0) - 1.0 / after
                if was:
                    value -= (1.0 if k == other else 0.0) - 1.0 / before
                coefficients[m, k * (k + 1) // 2 + other] = costs[i] * value
        for k in range(c):
            support[i, k] = P[i, k] > 0.0
        block[m] = i
        m += 1
        if m == most:
            add_grams(rows, block, m, coefficients, G)
            m = 0
    if m > 0:
        add_grams(rows, block, m, coefficients, G)


@kernel
def scale_start(rows, codes, costs, before, C, W, P):
    """Change W and P, near the solution for C = ``before``, to a start for a larger C.

    The dual variables are scaled by the factor that maximises the dual objective for C. W is scaled by the
    same factor if that lowers the primal objective.
    """
    D, c = W.shape
    n = len(P)
    lack = 0.0
    for i in range(n):
        lack += costs[i] * (1.0 - P[i, codes[i]])
    old = weights_of(rows, codes, costs, before, P, D)
    norm = sum_of_products(old, old)
    factor = C / before
    if norm * factor > before * lack:
        factor = max(before * lack / norm, 1.0)
    for i in range(n):
        for k in range(c):
            P[i, k] *= factor * before / C
        P[i, codes[i]] += 1.0 - factor * before / C
    Z = margin_scores(rows, codes, W)
    square = sum_of_products(W, W)
    plain = 0.5 * square + C * sums(Z, codes, costs, P)[1]
    Z = margin_scores(rows, codes, factor * W)
    if 0.5 * factor * factor * square + C * sums(Z, codes, costs, P)[1] < plain:
        for a in range(D):
            for k in range(c):
                W[a, k] *= factor


@kernel
def fill_system(G, c, D, factor, H):
    """Set the lower triangle of H to the Hessian for the weights of c - 1 classes relative to the last class.

    The weights of all classes sum to 0, so weights v_k relative to those of the last class are the weights
    v_k - sum v / c, and |W|^2 = sum_k |v_k|^2 - |sum v|^2 / c.
    """
    fill_blocks(G, c - 1, D, factor, H)
    for k in range(c - 1):
        for m in range(k + 1):
            value = (1.0 if k == m else 0.0) - 1.0 / c
            for a in range(D):
                H[k * D + a, m * D + a] += value


@kernel
def newton_step(tiles, gradient):
    """Return the Newton step (D, c) for a gradient (D, c) and the factor of `fill_system`."""
    D, c = gradient.shape
    right = np.empty((c - 1) * D)
    for k in range(c - 1):
        for a in range(D):
            right[k * D + a] = -gradient[a, k]
    relative = solve_factorised(tiles, right)
    step = np.zeros((D, c))
    for a in range(D):
        mean = 0.0
        for k in range(c - 1):
            step[a, k] = relative[k * D + a]
            mean += relative[k * D + a] / c
        for k in range(c):
            step[a, k] -= mean
    return step


@kernel
def mean_change(change, codes, costs, P):
    """Return the sum of costs_i times <p, change> - change_iy, for the change of Z (n, c) along a step."""
    n, c = change.shape
    total = 0.0
    for i in range(n):
        mean = -change[i, codes[i]]
        for k in range(c):
            mean += P[i, k] * change[i, k]
        total += costs[i] * mean
    return total


@kernel
def minimise(rows, codes, costs, C, W, P, support, G, tau, relative, most):
    """Minimise ``1/2 |W|^2 + C sum_i costs_i (max_k z_ik - z_iy)`` from the start W (D, c) and P (n, c).

    W and P become the best ones found. support, G: state of `update_grams`. Returns (objective, duality gap,
    tau, Newton steps). The gap is at most ``relative`` times the smaller of the objective and its distance
    to the objective at W = 0, or a tenth of ``relative`` times the objective. W is exactly 0 where this is
    a solution.
    """
    D, c = W.shape
    at_zero = C * np.sum(costs)
    here, P_here = W.copy(), P.copy()
    Z = margin_scores(rows, codes, here)
    widest = max(mean_range(Z), 1.0)
    tau = min(tau, widest)
    centres, P_next = P.copy(), P.copy()
    H, tiles = np.empty((0, 0)), np.empty((0, 0, 0))
    # With many unknowns the factors take most of the time. On fars, three changes save a third of the Newton
    # steps: a closer line search, larger changes of tau, and the supports of the last Newton step, instead of
    # new ones, for the first step after the centres moved.
    large = (c - 1) * D > LARGE
    short, larger = (0.2, 10.0) if large else (0.1, 4.0)
    moved = False  # whether the centres have moved since the last Newton step
    objective, dual, smooth, steps = np.inf, -np.inf, 0.0, 0
    for turn in range(most):
        own = weights_of(rows, codes, costs, C, P_here, D)
        gradient = here - own
        linear, hinge, lack = sums(Z, codes, costs, P_here)
        primal_here = 0.5 * sum_of_products(here, here) + C * hinge
        dual_here = C * lack - 0.5 * sum_of_products(own, own)
        if primal_here < objective:
            objective = primal_here
            copy_into(W, here)
        if dual_here > dual:
            dual = dual_here
            copy_into(P, P_here)
        if at_zero - dual <= 0.1 * relative * at_zero:
            objective = at_zero
            W[:] = 0.0
            break
        if objective - dual <= relative * max(min(objective, at_zero - objective), 0.1 * objective):
            break
        if turn == 0 or 0.5 * sum_of_products(gradient, gradient) <= 0.5 * C * (hinge - linear):
            copy_into(centres, P_here)
            if turn > 0:
                tau *= 0.5
                widest = 0.0
                moved = True
            smooth = project(Z, codes, costs, centres, tau, P_here)
            continue
        steps += 1
        if not (large and moved):
            update_grams(rows, costs, P_here, support, G)
        moved = False
        if len(H) == 0:
            H, tiles = np.empty(((c - 1) * D, (c - 1) * D)), tiles_for((c - 1) * D)
        fill_system(G, c, D, C / tau, H)
        if not factorise(H, tiles):
            break
        step = newton_step(tiles, gradient)
        change = products(rows, step)
        slope = sum_of_products(gradient, step)
        across, along = sum_of_products(here, step), sum_of_products(step, step)
        value, far, smooth_far = C * smooth, 1.0, smooth
        ends = (0.0, 1.0, slope, 0.0, 0.0)
        for trial in range(TRIALS):
            smooth_far = project(Z + far * change, codes, costs, centres, tau, P_next)
            slope_far = across + far * along + C * mean_change(change, codes, costs, P_next)
            value_far = far * across + 0.5 * far * far * along + C * smooth_far
            if slope_far <= 0.0 or value_far <= value + 1e-4 * far * slope:
                if not large or flat_enough(trial, slope_far, slope):
                    break
            if trial + 1 == TRIALS:
                break
            if large:
                far, ends = next_point(ends, far, slope_far)
            else:
                far *= min(max(slope / (slope - slope_far), 0.1), 0.7)
        smooth = smooth_far
        add_multiple(here, far, step)
        add_multiple(Z, far, change)
        P_here, P_next = P_next, P_here
        if far < short and tau < widest:  # tau is too small for the first centres
            tau = min(larger * tau, widest)
            smooth = project(Z, codes, costs, centres, tau, P_here)
    return objective, objective - dual, tau, steps
