"""Kernels that count the strangeness values above, and equal to, the one of a new example.

Source: Proedrou, Nouretdinov, Vovk, Gammerman, Transductive Confidence Machines for Pattern Recognition,
ECML 2002, equations (2) and (3). ``ks`` (q,) holds the values of k in ascending order; an axis of length q
has one entry for each.

The alpha of a training example changes under a completion (x, j) only if x enters one of its two lists: the
list of its own class if that is j (alpha decreases), or else the list of other classes (alpha increases, by
the same amount for all such j). A count therefore starts from the sorted alphas of the training set, and is
updated for the few examples whose change can matter. ``bounds`` (examples, 5, q) decides which these are:
search radius of the own list (its k-th distance), alpha, search radius of the other list, sum of the own
list, sum of the first k - 1 entries of the other list. The bounds of a tree's node are the largest ones of
its rows, for the last entry the smallest one.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.methods.tcm_nn._kernels_lists import mark_space
from confml.methods.tcm_nn._kernels_ranked import places_of
from confml.methods.tcm_nn._kernels_tree import limit_of
from confml.neighbours.distances import squared_distance_of_rows
from confml.neighbours.lanes import WIDE_FAN, boxes_within, first_place, rows_within
from confml.neighbours.wide_tree import DEPTH

RADIUS, ALPHA, OTHER_RADIUS, SUM, OTHER_PART = range(5)
_TIGHT = 1.0 - 1e-9  # below any rounding of a sum of k distances, a product or a root
_ABOVE_ONE = 1.0 + 1e-6


class Examples(NamedTuple):
    """Examples X (m, d) that the counts start from.

    same, other (m, K): distances to the nearest of the own and of other classes, ascending. bounds (m, 5, q).
    weights (m,): int64. ks (q,). others: whether an example changes the counts of other labels than its own.
    """

    X: np.ndarray
    same: np.ndarray
    other: np.ndarray
    bounds: np.ndarray
    weights: np.ndarray
    ks: np.ndarray
    others: bool


class NewExamples(NamedTuple):
    """New examples Q (b, d), their counts greater, equal, their alphas, and the lowest alpha under all labels
    but one, each (b, c, q)."""

    Q: np.ndarray
    greater: np.ndarray
    equal: np.ndarray
    alphas: np.ndarray
    lowest: np.ndarray


class Similarities(NamedTuple):
    """Similarities tile (b, m) of new examples and examples, with norms, slack, usable (b,) and factor, unit,
    low (m,) of their `DistanceFilter`."""

    tile: np.ndarray
    norms: np.ndarray
    slack: np.ndarray
    usable: np.ndarray
    factor: float
    unit: float
    low: np.ndarray


@kernel
def strangeness(same, other):
    """Compute equation (2) from its two sums: +inf if the own class is too small, x/0 = +inf, 0/0 = 1."""
    if same == np.inf:
        return np.inf
    if other == 0.0:
        return 1.0 if same == 0.0 else np.inf
    return same / other


@kernel
def base_bounds(same, other, ks, bounds):
    """Fill bounds (m, 5, q) from the lists same, other (m, K), whose distances ascend."""
    for t in range(len(same)):
        own = others = part = 0.0
        q = 0
        for e in range(ks[-1]):
            own += same[t, e]
            part = others
            others += other[t, e]
            if e + 1 == ks[q]:
                entry = bounds[t]
                entry[RADIUS, q], entry[OTHER_RADIUS, q] = same[t, e], other[t, e]
                entry[SUM, q], entry[OTHER_PART, q] = own, part
                entry[ALPHA, q] = strangeness(own, others)
                q += 1


@kernel
def influence_radius(bounds, others, distances):
    """Fill distances (2, m): new examples at this distance or farther change no count through example t.

    distances[0] is the larger search radius. distances[1] applies if all alphas that alpha_t could overtake
    exceed 1: alpha_t increases above 1 only if the distance is below the difference of its two sums.
    """
    last = bounds.shape[2] - 1
    for t in range(len(bounds)):
        own, other = bounds[t, RADIUS, last], bounds[t, OTHER_RADIUS, last] if others else 0.0
        difference = 0.0
        for q in range(last + 1):
            rise = bounds[t, SUM, q] / _TIGHT - bounds[t, OTHER_PART, q] * _TIGHT
            if not rise <= difference:  # NaN, of two infinite sums, included
                difference = rise if rise == rise else np.inf
        distances[0, t] = max(own, other)
        distances[1, t] = max(own, min(other, difference))


@kernel
def new_alphas(nearest, ks, alphas, lowest):
    """Compute the strangeness of new examples under each label, and the lowest under all labels but one.

    nearest (b, c, K): distances to the K nearest of each class. alphas (b, c, q). lowest[r, z] (q,) is the
    smallest of alphas[r, j] over j != z, +inf with one class.
    """
    rows, classes, k_max = nearest.shape
    length = min(2 * k_max, classes * k_max)  # a class has at most K of them, so K of other classes remain
    merged, owner = np.empty(length), np.empty(length, np.int64)
    heads = np.empty(classes, np.int64)
    for r in range(rows):
        heads[:] = 0
        for e in range(length):
            best = -1
            for z in range(classes):
                if heads[z] < k_max and (best < 0 or nearest[r, z, heads[z]] < nearest[r, best, heads[best]]):
                    best = z
            merged[e], owner[e] = nearest[r, best, heads[best]], best
            heads[best] += 1
        for j in range(classes):
            own = others = 0.0
            at = q = 0
            for e in range(ks[-1]):
                own += nearest[r, j, e]
                while at < length and owner[at] == j:
                    at += 1
                others += merged[at] if at < length else np.inf
                at += 1
                if e + 1 == ks[q]:
                    alphas[r, j, q] = strangeness(own, others)
                    q += 1
        for q in range(len(ks)):
            first = second = np.inf
            where = -1
            for j in range(classes):
                alpha = alphas[r, j, q]
                if where < 0 or alpha < first:
                    first, second, where = alpha, first, j
                elif alpha < second:
                    second = alpha
            for z in range(classes):
                lowest[r, z, q] = second if z == where else first


@kernel
def base_counts(ranked, totals, starts, label_conditional, alphas, greater, equal):
    """Count the training alphas above, and equal to, each new one, by weight.

    ranked (q, m): ascending alphas, per class if ``label_conditional``, else of all examples. totals
    (q, m + 1), or (1, m + 1) for all values of k: summed weights of the examples before each place.
    """
    rows, classes, wanted = alphas.shape
    for r in range(rows):
        for j in range(classes):
            first, last = (starts[j], starts[j + 1]) if label_conditional else (0, ranked.shape[1])
            for q in range(wanted):
                below, above = places_of(ranked[q], first, last, alphas[r, j, q])
                total = totals[min(q, len(totals) - 1)]
                greater[r, j, q], equal[r, j, q] = total[last] - total[above], total[above] - total[below]


@kernel
def reach_of_node(nodes, node, ks, alphas, lowest, others):
    """Return a distance: a new example farther than this from all rows of a node changes no count through
    them.

    nodes (examples, 5, q): bounds; alphas (q,): the new example's under the class of the node; lowest (q,):
    its lowest under the other labels; others: whether other labels count at all. An alpha decreases below
    alphas[q] only if the new distance, which is in its own sum, is below alphas[q] times its other sum.
    Comparisons with NaN (0 times infinity) count as larger.
    """
    reach = 0.0
    for q in range(nodes.shape[2]):
        radius, other_radius = nodes[node, RADIUS, q], nodes[node, OTHER_RADIUS, q]
        if nodes[node, ALPHA, q] >= alphas[q]:
            below = alphas[q] * (ks[q] * other_radius) * _ABOVE_ONE
            reach = max(reach, below if below < radius else radius)
        if others:
            rise = nodes[node, SUM, q] / (lowest[q] * _TIGHT) * _ABOVE_ONE
            rise -= nodes[node, OTHER_PART, q] * _TIGHT
            reach = max(reach, rise if rise < other_radius else other_radius)
    return reach


@kernel
def may_cross(bounds, t, gap, alphas, lowest, others):
    """Return whether a new example at a distance of ``gap`` or more can change a count through example t.

    bounds (examples, 5, q); alphas, lowest, others: as in `reach_of_node`. Comparisons with NaN give True.
    """
    for q in range(bounds.shape[2] - 1, -1, -1):
        radius, other_radius = bounds[t, RADIUS, q], bounds[t, OTHER_RADIUS, q]
        total, part = bounds[t, SUM, q], bounds[t, OTHER_PART, q]
        inside = gap < radius
        if inside and bounds[t, ALPHA, q] >= alphas[q]:
            fallen = (total * _TIGHT - radius / _TIGHT + gap) * _TIGHT  # the own sum with x in it, at least
            if not fallen > alphas[q] * (part + other_radius):
                return True
        if others and gap < other_radius:
            if not total < lowest[q] * (part + gap) * _TIGHT:
                return True
        elif not inside:
            return False
    return False


@kernel
def least_distance(similar, r, t):
    """Return a distance, in the units of the data, that new example r and example t have at least."""
    square = similar.norms[r] - similar.slack[r]
    square -= similar.factor * (np.float64(similar.tile[r, t]) - np.float64(similar.low[t]))
    return np.sqrt(max(square, 0.0)) * similar.unit * _TIGHT


@kernel
def _recount(before, after, weight, new, r, j, q):
    """Update the counts of new example r under label j after the strangeness of an example of this weight
    went from ``before`` to ``after``."""
    alpha = new.alphas[r, j, q]
    new.greater[r, j, q] += weight * (np.int64(after > alpha) - np.int64(before > alpha))
    new.equal[r, j, q] += weight * (np.int64(after == alpha) - np.int64(before == alpha))


@kernel
def update_counts(distance, t, z, base, new, r):
    """Update the counts of new example r for example t of class z at a known distance.

    Sums are computed again in ascending order.
    """
    same, other, bounds, ks, weight = base.same, base.other, base.bounds, base.ks, base.weights[t]
    k_max = ks[-1]
    if distance < same[t, k_max - 1]:
        own = rest = 0.0
        q = e = 0
        entered = False
        for place in range(k_max):
            if not entered and distance < same[t, e]:
                own += distance
                entered = True
            else:
                own += same[t, e]
                e += 1
            rest += other[t, place]
            if place + 1 == ks[q]:
                if entered:
                    _recount(bounds[t, ALPHA, q], strangeness(own, rest), weight, new, r, z, q)
                q += 1
    if base.others and distance < other[t, k_max - 1]:
        rest = 0.0
        q = e = 0
        entered = False
        for place in range(k_max):
            if not entered and distance < other[t, e]:
                rest += distance
                entered = True
            else:
                rest += other[t, e]
                e += 1
            if place + 1 == ks[q]:
                if entered:
                    before, after = bounds[t, ALPHA, q], strangeness(bounds[t, SUM, q], rest)
                    for j in range(new.alphas.shape[1] if after >= new.lowest[r, z, q] else 0):
                        if j != z:
                            _recount(before, after, weight, new, r, j, q)
                q += 1


@kernel
def update_counts_by_scan(similar, limits, starts, base, new):
    """Update the base counts of a block of new examples by a scan over their similarities to all examples.

    limits (2, m): ``similarity_limits`` of the filter at the distances of `influence_radius`.
    """
    block, norms, slack = similar.tile, similar.norms, similar.slack
    bounds, others, alphas, lowest = base.bounds, base.others, new.alphas, new.lowest
    hits, words = mark_space(block.shape[1])
    for r in range(block.shape[0]):
        if not similar.usable[r]:
            continue
        shift = block.dtype.type((norms[r] - slack[r]) / similar.factor)
        for z in range(len(starts) - 1):
            strange = 1
            for q in range(len(base.ks)):
                if not new.lowest[r, z, q] > _ABOVE_ONE:
                    strange = 0
            g, least = block[r, starts[z] : starts[z + 1]], limits[strange, starts[z] : starts[z + 1]]
            words[(len(g) - 1) // 8] = 0
            for e in range(len(g)):
                hits[e] = np.uint8(g[e] - shift > least[e])
            for word in range((len(g) + 7) // 8):
                if words[word] == 0:
                    continue
                for e in range(8 * word, min(8 * word + 8, len(g))):
                    if hits[e] == 0:
                        continue
                    t = starts[z] + e
                    gap = least_distance(similar, r, t)
                    if may_cross(bounds, t, gap, alphas[r, z], lowest[r, z], others):
                        distance = np.sqrt(squared_distance_of_rows(new.Q, r, base.X, t))
                        update_counts(distance, t, z, base, new, r)


@kernel
def node_bounds(bounds, first, count, child, nodes):
    """Fill nodes (leaves and groups, 5, q), the bounds of every node, from the bounds of the examples."""
    leaves = len(first)
    nodes[:] = -np.inf
    nodes[:, OTHER_PART] = np.inf
    for leaf in range(leaves):
        for e in range(count[leaf]):
            _widen(nodes[leaf], bounds[first[leaf] + e])
    for group in range(child.shape[1]):
        for node in range(child[0, group], child[1, group]):
            _widen(nodes[leaves + group], nodes[node])


@kernel
def _widen(entry, by):
    """Extend a node's bounds to those of an example or a child, ``by`` (5, q)."""
    for q in range(entry.shape[1]):
        for field in range(OTHER_PART):
            entry[field, q] = max(entry[field, q], by[field, q])
        entry[OTHER_PART, q] = min(entry[OTHER_PART, q], by[OTHER_PART, q])


@kernel
def update_counts_by_trees(values, errors, owner, trees, nodes, base, new):
    """Update the base counts of new examples, visiting only boxes where a change can matter.

    values, errors: the rounded rows of the new examples; trees, see `_kernels_tree`; owner (roots,): the
    class of each tree; nodes: the bounds of the nodes. base: the examples in the order of the trees.
    """
    kind = trees.rows.dtype
    space = np.empty(DEPTH, np.int64), np.empty(DEPTH, kind), np.empty(WIDE_FAN, kind)
    for r in range(len(values)):
        for tree in range(len(trees.roots)):
            _update_counts_by_tree(values, errors[r], r, owner[tree], trees, tree, nodes, base, new, space)


@kernel
def _update_counts_by_tree(values, error, r, z, trees, tree, nodes, base, new, space):
    """Update the counts of new example r with the examples of one tree, which are of class z."""
    waiting, limits, boxes = space
    bounds, ks, others, alphas, lowest = base.bounds, base.ks, base.others, new.alphas[r, z], new.lowest[r, z]
    leaves = len(trees.first)
    if error == np.inf:
        for t in range(trees.starts[tree], trees.starts[tree + 1]):
            distance = np.sqrt(squared_distance_of_rows(new.Q, r, base.X, t))
            if may_cross(bounds, t, distance, alphas, lowest, others):
                update_counts(distance, t, z, base, new, r)
        return
    reach = reach_of_node(nodes, trees.roots[tree], ks, alphas, lowest, others)
    waiting[0], limits[0] = trees.roots[tree], limit_of(reach, error, trees)
    held = 1
    while held > 0:
        held -= 1
        node, limit = waiting[held], limits[held]
        if node >= leaves:
            group = node - leaves
            mask = boxes_within(values, r, trees.lows, trees.highs, group, limit, boxes)
            while mask != 0:
                place = first_place(mask)
                mask &= mask - 1
                under = trees.child[0, group] + place
                reach = reach_of_node(nodes, under, ks, alphas, lowest, others)
                limit = limit_of(reach, error, trees)
                if boxes[place] <= limit:
                    waiting[held], limits[held] = under, limit
                    held += 1
            continue
        near = rows_within(values, r, trees.rows, node, limit)
        while near != 0:
            t = trees.first[node] + first_place(near)
            near &= near - 1
            distance = np.sqrt(squared_distance_of_rows(new.Q, r, base.X, t))
            if may_cross(bounds, t, distance, alphas, lowest, others):
                update_counts(distance, t, z, base, new, r)
