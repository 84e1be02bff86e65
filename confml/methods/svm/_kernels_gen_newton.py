"""Compiled functions of `gen_svm_path`: Newton's method with preconditioned conjugate gradients.

Derivatives are in score space: S (n, c) = X V U', with the corners U (c, c - 1) of the simplex. For an
example with label y, q_j = s_y - s_j, and the Hessian of its loss in q is diag(a) - b b'.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.svm._kernels_cholesky import factorise, solve_factorised, tiles_for
from confml.methods.svm._kernels_line_search import LARGE, flat_enough, next_point
from confml.methods.svm._kernels_rows import (
    add_grams,
    add_multiple,
    add_sparse_grams,
    back_products,
    block_size,
    copy_into,
    fill_blocks,
    products,
    sum_of_products,
    take_rows,
)

MOST_PRODUCTS = 6  # conjugate gradient steps of one Newton step


@kernel
def derivatives(S, codes, rho, kappa, p, slopes, A, B):
    """Return the sum of rho_i (sum_j h^p(q_ij))^(1/p); fill slopes (n, c) in score space, and A, B (n, c)."""
    n, c = S.shape
    wide = kappa + 1.0
    hinge, first, second = np.zeros(c), np.zeros(c), np.zeros(c)
    total = 0.0
    for i in range(n):
        y = codes[i]
        own, top = S[i, y], 0.0
        for j in range(c):
            q = own - S[i, j]
            hinge[j] = first[j] = second[j] = 0.0
            if j != y:
                if q <= -kappa:
                    hinge[j], first[j] = 1.0 - q - 0.5 * wide, -1.0
                elif q < 1.0:
                    hinge[j], first[j] = 0.5 * (1.0 - q) * (1.0 - q) / wide, (q - 1.0) / wide
                    second[j] = 1.0 / wide
                top = max(top, hinge[j])
            slopes[i, j] = A[i, j] = B[i, j] = 0.0
        if top == 0.0:
            continue
        together = 0.0
        if p == 1.0:
            for j in range(c):
                total += rho[i] * hinge[j]
                slopes[i, j] = -rho[i] * first[j]
                together += slopes[i, j]
                A[i, j] = rho[i] * second[j]
            slopes[i, y] = -together
            continue
        # Powers of hinges divided by the largest one neither overflow nor underflow.
        powers = 0.0
        for j in range(c):
            r = hinge[j] / top
            if p == 2.0:
                powers += r * r
            elif p == 1.5:
                powers += r * np.sqrt(r)
            elif r > 0.0:
                powers += r**p
        norm = top * powers ** (1.0 / p)
        total += rho[i] * norm
        for j in range(c):
            if hinge[j] == 0.0:
                continue
            r = hinge[j] / norm
            if p == 2.0:
                power = r
            elif p == 1.5:
                power = np.sqrt(r)
            else:
                power = r ** (p - 1.0)
            slopes[i, j] = -rho[i] * power * first[j]
            together += slopes[i, j]
            A[i, j] = rho[i] * power * ((p - 1.0) * first[j] * first[j] / hinge[j] + second[j])
            B[i, j] = np.sqrt(rho[i] * (p - 1.0) / norm) * power * first[j]
        slopes[i, y] = -together
    return total


@kernel
def curved_rows(A):
    """Return the numbers of the examples whose loss has a curvature."""
    chosen = np.empty(len(A), dtype=np.int64)
    m = 0
    for i in range(len(A)):
        for j in range(A.shape[1]):
            if A[i, j] > 0.0:
                chosen[m] = i
                m += 1
                break
    return chosen[:m].copy()


@kernel
def curvature_products(S, codes, A, B):
    """Replace the score changes S (n, c) by the Hessian of the loss in score space times S."""
    n, c = S.shape
    for i in range(n):
        y = codes[i]
        own, along = S[i, y], 0.0
        for j in range(c):
            along += B[i, j] * (own - S[i, j])
        together = 0.0
        for j in range(c):
            part = A[i, j] * (own - S[i, j]) - B[i, j] * along
            S[i, j] = -part
            together += part
        S[i, y] = together


@kernel
def loss_hessian(rows, codes, A, B, U, H):
    """Set H (pairs of dimensions, P) to the packed blocks of the Hessian of the loss."""
    n, c = A.shape
    K, size = c - 1, H.shape[1]
    pairs = K * (K + 1) // 2
    sparse = rows[0].shape[0] == 0
    G = np.zeros((size, pairs)) if sparse else np.zeros((pairs, size))
    most = block_size(size)
    block, coefficients = np.empty(most, dtype=np.int64), np.zeros((most, pairs))
    m = 0
    for i in range(n):
        y, a_sum, b_sum = codes[i], 0.0, 0.0
        for j in range(c):
            a_sum += A[i, j]
            b_sum += B[i, j]
        for k in range(K):
            for j in range(k + 1):
                if k == y and j == y:
                    value = a_sum - b_sum * b_sum
                elif k == y or j == y:
                    other = j if k == y else k
                    value = B[i, other] * b_sum - A[i, other]
                else:
                    value = (A[i, k] if k == j else 0.0) - B[i, k] * B[i, j]
                coefficients[m, k * (k + 1) // 2 + j] = value
        block[m] = i
        m += 1
        if m == most or i == n - 1:
            if sparse:
                add_sparse_grams(rows, block, m, coefficients, G)
            else:
                add_grams(rows, block, m, coefficients, G)
            m = 0
    # The rows of the Hessian in score space sum to 0, so the scores relative to that of the last class, with
    # the corners relative to the last one, are enough. From their pairs to pairs of dimensions:
    change = np.empty((pairs, pairs))
    for a in range(K):
        for b in range(a + 1):
            for k in range(K):
                for j in range(k + 1):
                    value = (U[k, a] - U[K, a]) * (U[j, b] - U[K, b])
                    if k != j:
                        value += (U[j, a] - U[K, a]) * (U[k, b] - U[K, b])
                    change[a * (a + 1) // 2 + b, k * (k + 1) // 2 + j] = value
    if sparse:
        copy_into(H, np.dot(change, G.T))
    else:
        copy_into(H, np.dot(change, G))


@kernel
def preconditioner(blocks, K, D, ridge, damping, least, H, tiles):
    """Set ``tiles`` to the factor of the stored Hessian of the loss plus that of the penalty; H: work space.

    Returns whether the factor exists.
    """
    fill_blocks(blocks, K, D, 1.0, H)
    for a in range(K):
        H[a * D, a * D] += damping + least
        for b in range(1, D):
            H[a * D + b, a * D + b] += 2.0 * ridge + damping
    return factorise(H, tiles)


@kernel
def newton_step(rows, codes, A, B, U, UT, ridge, damping, least, gradient, tiles):
    """Return an approximate Newton step (D, K) by conjugate gradients, and the number of products.

    damping: added to the Hessian; ``least``: added to that of t, which has no penalty.
    """
    D, K = gradient.shape
    step, residual = np.zeros((D, K)), -gradient
    direction = np.zeros((D, K))
    before, first, used = 1.0, 0.0, 0
    for turn in range(MOST_PRODUCTS + 1):
        flat = np.ascontiguousarray(residual.T).reshape(K * D)
        solved = np.ascontiguousarray(solve_factorised(tiles, flat).reshape(K, D).T)
        size = sum_of_products(residual, solved)
        if turn == 0:
            first = size
            copy_into(direction, solved)
        else:
            direction = solved + (size / before) * direction
        if not size > 0.01 * first or turn == MOST_PRODUCTS:
            if turn == 0:
                copy_into(step, solved)
            break
        changes = products(rows, np.dot(direction, UT))
        curvature_products(changes, codes, A, B)
        product = np.dot(back_products(rows, changes, D), U)
        add_multiple(product, damping, direction)
        for k in range(K):
            product[0, k] += least * direction[0, k]
        for a in range(1, D):
            for k in range(K):
                product[a, k] += 2.0 * ridge * direction[a, k]
        used += 1
        curvature = sum_of_products(direction, product)
        if not curvature > 0.0:
            if turn == 0:
                copy_into(step, solved)
            break
        far = size / curvature
        add_multiple(step, far, direction)
        add_multiple(residual, -far, product)
        before = size
    return step, used


@kernel
def minimise(rows, codes, rho, U, kappa, p, ridge, V, blocks, fresh, tolerance, most):
    """Minimise the objective of GenSVM from the start V (D, K), t in its first row, in place.

    blocks (pairs of dimensions, P): packed Hessian of the loss at an earlier point, the preconditioner; it is
    replaced if ``fresh``, and whenever it serves badly. Stops where the Newton decrement, an estimate of the
    excess of the objective over its minimum, is at most ``tolerance`` times the objective. Returns
    (objective, Newton steps, whether it has stopped there).
    """
    n, c = len(codes), len(U)
    D, K = V.shape
    UT = np.ascontiguousarray(U.T)
    slopes, A, B = np.empty((n, c)), np.empty((n, c)), np.empty((n, c))
    H, tiles = np.empty((K * D, K * D)), tiles_for(K * D)
    S = products(rows, np.dot(V, UT))
    loss = derivatives(S, codes, rho, kappa, p, slopes, A, B)
    value = loss + ridge * sum_of_products(V[1:], V[1:])
    damping, factored = 0.0, False
    scale = np.sum(rho) / (kappa + 1.0)  # curvature of the loss in t, within a small factor
    least = 1e-7 * scale  # keeps t in place where the loss has no curvature
    # A damped step needs a new Hessian and its factor, which take longer than some steps with many unknowns.
    large = K * D > LARGE
    short = 0.02 if large else 0.3
    for steps in range(most):
        gradient = np.dot(back_products(rows, slopes, D), U)
        add_multiple(gradient[1:], 2.0 * ridge, V[1:])
        chosen = curved_rows(A)
        some, its_codes, its_A, its_B = rows, codes, A, B
        if len(chosen) < 0.9 * n:
            some, its_codes = take_rows(rows, chosen), codes[chosen]
            its_A, its_B = A[chosen], B[chosen]
        if fresh:
            loss_hessian(some, its_codes, its_A, its_B, U, blocks)
            factored = False
        if not factored:
            factored = preconditioner(blocks, K, D, ridge, damping, least, H, tiles)
            if not factored:
                return value, steps, False
        step, used = newton_step(some, its_codes, its_A, its_B, U, UT, ridge, damping, least, gradient, tiles)
        slope = sum_of_products(gradient, step)
        if -0.5 * slope <= tolerance * value:
            if damping == 0.0:
                return value, steps, True
            damping, fresh = 0.0, True
            continue
        fresh = used == MOST_PRODUCTS
        change = products(rows, np.dot(step, UT))
        across, along = sum_of_products(V[1:], step[1:]), sum_of_products(step[1:], step[1:])
        own, far = sum_of_products(V[1:], V[1:]), 1.0
        value_far, accepted, ends = value, False, (0.0, 1.0, slope, 0.0, 0.0)
        for trial in range(60):
            loss = derivatives(S + far * change, codes, rho, kappa, p, slopes, A, B)
            value_far = loss + ridge * (own + 2.0 * far * across + far * far * along)
            slope_far = sum_of_products(slopes, change) + 2.0 * ridge * (across + far * along)
            accepted = slope_far <= 0.0 or value_far <= value + 1e-4 * far * slope
            if accepted and (not large or flat_enough(trial, slope_far, slope)):
                break
            accepted = False
            if large:
                far, ends = next_point(ends, far, slope_far)
            else:
                far *= min(max(slope / (slope - slope_far), 0.1), 0.7)
        if not accepted:
            return value, steps, False
        value = value_far
        add_multiple(V, far, step)
        add_multiple(S, far, change)
        if far < short:
            damping, fresh = max(10.0 * damping, 1e-4 * scale), True
        elif damping > 0.0:
            damping = 0.1 * damping if damping > 1e-6 * scale else 0.0
            fresh = True
    return value, most, False
