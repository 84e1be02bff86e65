"""Boruvka's algorithm on a k-d tree: the parts of a growing forest are joined by their first outgoing edges.

In the total order of edges no two are equal, so the first edge out of a part is an edge of the one minimal
spanning tree, whichever parts are looked at and when. That freedom is used: an edge costs nothing where the
neighbour lists show that it is the first; searches are made only when such edges have become few, and then
only for the cheaper half of the parts: a large part waits until the others have joined it.

What is known of a position stays known: edges out of its part have only become fewer when parts were joined,
so what came after (bound, key) once does so ever after.
"""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_disjoint_set import find, unite
from confml.bayes_error._kernels_edges import edge_key
from confml.bayes_error._kernels_searches import LAST, is_used, nearest_outside, smallest_ranks
from confml.neighbours.wide_tree import DEPTH, FAN, FAR, LEAF, one_part_leaves, wide_tree

SPLIT = 32
"""Rows per part, on average, from which on the tree is built anew such that no leaf has rows of two parts."""
FEWEST_TO_SPLIT = 4
"""Number of features from which on this saves more searches than it costs."""
SEVERAL = 4
"""Positions are counted leaf by leaf once the lists of one in so many have ended."""
FREE = 8
"""Searches wait while at least one part in so many has an edge that needs none."""


@kernel
def boruvka(tree, rank, first, layers, d2, ends):
    """Return orthogonal trees (forests, where no further tree exists) of all positions of a `WideTree`.

    d2, ends (n, k): the lists of `nearest_lists`. Returns u < v, d2, key, layer, unsorted.
    """
    n = len(rank)
    room = layers * (n - 1)
    u, v, layer = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int8)
    w, keys = np.empty(room), np.empty(room, np.int64)
    chained = 2 * (layers - 1) * (n - 1)  # the last tree is not looked up
    chain_rows = n if chained else 0
    chain_head, chain_next, chain_other = (
        np.full(chain_rows, -1),
        np.empty(chained, np.int64),
        np.empty(chained, np.int32),
    )
    degree = np.zeros(chain_rows, np.int64)
    used = (chain_head, chain_next, chain_other, degree)
    found = 0
    for t in range(layers):
        begun = found
        found = _one_tree(tree, rank, first, d2, ends, used, u, v, w, keys, found)
        layer[begun:found] = t
        for e in range(begun, found if t < layers - 1 else begun):
            for a, b, step in ((u[e], v[e], 2 * e), (v[e], u[e], 2 * e + 1)):
                chain_other[step], chain_next[step] = b, chain_head[a]
                chain_head[a] = step
                degree[a] += 1
    return u[:found], v[:found], w[:found], keys[:found], layer[:found]


@kernel
def _one_tree(tree, rank, first, list_d2, list_ends, used, u, v, w, keys, filled):
    """Write the minimum spanning forest without used edges from place ``filled`` on; return the next free
    place.
    """
    n = len(list_d2)
    part = np.arange(n, dtype=np.int32)
    part_of_node = np.full(len(first), -1, np.int32)
    lists, edges = (list_d2, list_ends), (u, v, w, keys)
    # Of each position: the place in its list, the other end of its first edge out of its part (-1: not known)
    # with length and key, and an edge that comes before all others out of its part.
    firsts = (
        np.zeros(n, np.int32), np.full(n, np.int32(-1), np.int32), np.empty(n), np.empty(n, np.int64),
        np.zeros(n), np.zeros(n, np.int64),
    )  # fmt: skip
    low_d2, low_key = firsts[4], firsts[5]
    # Of each part: its first edge so far, and the number of searches that decide whether it is the first.
    best_d2, best_key, cost = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    bests = best_d2, best_key, np.empty(n, np.int32), np.empty(n, np.int32), cost
    mixed = True
    space = (
        np.empty((2, tree.X.shape[1])), np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(max(LEAF, FAN))
    )  # fmt: skip
    # The positions whose first edge can still change: the others wait for a search.
    active, n_active = np.arange(n, dtype=np.int32), n
    # Of each leaf: every edge out of the part of one of its rows comes after this one, or is this one.
    leaf_d2, leaf_key = np.zeros(len(tree.members)), np.zeros(len(tree.members), np.int64)
    # The positions whose lists have ended, while they are few and no search has been made.
    ended, n_ended, few_ended = np.empty(n, np.int32), 0, True
    root = np.arange(n, dtype=np.int32)
    filled = _join_first_neighbours(rank, lists, used, part, firsts, root, edges, filled)
    parts = _relabel(root, part)
    _label_nodes(tree, part, part_of_node)
    while parts > 1:
        for c in range(parts):
            best_d2[c], best_key[c], cost[c] = FAR, LAST, 0
        n_active, n_ended = _offer_lists(
            rank, lists, used, part, firsts, bests, active, n_active, ended, n_ended, few_ended
        )
        few_ended = few_ended and SEVERAL * n_ended <= n
        if few_ended:
            for at in range(n_ended):
                i = ended[at]
                if _before(low_d2[i], low_key[i], best_d2[part[i]], best_key[part[i]]):
                    cost[part[i]] += 1
        else:
            _count_by_leaf(
                tree, part, part_of_node, low_d2, low_key, best_d2, best_key, leaf_d2, leaf_key, cost
            )
        sure, ends = 0, 0
        for c in range(parts):
            sure += cost[c] == 0 and best_d2[c] < FAR
            ends += cost[c] == 0 and best_d2[c] == FAR
        if ends == parts:
            break
        if FREE * sure < parts:
            affordable = _cheaper_half(cost, parts)
            few_ended = False
            if mixed and n >= SPLIT * parts and tree.X.shape[1] >= FEWEST_TO_SPLIT:
                tree = wide_tree(tree.X, one_part_leaves(tree.X, part, parts))
                first = smallest_ranks(tree, rank)
                part_of_node = np.full(len(first), -1, np.int32)
                _label_nodes(tree, part, part_of_node)
                leaf_d2, leaf_key = np.zeros(len(tree.members)), np.zeros(len(tree.members), np.int64)
                mixed = False
            n_active = _search(
                tree, rank, first, part, part_of_node, used, affordable, firsts, bests, leaf_d2, leaf_key,
                active, n_active, space,
            )  # fmt: skip
            for c in range(parts):
                if cost[c] <= affordable:
                    cost[c] = 0
        root = np.arange(parts, dtype=np.int32)
        filled = _join(part, parts, bests, root, edges, filled)
        parts = _relabel(root, part)
        _label_nodes(tree, part, part_of_node)
    return filled


@kernel
def _join_first_neighbours(rank, lists, used, part, firsts, root, edges, filled):
    """Join each position by the first unused edge of its list, which is the first of all while it is a part
    of its own. Returns the next free place of the edges."""
    to, to_d2, to_key = firsts[1], firsts[2], firsts[3]
    u, v, w, keys = edges
    for i in range(len(part)):
        _next_of_list(rank, lists, used, part, i, firsts)
        j = to[i]
        if j >= 0 and unite(root, i, j):
            u[filled], v[filled], w[filled], keys[filled] = min(i, j), max(i, j), to_d2[i], to_key[i]
            filled += 1
    return filled


@kernel
def _offer_lists(rank, lists, used, part, firsts, bests, active, n_active, ended, n_ended, few_ended):
    """Offer the first edges of active positions to the parts of both ends; return the numbers of active
    positions and of those whose lists have ended, which are noted while they are few."""
    to, to_d2, to_key = firsts[1], firsts[2], firsts[3]
    kept = 0
    for at in range(n_active):
        i = active[at]
        if to[i] < 0 or part[to[i]] == part[i]:
            _next_of_list(rank, lists, used, part, i, firsts)
        if to[i] >= 0:
            active[kept] = i
            kept += 1
            _offer(part, i, to[i], to_d2[i], to_key[i], bests)
        elif few_ended:
            ended[n_ended] = i
            n_ended += 1
    return kept, n_ended


@kernel
def _offer(part, i, j, d2, key, bests):
    """Offer an edge to the parts of both its ends."""
    best_d2, best_key, best_u, best_v, _ = bests
    for c in (part[i], part[j]):
        if _before(d2, key, best_d2[c], best_key[c]):
            best_d2[c], best_key[c], best_u[c], best_v[c] = d2, key, i, j


@kernel
def _search(
    tree, rank, first, part, part_of_node, used, affordable, firsts, bests, leaf_d2, leaf_key,
    active, n_active, space,
):  # fmt: skip
    """Search the first edges of the parts that cost at most ``affordable``; return the number of active
    positions."""
    _, to, to_d2, to_key, low_d2, low_key = firsts
    best_d2, best_key, _, _, cost = bests
    box, nodes, gaps, out = space
    for leaf in range(len(tree.members)):
        c = part_of_node[leaf]
        if c >= 0 and not (
            0 < cost[c] <= affordable and _before(leaf_d2[leaf], leaf_key[leaf], best_d2[c], best_key[c])
        ):
            continue
        for at in range(LEAF):
            i = tree.members[leaf, at]
            if i < 0:
                break
            c = part[i]
            if not (0 < cost[c] <= affordable and _before(low_d2[i], low_key[i], best_d2[c], best_key[c])):
                continue
            bound, key, a, b = nearest_outside(
                tree, rank, first, part, part_of_node, used, leaf, c, best_d2[c], best_key[c],
                box, nodes, gaps, out,
            )  # fmt: skip
            # nothing before this bound leads out of the leaf's rows of this part
            for e in range(LEAF):
                other = tree.members[leaf, e]
                if other >= 0 and part[other] == c and _before(low_d2[other], low_key[other], bound, key):
                    low_d2[other], low_key[other] = bound, key
            if b >= 0:
                if to[a] < 0:
                    active[n_active] = a
                    n_active += 1
                to[a], to_d2[a], to_key[a] = b, bound, key
                _offer(part, a, b, bound, key, bests)
    return n_active


@kernel
def _join(part, parts, bests, root, edges, filled):
    """Join parts by their first edges where these are certain; return the next free place of the edges."""
    best_d2, best_key, best_u, best_v, cost = bests
    u, v, w, keys = edges
    for c in range(parts):
        if cost[c] == 0 and best_d2[c] < FAR:
            a, b = best_u[c], best_v[c]
            if unite(root, part[a], part[b]):
                u[filled], v[filled], w[filled], keys[filled] = min(a, b), max(a, b), best_d2[c], best_key[c]
                filled += 1
    return filled


@kernel
def _count_by_leaf(tree, part, part_of_node, low_d2, low_key, best_d2, best_key, leaf_d2, leaf_key, cost):
    """Add to cost (parts,) the positions that may have an edge before the best one of their part.

    Also updates the bounds of the leaves; leaves of one part whose bound excludes all such edges are skipped.
    """
    for leaf in range(len(tree.members)):
        c = part_of_node[leaf]
        if c >= 0 and not _before(leaf_d2[leaf], leaf_key[leaf], best_d2[c], best_key[c]):
            continue
        leaf_d2[leaf], leaf_key[leaf] = FAR, LAST
        for i in tree.members[leaf]:
            if i < 0:
                break
            if _before(low_d2[i], low_key[i], leaf_d2[leaf], leaf_key[leaf]):
                leaf_d2[leaf], leaf_key[leaf] = low_d2[i], low_key[i]
            if _before(low_d2[i], low_key[i], best_d2[part[i]], best_key[part[i]]):
                cost[part[i]] += 1


@kernel
def _before(d2, key, other_d2, other_key):
    return d2 < other_d2 or (d2 == other_d2 and key < other_key)


@kernel
def _next_of_list(rank, lists, used, part, i, firsts):
    """Go on in i's neighbour list to the first edge that is unused and leads out of i's part."""
    list_d2, list_ends = lists
    place, to, to_d2, to_key, low_d2, low_key = firsts
    k = list_d2.shape[1]
    to[i] = -1
    at = place[i]
    while at < k and to[i] < 0:
        j = list_ends[i, at]
        if j < 0:
            at = k
            low_d2[i], low_key[i] = FAR, LAST
        elif part[j] != part[i] and not is_used(used[0], used[1], used[2], used[3], i, j):
            to[i], to_d2[i], to_key[i] = j, list_d2[i, at], edge_key(rank, i, j)
            low_d2[i], low_key[i] = to_d2[i], to_key[i]
        else:
            at += 1
            if at == k:
                low_d2[i], low_key[i] = list_d2[i, k - 1], edge_key(rank, i, j)
    place[i] = at


@kernel
def _cheaper_half(cost, parts):
    """Return the cost up to which parts are searched now: of those that cost anything, at least half."""
    costs = np.empty(parts, np.int64)
    m, total = 0, 0
    for c in range(parts):
        if cost[c] > 0:
            costs[m] = cost[c]
            m += 1
            total += cost[c]
    costs = np.sort(costs[:m])
    return max(costs[(m - 1) // 2], total // m)


@kernel
def _relabel(root, part):
    """Return part numbers counted from 0 after the union, and the number of parts."""
    number = np.empty(len(root), np.int32)
    parts = 0
    for c in range(len(root)):
        top = find(root, c)
        if top == c:
            number[c] = parts
            parts += 1
        else:
            number[c] = number[top]
    for i in range(len(part)):
        part[i] = number[part[i]]
    return parts


@kernel
def _label_nodes(tree, part, part_of_node):
    """Fill part_of_node (nodes,): the one part that all rows of a node belong to, or -1. given: the same
    before parts were joined.
    """
    leaves = len(tree.members)
    for leaf in range(leaves):
        own = part[tree.members[leaf, 0]]
        if part_of_node[leaf] < 0:
            for i in tree.members[leaf]:
                if i >= 0 and part[i] != own:
                    own = np.int32(-1)
                    break
        part_of_node[leaf] = own
    for group in range(len(tree.child) - 1):
        own = part_of_node[tree.child[group]]
        if part_of_node[leaves + group] < 0:
            for node in range(tree.child[group] + 1, tree.child[group + 1]):
                if part_of_node[node] != own:
                    own = np.int32(-1)
        part_of_node[leaves + group] = own
