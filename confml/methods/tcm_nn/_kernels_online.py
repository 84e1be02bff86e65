"""Kernels of online TCM-NN: each example is predicted from those learnt before it, then learnt.

Arrays of learnt examples have a capacity for more; only their first ``n`` rows are defined. ``same``,
``other`` (capacity, K) are the nearest distances of an example to its own and to other classes, ascending,
+inf where there are fewer, and ``alpha`` (q, capacity) its strangeness for each k of ``ks`` (q,), ascending
and different, the last one K. One step costs n distances, c n comparisons, and O(K) per changed list.
"""

from __future__ import annotations

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn._kernels import new_alphas, strangeness


@kernel
def _insert(values, value):
    """Insert a value into an ascending list (K,) and drop the last one, which is not smaller."""
    place = len(values) - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        place -= 1
    values[place] = value


@kernel
def _alphas(same, other, ks, out):
    """Compute the strangeness from two lists (K,) for every k; sums are added in ascending order."""
    own = others = 0.0
    q = 0
    for e in range(ks[-1]):
        own += same[e]
        others += other[e]
        if e + 1 == ks[q]:
            out[q] = strangeness(own, others)
            q += 1


@kernel
def alphas_of(same, other, ks, n, alpha):
    """Fill alpha (q, capacity) of the first n examples from their lists."""
    for t in range(n):
        _alphas(same[t], other[t], ks, alpha[:, t])


@kernel
def _recount(before, after, alpha):
    """Changes of the (greater, equal) counts when a strangeness changes from ``before`` to ``after``."""
    return (
        np.int64(after > alpha) - np.int64(before > alpha),
        np.int64(after == alpha) - np.int64(before == alpha),
    )


@kernel
def _count(distance, n, codes, same, other, alpha, ks, label_conditional, alphas, greater, equal):
    """Count over n examples at these distances, for a new example with alphas (c, q) under each label.

    First with the strangeness of the examples among themselves; then the counts are updated for examples
    whose lists the new example enters (the own list under their label, the other list under other labels).
    """
    classes, wanted = alphas.shape
    k_max = ks[-1]
    for q in range(wanted):
        values = alpha[q, :n]
        for j in range(classes):
            new, above, alike = alphas[j, q], np.int64(0), np.int64(1)
            if label_conditional:
                for t in range(n):
                    mine = codes[t] == j
                    above += np.int64(mine & (values[t] > new))
                    alike += np.int64(mine & (values[t] == new))
            else:
                for t in range(n):
                    above += np.int64(values[t] > new)
                    alike += np.int64(values[t] == new)
            greater[j, q], equal[j, q] = above, alike
    longer, changed = np.empty(k_max), np.empty(wanted)
    for t in range(n):
        z, gap = codes[t], distance[t]
        if gap < same[t, k_max - 1]:
            for e in range(k_max):
                longer[e] = same[t, e]
            _insert(longer, gap)
            _alphas(longer, other[t], ks, changed)
            for q in range(wanted):
                above, alike = _recount(alpha[q, t], changed[q], alphas[z, q])
                greater[z, q] += above
                equal[z, q] += alike
        if not label_conditional and gap < other[t, k_max - 1]:
            for e in range(k_max):
                longer[e] = other[t, e]
            _insert(longer, gap)
            _alphas(same[t], longer, ks, changed)
            for q in range(wanted):
                for j in range(classes):
                    if j != z:
                        above, alike = _recount(alpha[q, t], changed[q], alphas[j, q])
                        greater[j, q] += above
                        equal[j, q] += alike


@kernel
def _learn(distance, n, code, codes, same, other, alpha, ks, nearest):
    """Learn an example with a class code at index n, at these distances from the n examples before it."""
    k_max = ks[-1]
    for t in range(n):
        gap = distance[t]
        values = same[t] if codes[t] == code else other[t]
        if gap < values[k_max - 1]:
            _insert(values, gap)
            _alphas(same[t], other[t], ks, alpha[:, t])
    codes[n] = code
    same[n] = nearest[code]
    other[n] = np.inf
    for z in range(len(nearest)):
        if z != code:
            for gap in nearest[z]:
                if not gap < other[n, k_max - 1]:
                    break
                _insert(other[n], gap)
    _alphas(same[n], other[n], ks, alpha[:, n])


@kernel
def steps(
    tile,
    n,
    new_codes,
    predicts,
    learns,
    codes,
    same,
    other,
    alpha,
    ks,
    label_conditional,
    greater,
    equal,
    alphas,
):
    """Process b new examples in order: predict each if ``predicts``, then learn it if ``learns``.

    tile (b, n + b): minus the squared distances to the n examples learnt so far and to the b new ones, of
    which the first r have been learnt when example r is predicted. new_codes (b,): used if they are learnt.
    greater, equal, alphas (b, c, q): as `Counts`; filled if ``predicts``. Returns the number of examples
    learnt.
    """
    classes = alphas.shape[1]
    k_max = ks[-1]
    nearest, lowest = np.empty((1, classes, k_max)), np.empty((1, classes, len(ks)))
    for r in range(len(tile)):
        distance = np.sqrt(np.abs(tile[r, :n]))
        nearest[:] = np.inf
        for t in range(n):
            values = nearest[0, codes[t]]
            if distance[t] < values[k_max - 1]:
                _insert(values, distance[t])
        if predicts:
            new_alphas(nearest, ks, alphas[r : r + 1], lowest)
            _count(
                distance, n, codes, same, other, alpha, ks, label_conditional,
                alphas[r], greater[r], equal[r],
            )  # fmt: skip
        if learns:
            _learn(distance, n, new_codes[r], codes, same, other, alpha, ks, nearest[0])
            n += 1
    return n
