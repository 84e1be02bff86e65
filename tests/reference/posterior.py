"""Literal versions of the confidences from posterior draws, one number at a time."""

import math


def summary_of_draws(draws, weights, t):
    """(mean, sd, envelope, exceedance, entropies), lists by example and class.

    draws: [s][n][c]. weights: [s].
    """
    n, c, total = len(draws[0]), len(draws[0][0]), sum(weights)
    mean, sd, envelope, exceedance, entropies = [], [], [], [], []
    for i in range(n):
        means = [
            sum(w * draw[i][j] for w, draw in zip(weights, draws, strict=True)) / total for j in range(c)
        ]
        shares, above, squares, expected = [0.0] * c, [0.0] * c, [0.0] * c, 0.0
        for w, draw in zip(weights, draws, strict=True):
            p = draw[i]
            tied = [j for j in range(c) if p[j] == max(p)]
            for j in range(c):
                squares[j] += w * (p[j] - means[j]) ** 2 / total
                above[j] += w * (p[j] > t) / total
                shares[j] += w * (j in tied) / len(tied) / total
            expected += w * entropy(p) / total
        mean.append(means)
        sd.append([math.sqrt(square) for square in squares])
        envelope.append(shares)
        exceedance.append(above)
        entropies.append([entropy(means), expected, entropy(means) - expected])
    return mean, sd, envelope, exceedance, entropies


def entropy(p):
    return -sum(share * math.log(share) for share in p if share > 0)


def metropolis(log_density, start, step, draws, rng):
    """States of a random walk with normal steps, of which a fifth are left out at the beginning."""
    state, here = start, log_density(start)
    states = []
    for number in range(draws):
        new = state + step * rng.normal(size=len(state))
        there = log_density(new)
        if math.log(rng.random()) < there - here:
            state, here = new, there
        if number >= draws // 5:
            states.append(state)
    return states
