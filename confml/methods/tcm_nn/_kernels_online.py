"""Kernels of online TCM-NN: each example is predicted from those learnt before it, then learnt.

Examples that have not arrived have no class, infinite lists, an alpha of NaN and a limit of +inf, and their
products with earlier examples are -inf: they are not neighbours and count for nothing.

Few alphas change while a block is processed. Counts therefore search the sorted alphas from before the block,
and correct the result for the examples whose alpha has changed, which includes those that have arrived since.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn._kernels import (
    ALPHA,
    examples_within,
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


class Alphas(NamedTuple):
    """Alphas of the examples learnt before the block, and of those whose alpha has changed since.

    ascending (q, n): before the block, in ascending order from each of the cuts to the next, which is one
    class, or all together. position (m,): of a changed example in the arrays of changed ones, -1 for others.
    codes (m,): classes of the changed ones; earlier, now (q, m): their alphas before the block (NaN if not
    learnt then) and now; number (1,): how many they are.
    """

    ascending: np.ndarray
    cuts: np.ndarray
    position: np.ndarray
    codes: np.ndarray
    earlier: np.ndarray
    now: np.ndarray
    number: np.ndarray


@kernel
def process(filter, first, codes, alphas, limits, examples, new, predicts, label_conditional):
    """Process b new examples in order: predict each if ``predicts``, then learn it if it has a class.

    codes (b,): their classes, or (0,) if none is learnt; those learnt are the examples from ``first`` on.
    alphas: `Alphas`; limits (m,): of the examples. label_conditional: count only examples of the label in
    question. Fills the counts and the alphas of the new examples.
    """
    nearest = np.empty((new.lowest.shape[1], examples.ks[-1]))
    for r in range(len(new.Q)):
        learnt = first + min(r, len(codes))
        filter.tile[r, learnt:] = -np.inf
        search_filter(filter, new.Q, r, examples.X, examples.codes, examples.cuts, BY_CLASS, nearest)
        rows = examples_within(filter.tile[r], filter.lowest[r], limits)
        if predicts:
            new_alphas(nearest, r, new, examples.ks)
            _count_alphas(alphas, examples.codes, r, label_conditional, new)
            scan_counts(filter, rows, r, examples, new)
        if r < len(codes):
            _learn(filter, rows, r, learnt, codes[r], nearest, alphas, limits, examples, new.Q)


@kernel
def _count_alphas(alphas, codes, r, label_conditional, new):
    """Count the alphas of learnt examples above, and equal to, the one of new example r per label.

    codes (m,): classes of the examples. Changed examples are compared in vector registers.
    """
    cuts, n = alphas.cuts, alphas.number[0]
    of_changed = alphas.codes[:n]
    for q in range(len(alphas.now)):
        earlier, now = alphas.earlier[q, :n], alphas.now[q, :n]
        for j in range(new.alphas.shape[1]):
            alpha, above, alike = new.alphas[r, j, q], np.int64(0), np.int64(0)
            for z in range(len(cuts) - 1):
                if not label_conditional or codes[cuts[z]] == j:
                    ascending = alphas.ascending[q, cuts[z] : cuts[z + 1]]
                    first = np.searchsorted(ascending, alpha)
                    end = first
                    if first < len(ascending) and ascending[first] == alpha:
                        end = np.searchsorted(ascending, alpha, side="right")
                    above += len(ascending) - end
                    alike += end - first
            for e in range(n):
                counts = np.int64(not label_conditional) | np.int64(of_changed[e] == j)
                above += counts * (np.int64(now[e] > alpha) - np.int64(earlier[e] > alpha))
                alike += counts * (np.int64(now[e] == alpha) - np.int64(earlier[e] == alpha))
            new.greater[r, j, q] += above
            new.equal[r, j, q] += alike


@kernel
def _learn(filter, rows, r, i, code, nearest, alphas, limits, examples, Q):
    """Make new example r the learnt example i of a class, and insert it into the lists of others."""
    same, other = examples.same, examples.other
    for t in rows:
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
    e, bounds = alphas.position[t], examples.bounds[t]
    if e < 0:
        e = alphas.position[t] = alphas.number[0]
        alphas.number[0] += 1
        alphas.codes[e], alphas.earlier[:, e] = examples.codes[t], bounds[ALPHA]
    fill_bounds(examples.same[t], examples.other[t], examples.ks, bounds)
    alphas.now[:, e] = bounds[ALPHA]
    limits[t] = limit_of(max(examples.same[t, -1], examples.other[t, -1]), filter.low[t], filter.unit)
