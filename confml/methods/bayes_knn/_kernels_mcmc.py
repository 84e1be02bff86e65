"""Kernels of Bayesian k-NN: a Markov chain over (k, beta) with a fixed metric.

Krzanowski et al. (2006), section 3.3: a proposal is accepted with probability min(1, L' pi' / (L pi)).
"""

import numpy as np

from confml._jit import kernel
from confml.methods.bayes_knn._kernels_posterior import Terms, log_density, log_likelihood

JUMPS = 0.2  # fraction of the improved moves that draw k uniformly; the others are small steps
LARGEST_STEP = 3  # largest change of k in a small step
TARGET = 0.35  # target acceptance rate of small steps; burn-in tunes the step in beta


@kernel
def reflect(k, depth):
    """Return k reflected at 1/2 and depth + 1/2 into 1..depth, which keeps proposals symmetric."""
    while k < 1 or k > depth:
        k = 1 - k if k < 1 else 2 * depth + 1 - k
    return k


@kernel
def _height(k, beta, prior, offsets, terms):
    """Return the log posterior density at (k, beta) without constants; arguments as in `run_chain`."""
    scale, fixed = prior
    first, behind = offsets[k - 1], offsets[k]
    starts = terms.starts[first + k - 1 : behind + k]
    at_k = Terms(terms.weights[first:behind], starts, terms.values, terms.multiples)
    return log_likelihood(beta, at_k) if fixed else log_density(beta, scale, at_k)


@kernel
def propose_k_beta(k, beta, depth, fixed, jumps, step, uniforms, normals):
    """Return a proposal (k', beta', log Hastings ratio, whether it is a small step).

    jumps: fraction of the proposals that draw k uniformly, half of which also multiply beta by a log-normal
    factor; the others are small steps. fixed: beta does not change. uniforms (2,), normals (1,): random
    numbers.
    """
    kind = uniforms[0]
    if kind < jumps:
        new_k = 1 + min(depth - 1, int(uniforms[1] * depth))
        if fixed or kind < 0.5 * jumps:
            return new_k, beta, 0.0, False
        # beta' = beta exp(z) has density 1 / beta' under a symmetric z: the ratio is beta' / beta.
        return new_k, beta * np.exp(normals[0]), normals[0], False
    span = 2 * LARGEST_STEP + 1
    new_k = reflect(k + min(span - 1, int(uniforms[1] * span)) - LARGEST_STEP, depth)
    if fixed:
        return new_k, beta, 0.0, True
    return new_k, abs(beta + step * normals[0]), 0.0, True


@kernel
def run_chain(state, burn_in, thin, prior, jumps, numbers, offsets, terms, states, accepted):
    """Run Metropolis-Hastings over (k, beta) for len(normals) steps from ``state``.

    state (5,): k, beta, log density, step in beta, number of steps done; updated in place. prior: scale of
    beta, and whether beta is fixed. numbers: random numbers, uniforms (T, 3) and normals (T, 1). terms: the
    `Terms` of all k, concatenated; rows offsets[k - 1] : offsets[k] are those of k. states (s, 3): k, beta
    and log density of every ``thin``-th state after burn-in. accepted (2, 2): accepted and proposed small
    steps and jumps after burn-in.
    """
    fixed = prior[1]
    uniforms, normals = numbers
    depth = offsets.size - 1
    k, beta, height, step, done = int(state[0]), state[1], state[2], state[3], int(state[4])
    if done == 0:
        height = _height(k, beta, prior, offsets, terms)
    for t in range(normals.shape[0]):
        new_k, new_beta, ratio, small = propose_k_beta(
            k, beta, depth, fixed, jumps, step, uniforms[t], normals[t]
        )
        new_height = height
        if new_k != k or new_beta != beta:
            new_height = _height(new_k, new_beta, prior, offsets, terms)
        is_accepted = uniforms[t, 2] < np.exp(min(0.0, new_height - height + ratio))
        if is_accepted:
            k, beta, height = new_k, new_beta, new_height
        done += 1
        if done <= burn_in:
            if small and jumps > 0.0:
                step *= np.exp(((1.0 if is_accepted else 0.0) - TARGET) / done**0.6)
                step = min(max(step, 1e-3), 1e3)
        else:
            row = 0 if small else 1
            accepted[row, 0] += is_accepted
            accepted[row, 1] += 1
            if (done - burn_in) % thin == 0:
                draw = states[(done - burn_in) // thin - 1]
                draw[0], draw[1], draw[2] = k, beta, height
    state[0], state[1], state[2], state[3], state[4] = k, beta, height, step, done
