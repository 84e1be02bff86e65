"""Kernels of online TCM-NN: each example is predicted from those learnt before it, then learnt.

Examples that have not arrived have no class, infinite lists, an alpha of NaN and a limit of +inf, and their
products with earlier examples are -inf: they are not neighbours and count for nothing.

Few alphas change while a block is processed. Counts therefore search the sorted alphas from before the block,
and correct the result for the examples in ``changed``, which includes those that have arrived since.
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
    """Alphas (q, m) of the learnt examples: now, before the block (earlier; NaN if not learnt then), and the
    latter in ascending order (q, n), from each of the cuts to the next: of one class, or of all together.

    changed: the first number[0] entries are the examples whose alpha has changed; is_changed (m,).
    """

    now: np.ndarray
    earlier: np.ndarray
    ascending: np.ndarray
    cuts: np.ndarray
    changed: np.ndarray
    is_changed: np.ndarray
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
            _count_alphas(alphas, examples, r, label_conditional, new)
            scan_counts(filter, rows, r, examples, new)
        if r < len(codes):
            _learn(filter, rows, r, learnt, codes[r], nearest, alphas, limits, examples, new.Q)


@kernel
def _count_alphas(alphas, examples, r, label_conditional, new):
    """Count the alphas of learnt examples above, and equal to, the one of new example r per label."""
    codes, cuts = examples.codes, alphas.cuts
    for q in range(len(alphas.now)):
        of_labels, greater, equal = new.alphas[r, :, q], new.greater[r, :, q], new.equal[r, :, q]
        for z in range(len(cuts) - 1):
            ascending = alphas.ascending[q, cuts[z] : cuts[z + 1]]
            for j in range(len(of_labels)):
                if not label_conditional or codes[cuts[z]] == j:
                    end = np.searchsorted(ascending, of_labels[j], side="right")
                    greater[j] += len(ascending) - end
                    equal[j] += end - np.searchsorted(ascending, of_labels[j], side="left")
        for t in alphas.changed[: alphas.number[0]]:
            now, earlier, code = alphas.now[q, t], alphas.earlier[q, t], codes[t]
            for j in range(
                code if label_conditional else 0, code + 1 if label_conditional else len(of_labels)
            ):
                greater[j] += np.int64(now > of_labels[j]) - np.int64(earlier > of_labels[j])
                equal[j] += np.int64(now == of_labels[j]) - np.int64(earlier == of_labels[j])


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
    fill_bounds(examples.same[t], examples.other[t], examples.ks, examples.bounds[t])
    for q in range(len(examples.ks)):
        alphas.now[q, t] = examples.bounds[t, ALPHA, q]
    if not alphas.is_changed[t]:
        alphas.is_changed[t] = True
        alphas.changed[alphas.number[0]] = t
        alphas.number[0] += 1
    limits[t] = limit_of(max(examples.same[t, -1], examples.other[t, -1]), filter.low[t], filter.unit)
