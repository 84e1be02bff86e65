"""Kernels of TCM-NN: neighbour lists, strangeness, and counts of new examples.

Source: Proedrou, Nouretdinov, Vovk, Gammerman, Transductive Confidence Machines for Pattern Recognition,
ECML 2002, equations (2) and (3). ``ks`` (q,) holds the values of k in ascending order; an axis of length q
has one entry for each.

The alpha of a training example changes under a completion (x, j) only if x enters one of its two lists: the
list of its own class if that is j (alpha decreases), or else the list of other classes (alpha increases, by
the same amount for all such j). A count therefore starts from the alphas of the training set, and is updated
for the few examples whose change can matter (`can_matter`). ``bounds`` (examples, 5, q) decides which these
are: search radius of the own list (its k-th distance), alpha, search radius of the other list, sum of the own
list, sum of the first k - 1 entries of the other list. The bounds of a tree's node are the largest ones of
its rows, for the last entry the smallest one.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.neighbours.candidates import BY_CLASS, RUN, candidates, list_of
from confml.neighbours.distances import insert, squared_distances

RADIUS, ALPHA, OTHER_RADIUS, SUM, OTHER_PART = range(5)
_TIGHT = 1.0 - 1e-9  # below any rounding of a sum of k distances, a product or a root
_ABOVE_ONE = 1.0 + 1e-6


class Examples(NamedTuple):
    """Training examples X (m, d) with their classes codes (m,), which are equal from each of the cuts
    (s + 1,) to the next.

    same, other (m, K): distances to the nearest of the own and of other classes, ascending. bounds (m, 5, q).
    counted (m,): whether an example counts. ks (q,). others: whether an example counts for other labels than
    its own.
    """

    X: np.ndarray
    codes: np.ndarray
    cuts: np.ndarray
    same: np.ndarray
    other: np.ndarray
    bounds: np.ndarray
    counted: np.ndarray
    ks: np.ndarray
    others: bool


class NewExamples(NamedTuple):
    """New examples Q (b, d) with the arrays of `Counts`, and the lowest alpha under all labels but one, each
    (b, c, q)."""

    Q: np.ndarray
    greater: np.ndarray
    equal: np.ndarray
    alphas: np.ndarray
    lowest: np.ndarray


class Filter(NamedTuple):
    """Products tile (b, m) of new examples and examples, with the bounds of their `DistanceFilter`: slack and
    lowest (b,) of the new examples; low, high (m,) of the examples; unit of distances."""

    tile: np.ndarray
    slack: np.ndarray
    lowest: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unit: float


# ---- strangeness


@kernel
def strangeness(same, other):
    """Compute equation (2) from its two sums: +inf if the own class is too small, x/0 = +inf, 0/0 = 1."""
    if same == np.inf:
        return np.inf
    if other == 0.0:
        return 1.0 if same == 0.0 else np.inf
    return same / other


@kernel
def fill_bounds(same, other, ks, bounds):
    """Fill bounds (5, q) of an example from its lists same, other (K,), whose distances ascend."""
    same_sum = others = part = 0.0
    q = 0
    for e in range(ks[-1]):
        same_sum += same[e]
        part = others
        others += other[e]
        if e + 1 == ks[q]:
            bounds[RADIUS, q], bounds[OTHER_RADIUS, q] = same[e], other[e]
            bounds[SUM, q], bounds[OTHER_PART, q] = same_sum, part
            bounds[ALPHA, q] = strangeness(same_sum, others)
            q += 1


@kernel
def fill_all_bounds(same, other, ks, bounds):
    """Fill bounds (m, 5, q) from the lists same, other (m, K)."""
    for t in range(len(same)):
        fill_bounds(same[t], other[t], ks, bounds[t])


@kernel
def nearest_of_others(nearest, label, other):
    """Fill other (K,) with the smallest of nearest (c, K) over all classes but one."""
    other[:] = np.inf
    for z in range(len(nearest)):
        if z != label:
            for distance in nearest[z]:
                if not distance < other[-1]:
                    break
                insert(other, distance)


@kernel
def new_alphas(nearest, r, new, ks):
    """Compute the strangeness of new example r under each label, and the lowest under all labels but one.

    nearest (c, K): distances to the K nearest of each class.
    """
    other, bounds = np.empty(nearest.shape[1]), np.empty((5, len(ks)))
    new.lowest[r] = np.inf
    for j in range(len(nearest)):
        nearest_of_others(nearest, j, other)
        fill_bounds(nearest[j], other, ks, bounds)
        for q in range(len(ks)):
            alpha = new.alphas[r, j, q] = bounds[ALPHA, q]
            for z in range(len(nearest)):
                if z != j:
                    new.lowest[r, z, q] = min(new.lowest[r, z, q], alpha)


# ---- lists of nearest examples


@kernel
def search_filter(filter, Q, r, X, codes, cuts, label, nearest):
    """Fill nearest (lists, K) with the distances of Q[r] to its K nearest examples of each list, ascending.

    codes, cuts, label: as in `candidates`, which excludes most examples.
    """
    lists, k = nearest.shape
    nearest[:] = np.inf
    low, high = filter.low, filter.high
    rows = candidates(filter.tile[r], low, high, filter.slack[r], codes, cuts, label, lists, k)
    squares = np.empty(len(rows))
    squared_distances(Q[r], X, rows, squares)
    for e in range(len(rows)):
        of_list = nearest[list_of(codes[rows[e]], label)]
        if squares[e] < of_list[k - 1]:
            insert(of_list, squares[e])
    for of in range(lists):
        for e in range(k):
            nearest[of, e] = np.sqrt(nearest[of, e])


@kernel
def training_lists(filter, first, X, codes, cuts, nearest):
    """Fill nearest[i] (2, K), of its class and of others, for the b examples i from ``first`` on."""
    Q = X[first : first + len(filter.tile)]
    for r in range(len(Q)):
        filter.tile[r, first + r] = -np.inf  # it does not count for itself
        search_filter(filter, Q, r, X, codes, cuts, codes[first + r], nearest[first + r])


# ---- counts


@kernel
def can_matter(bounds, t, gap, ks, alphas, lowest, others):
    """Return whether a new example at a distance of ``gap`` or more can change a count through t.

    bounds (examples or nodes of a tree, 5, q); alphas (q,): the new example's under the class of t; lowest
    (q,): its lowest under the other labels; others: whether other labels count at all. An alpha decreases
    below alphas[q] only if the new distance, which is in its own sum, is below alphas[q] times its other sum.
    It increases to lowest[q] only if its own sum is at least lowest[q] times the other sum with the new
    distance in it. Comparisons with NaN (0 times infinity) give True.
    """
    for q in range(bounds.shape[2]):
        radius, other_radius = bounds[t, RADIUS, q], bounds[t, OTHER_RADIUS, q]
        if gap < radius and bounds[t, ALPHA, q] >= alphas[q]:
            if not gap > alphas[q] * (ks[q] * other_radius) * _ABOVE_ONE:
                return True
        if others and gap < other_radius:
            if not bounds[t, SUM, q] < lowest[q] * (bounds[t, OTHER_PART, q] + gap) * _TIGHT:
                return True
    return False


@kernel
def fill_sums_with(distance, distances, ks, sums):
    """Fill sums (q,) with the sums of the k smallest of ascending distances (K,) and another one, which is
    below the last of them, added in ascending order."""
    total, e, q = 0.0, 0, 0
    for n in range(ks[-1]):
        if distances[e] <= distance:
            total += distances[e]
            e += 1
        else:
            total += distance
            distance = np.inf
        if n + 1 == ks[q]:
            sums[q] = total
            q += 1


@kernel
def _recount(before, after, alphas, greater, equal):
    """Update the counts (q,) of a new example for alphas that went from ``before`` to ``after``."""
    for q in range(len(after)):
        greater[q] += np.int64(after[q] > alphas[q]) - np.int64(before[q] > alphas[q])
        equal[q] += np.int64(after[q] == alphas[q]) - np.int64(before[q] == alphas[q])


@kernel
def update_counts(distance, t, examples, new, r):
    """Update the counts of new example r for example t at this distance."""
    if not examples.counted[t]:
        return
    z, ks, bounds, after = examples.codes[t], examples.ks, examples.bounds[t], np.empty(len(examples.ks))
    before = bounds[ALPHA]
    if distance < examples.same[t, -1]:
        fill_sums_with(distance, examples.same[t], ks, after)
        for q in range(len(ks)):
            if distance < bounds[RADIUS, q]:
                after[q] = strangeness(after[q], bounds[OTHER_PART, q] + bounds[OTHER_RADIUS, q])
            else:
                after[q] = before[q]
        _recount(before, after, new.alphas[r, z], new.greater[r, z], new.equal[r, z])
    if examples.others and distance < examples.other[t, -1]:
        fill_sums_with(distance, examples.other[t], ks, after)
        can_count = False
        for q in range(len(ks)):
            if distance < bounds[OTHER_RADIUS, q]:
                after[q] = strangeness(bounds[SUM, q], after[q])
                can_count |= after[q] >= new.lowest[r, z, q]
            else:
                after[q] = before[q]
        for j in range(new.alphas.shape[1] if can_count else 0):
            if j != z:
                _recount(before, after, new.alphas[r, j], new.greater[r, j], new.equal[r, j])


@kernel
def fill_limits(low, unit, examples, others, limits):
    """Fill limits (m,): products, minus ``lowest`` of a new example, above which it can be inside a search
    radius, also that of ``others`` if true; +inf for examples that do not count.

    low (m,), unit: of the `DistanceFilter`.
    """
    for t in range(len(limits)):
        radius = examples.same[t, -1]
        if others:
            radius = max(radius, examples.other[t, -1])
        limits[t] = limit_of(radius, low[t], unit) if examples.counted[t] else np.inf


@kernel
def limit_of(radius, low, unit):
    """Return the limit of an example with this search radius."""
    radius /= unit
    return low - radius * radius / 2 * _ABOVE_ONE


@kernel
def least_distance(filter, r, t):
    """Return a distance, in the units of the data, that new example r and example t have at least."""
    half = np.float64(filter.lowest[r]) + np.float64(filter.low[t]) - np.float64(filter.tile[r, t])
    return np.sqrt(max(2.0 * half, 0.0)) * filter.unit * _TIGHT


@kernel
def examples_within(products, lowest, limits):
    """Return the examples whose lists a new example may enter: those that the filter cannot exclude.

    products, limits (m,); lowest: of the new example. Runs of examples are compared in vector registers.
    """
    rows, n = np.empty(len(products), np.int64), 0
    for begin in range(0, len(products), RUN):
        run, of_run = products[begin : begin + RUN], limits[begin : begin + RUN]
        near = np.int32(0)
        for e in range(len(run)):
            near |= np.int32(run[e] - lowest > of_run[e])
        for e in range(len(run) if near else 0):
            if run[e] - lowest > of_run[e]:
                rows[n] = begin + e
                n += 1
    return rows[:n]


@kernel
def scan_counts(filter, rows, r, examples, new):
    """Update the counts of new example r for the examples of `examples_within`."""
    near, n = np.empty(len(rows), np.int64), 0
    for t in rows:
        z = examples.codes[t]
        gap, alphas, others = least_distance(filter, r, t), new.alphas[r, z], new.lowest[r, z]
        if can_matter(examples.bounds, t, gap, examples.ks, alphas, others, examples.others):
            near[n] = t
            n += 1
    squares = np.empty(n)
    squared_distances(new.Q[r], examples.X, near[:n], squares)
    for e in range(n):
        update_counts(np.sqrt(squares[e]), near[e], examples, new, r)


@kernel
def count_block(filter, limits, examples, new):
    """Compute the alphas of a block of new examples, and the changes of the counts by examples near them."""
    nearest = np.empty((new.alphas.shape[1], examples.ks[-1]))
    for r in range(len(new.Q)):
        search_filter(filter, new.Q, r, examples.X, examples.codes, examples.cuts, BY_CLASS, nearest)
        new_alphas(nearest, r, new, examples.ks)
        scan_counts(filter, examples_within(filter.tile[r], filter.lowest[r], limits), r, examples, new)
