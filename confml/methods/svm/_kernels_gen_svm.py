"""Compiled function of `gen_svm`: the loss of all examples and its gradient in one pass."""

from confml._jit import kernel


@kernel
def loss_and_slopes(Z, codes, U, rho, kappa, p, norms_power, slopes):
    """Return the sum over the examples of rho_i (sum_j h^p(q_ij))^(1/p); fill slopes (n, c-1) with dloss/dZ.

    Z (n, c-1): examples in the simplex space. codes (n,): class numbers. U (c, c-1): corners of the simplex.
    rho (n,): example weights. q_ij = z_i (u_y - u_j) for the classes j other than y = codes[i]. h is the
    Huber hinge with parameter kappa > -1. norms_power: 1 for p = 1, 2 for p = 2, else 0.
    """
    n, k = Z.shape
    c = k + 1
    wide = kappa + 1.0
    hinge = [0.0] * c
    slope = [0.0] * c
    total = 0.0
    for i in range(n):
        y = codes[i]
        projection = 0.0
        for a in range(k):
            projection += Z[i, a] * U[y, a]
        top = 0.0
        for j in range(c):
            hinge[j] = slope[j] = 0.0
            if j == y:
                continue
            q = projection
            for a in range(max(j - 1, 0), k):  # the first entries of a corner are 0
                q -= Z[i, a] * U[j, a]
            if q <= -kappa:
                hinge[j], slope[j] = 1.0 - q - 0.5 * wide, -1.0
            elif q <= 1.0:
                hinge[j], slope[j] = 0.5 * (1.0 - q) * (1.0 - q) / wide, (q - 1.0) / wide
            top = max(top, hinge[j])
        for a in range(k):
            slopes[i, a] = 0.0
        if top == 0.0:
            continue
        # Powers of hinges divided by the largest one neither overflow nor underflow.
        scale = 1.0
        if norms_power == 1:
            norm = 0.0
            for j in range(c):
                norm += hinge[j]
        else:
            powers = 0.0
            for j in range(c):
                r = hinge[j] / top
                powers += r * r if norms_power == 2 else r**p
            norm = top * powers ** (1.0 / p)
            scale = powers ** (1.0 / p - 1.0)
        total += rho[i] * norm
        together = 0.0
        for j in range(c):
            if slope[j] == 0.0:
                continue
            share = rho[i] * slope[j]
            if norms_power == 2:
                share *= scale * (hinge[j] / top)
            elif norms_power == 0:
                share *= scale * (hinge[j] / top) ** (p - 1.0)
            together += share
            for a in range(max(j - 1, 0), k):
                slopes[i, a] -= share * U[j, a]
        for a in range(k):
            slopes[i, a] += together * U[y, a]
    return total
