"""Kernels of online TCM-NN: each example is predicted from those learnt before it, then learnt.

Examples that have not arrived have no class, infinite lists, an alpha of NaN and a limit of +inf, and their
products with earlier examples are -inf: they are not neighbours and count for nothing.
"""

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn._kernels import (
    ALPHA,
    fill_bounds,
    least_distance,
    limit_of,
    nearest_of_others,
    new_alphas,
    scan_counts,
    search_filter,
)
from confml.neighbours.candidates import BY_CLASS
from confml.neighbours.distances import insert, squared_distance_of_rows


@kernel
def process(filter, first, codes, alphas, limits, examples, new, predicts, label_conditional):
    """Process b new examples in order: predict each if ``predicts``, then learn it if it has a class.

    codes (b,): their classes, or (0,) if none is learnt; those learnt are the examples from ``first`` on.
    alphas (q, m), limits (m,): of the examples. label_conditional: count only examples of the label in
    question. Fills the counts and the alphas of the new examples.
    """
    nearest = np.empty((new.lowest.shape[1], examples.ks[-1]))
    for r in range(len(new.Q)):
        learnt = first + min(r, len(codes))
        filter.tile[r, learnt:] = -np.inf
        search_filter(filter, new.Q, r, examples.X, examples.codes, examples.cuts, BY_CLASS, nearest)
        if predicts:
            new_alphas(nearest, r, new, examples.ks)
            _count_alphas(alphas[:, :learnt], examples.codes, r, label_conditional, new)
            scan_counts(filter, limits, r, examples, new)
        if r < len(codes):
            _learn(filter, r, learnt, codes[r], nearest, alphas, limits, examples, new.Q)


@kernel
def _count_alphas(alphas, codes, r, label_conditional, new):
    """Count the alphas (q, n) of learnt examples above, and equal to, the one of new example r per label."""
    for q in range(len(alphas)):
        values = alphas[q]
        for j in range(new.alphas.shape[1]):
            alpha, above, equal = new.alphas[r, j, q], np.int64(0), np.int64(0)
            for t in range(len(values)):
                counts = not label_conditional or codes[t] == j
                above += np.int64(counts & (values[t] > alpha))
                equal += np.int64(counts & (values[t] == alpha))
            new.greater[r, j, q] += above
            new.equal[r, j, q] += equal


@kernel
def _learn(filter, r, i, code, nearest, alphas, limits, examples, Q):
    """Make new example r the learnt example i of a class, and insert it into the lists of others."""
    same, other = examples.same, examples.other
    products, lowest = filter.tile[r], filter.lowest[r]
    for t in range(i):
        if products[t] - lowest > limits[t]:
            distances = same[t] if examples.codes[t] == code else other[t]
            if least_distance(filter, r, t) < distances[-1]:
                distance = np.sqrt(squared_distance_of_rows(Q, r, examples.X, t))
                if distance < distances[-1]:
                    insert(distances, distance)
                    _update(t, filter, alphas, limits, examples)
    same[i] = nearest[code]
    nearest_of_others(nearest, code, other[i])
    _update(i, filter, alphas, limits, examples)


@kernel
def _update(t, filter, alphas, limits, examples):
    """Compute the numbers of example t from its lists."""
    fill_bounds(examples.same[t], examples.other[t], examples.ks, examples.bounds[t])
    for q in range(len(examples.ks)):
        alphas[q, t] = examples.bounds[t, ALPHA, q]
    limits[t] = limit_of(max(examples.same[t, -1], examples.other[t, -1]), filter.low[t], filter.unit)
