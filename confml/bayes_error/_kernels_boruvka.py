"""Boruvka's algorithm on a k-d tree, for few features: parts of a forest are joined by their first edges.

In the total order of edges no two are equal, so the first edge out of a part is an edge of the one minimal
spanning tree, whichever parts are looked at and when. That freedom is used: an edge costs nothing where lists
of nearest neighbours show that it is the first; searches are made only when such edges have become few, and
then only for the cheaper parts: a large part waits until the others have joined it.

Edges at one row are ordered by (squared distance, number of the other row): that is the total order, as the
key of (u, v) grows with the number of v. Kernels take the arrays out of named tuples first: numba counts
references at each use.
"""

from typing import NamedTuple

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_kruskal import LAST, before, edge_key, find, unite
from confml.neighbours.lanes import FAN, LEAF, first_place, gaps_to_children, gaps_to_rows, squares_to_rows
from confml.neighbours.wide_tree import DEPTH, FAR, WideTree, push


class Graph(NamedTuple):
    """A `WideTree` of n positions, their row numbers rank (n,), the smallest row number first (nodes,) in
    each node, kind (n,), and kind_of_node (nodes,): the one kind of all rows of a node, or -1.

    There is an edge between positions of different kinds; all are different in a complete graph. A leaf has
    rows of one kind, unless all are different. ``first`` tells whether a node whose gap equals the bound can
    still hold a smaller edge, which matters where distances tie a thousandfold.
    """

    tree: WideTree
    rank: np.ndarray
    first: np.ndarray
    kind: np.ndarray
    kind_of_node: np.ndarray


FREE = 8
"""Searches wait while at least one part in so many has an edge that needs none."""


@kernel
def graph_of(tree, rank, kind):
    """Return the `Graph` of a tree."""
    leaves = len(tree.members)
    first = np.full(leaves + len(tree.child) - 1, LAST, np.int64)
    for leaf in range(leaves):
        for i in tree.members[leaf]:
            if i >= 0:
                first[leaf] = min(first[leaf], rank[i])
    for group in range(len(tree.child) - 1):
        for node in range(tree.child[group], tree.child[group + 1]):
            first[leaves + group] = min(first[leaves + group], first[node])
    kind_of_node = np.full(len(first), -1, np.int32)
    label_nodes(tree, kind, kind_of_node)
    return Graph(tree, rank, first, kind, kind_of_node)


@kernel
def label_nodes(tree, label, label_of_node):
    """Fill label_of_node (nodes,): the one label (n,) that all rows of a node have, or -1.

    Nodes that have one label before have one after, as labels are only joined.
    """
    leaves = len(tree.members)
    for leaf in range(leaves):
        common = label[tree.members[leaf, 0]]
        if label_of_node[leaf] < 0:
            for i in tree.members[leaf]:
                if i >= 0 and label[i] != common:
                    common = np.int32(-1)
        label_of_node[leaf] = common
    for group in range(len(tree.child) - 1):
        common = label_of_node[tree.child[group]]
        if label_of_node[leaves + group] < 0:
            for node in range(tree.child[group] + 1, tree.child[group + 1]):
                if label_of_node[node] != common:
                    common = np.int32(-1)
        label_of_node[leaves + group] = common


@kernel
def fill_neighbour_lists(graph, begin, stop, d2, ends):
    """Fill in the k first edges at the positions of leaves begin to stop - 1: squared distances (n, k),
    ascending, and the other ends (n, k), -1 where there are no more."""
    tree, rank, first, kind, kind_of_node = graph
    X, members, rows, lows, highs, child = tree
    k, leaves = d2.shape[1], len(members)
    nodes, gaps, out = np.empty(DEPTH, np.int64), np.empty(DEPTH), np.empty(max(LEAF, FAN))
    near, near_ends, numbers = np.empty(k), np.empty(k, np.int32), np.empty(k, np.int64)
    for leaf in range(begin, stop):
        for at in range(LEAF):
            i = members[leaf, at]
            if i < 0:
                continue
            for e in range(k):
                near[e], near_ends[e], numbers[e] = FAR, -1, LAST
            nodes[0], gaps[0], nodes[1], gaps[1] = len(first) - 1, 0.0, leaf, 0.0  # the leaf itself first
            waiting, visits = 2, 0
            while waiting > 0:
                waiting -= 1
                node, gap = nodes[waiting], gaps[waiting]
                visits += node == leaf
                if (
                    gap > near[k - 1]
                    or (gap == near[k - 1] and first[node] > numbers[k - 1])
                    or (node == leaf and visits > 1)
                    or (kind_of_node[node] >= 0 and kind_of_node[node] == kind_of_node[leaf])
                ):
                    continue
                if node >= leaves:
                    group = node - leaves
                    mask = gaps_to_children(X, X, i, lows, highs, group, near[k - 1], out)
                    waiting = push(child[group], mask, out, nodes, gaps, waiting)
                    continue
                mask = squares_to_rows(X, i, rows, node, near[k - 1], out)
                while mask != 0:
                    lane = first_place(mask)
                    mask &= mask - 1
                    square, j = out[lane], members[node, lane]
                    number = rank[j]
                    if kind[j] != kind[i] and before(square, number, near[k - 1], numbers[k - 1]):
                        e = k - 1
                        while e > 0 and before(square, number, near[e - 1], numbers[e - 1]):
                            near[e], near_ends[e], numbers[e] = near[e - 1], near_ends[e - 1], numbers[e - 1]
                            e -= 1
                        near[e], near_ends[e], numbers[e] = square, j, number
            for e in range(k):
                d2[i, e], ends[i, e] = near[e], near_ends[e]


@kernel
def boruvka(graph, list_d2, list_ends, layers):
    """Return orthogonal trees (forests, where no further tree exists) of a `Graph`: u < v, d2, key.

    list_d2, list_ends (n, k): the lists of `fill_neighbour_lists`.
    """
    n = len(list_d2)
    u, v = np.empty(layers * n, np.int32), np.empty(layers * n, np.int32)
    d2, key = np.empty(layers * n), np.empty(layers * n, np.int64)
    # The edges of earlier trees at each position, as chains. The last tree is not looked up.
    head, degree = np.full(n, -1), np.zeros(n, np.int64)
    following, chain_ends = np.empty(2 * (layers - 1) * n, np.int64), np.empty(2 * (layers - 1) * n, np.int32)
    edges = np.int64(0)
    for t in range(layers):
        begun = edges
        used = head, following, chain_ends, degree
        edges = _add_tree(graph, list_d2, list_ends, used, u, v, d2, key, edges)
        for e in range(begun, edges if t < layers - 1 else begun):
            for i, j, step in ((u[e], v[e], 2 * e), (v[e], u[e], 2 * e + 1)):
                chain_ends[step], following[step], head[i] = j, head[i], step
                degree[i] += 1
    return u[:edges], v[:edges], d2[:edges], key[:edges]


@kernel(inline="always")
def _is_used(head, following, chain_ends, degree, i, j):
    """Return whether the edge i - j is in an earlier tree: the chains hold the edges at each position."""
    used = False
    if len(following) > 0 and head[i] >= 0:  # no chains with a single tree
        if degree[i] > degree[j]:
            i, j = j, i
        step = head[i]
        while step >= 0 and not used:
            used = chain_ends[step] == j
            step = following[step]
    return used


@kernel
def _add_tree(graph, list_d2, list_ends, used, u, v, d2, key, edges):
    """Write the minimum spanning forest without used edges from place ``edges`` on; return the next place."""
    rank, (head, following, chain_ends, degree) = graph.rank, used
    n, k = list_d2.shape
    part, root = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
    part_of_node = np.full(len(graph.first), -1, np.int32)
    # Of each position: the place in its list, the other end of its first edge out of its part (-1: not known)
    # with length and key, and an edge that comes before all others out of its part.
    list_index, to = np.zeros(n, np.int32), np.full(n, -1, np.int32)
    to_d2, to_key = np.empty(n), np.empty(n, np.int64)
    low_d2, low_key = np.zeros(n), np.zeros(n, np.int64)
    # Of each part: its first edge so far, and the number of positions that may have an earlier one.
    best_u, best_v = np.empty(n, np.int32), np.empty(n, np.int32)
    best_d2, best_key, cost = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    parts = n
    while parts > 1:
        for c in range(parts):
            best_d2[c], best_key[c], cost[c] = FAR, LAST, 0
        for i in range(n):
            if to[i] >= 0 and part[to[i]] == part[i]:
                to[i] = -1
            while to[i] < 0 and list_index[i] < k:  # go on in the list
                at = list_index[i]
                j = list_ends[i, at]
                if j < 0:
                    list_index[i], low_d2[i], low_key[i] = k, FAR, LAST
                else:
                    low_d2[i], low_key[i] = list_d2[i, at], edge_key(rank, i, j)
                    if part[j] != part[i] and not _is_used(head, following, chain_ends, degree, i, j):
                        to[i], to_d2[i], to_key[i] = j, low_d2[i], low_key[i]
                    else:
                        list_index[i] += 1
            if to[i] >= 0:
                _offer(i, to[i], to_d2[i], to_key[i], part, best_u, best_v, best_d2, best_key)
        sure, ends, costly, total = 0, 0, 0, 0
        for i in range(n):
            c = part[i]
            cost[c] += before(low_d2[i], low_key[i], best_d2[c], best_key[c])
        for c in range(parts):
            sure += cost[c] == 0 and best_d2[c] < FAR
            ends += cost[c] == 0 and best_d2[c] == FAR
            costly += cost[c] > 0
            total += cost[c]
        if ends == parts:
            break
        if FREE * sure < parts:
            firsts, bests = (to, to_d2, to_key, low_d2, low_key), (best_u, best_v, best_d2, best_key)
            affordable = total // max(costly, 1)  # the mean: always enough for one part
            _search(graph, used, part, part_of_node, affordable, cost, firsts, bests)
        for c in range(parts):
            root[c] = c
        for c in range(parts):
            if cost[c] <= 0 and best_d2[c] < FAR:
                i, j = best_u[c], best_v[c]
                if unite(root, part[i], part[j]):
                    u[edges], v[edges], d2[edges], key[edges] = min(i, j), max(i, j), best_d2[c], best_key[c]
                    edges += 1
        parts = _relabel(root, parts, part)
        label_nodes(graph.tree, part, part_of_node)
    return edges


@kernel(inline="always")
def _offer(i, j, d2, key, part, best_u, best_v, best_d2, best_key):
    """Offer an edge to the parts of both its ends."""
    for c in (part[i], part[j]):
        if before(d2, key, best_d2[c], best_key[c]):
            best_d2[c], best_key[c], best_u[c], best_v[c] = d2, key, i, j


@kernel
def _search(graph, used, part, part_of_node, affordable, cost, firsts, bests):
    """Search the first edges of the parts that cost at most ``affordable``; their cost is negative then."""
    members, d = graph.tree.members, graph.tree.X.shape[1]
    to, to_d2, to_key, low_d2, low_key = firsts
    best_u, best_v, best_d2, best_key = bests
    space = (
        np.empty((1, d)), np.empty((1, d)), np.empty(DEPTH, np.int64), np.empty(DEPTH),
        np.empty(max(LEAF, FAN)),
    )  # fmt: skip
    for leaf in range(len(members)):
        for at in range(LEAF):
            i = members[leaf, at]
            c = part[i]
            if i < 0 or not (
                0 < cost[c] <= affordable and before(low_d2[i], low_key[i], best_d2[c], best_key[c])
            ):
                continue
            bound, number, a, b = _nearest_outside(
                graph, used, part, part_of_node, leaf, c, best_d2[c], best_key[c], space
            )
            for e in range(LEAF):  # nothing before this bound leads out of the leaf's rows of this part
                j = members[leaf, e]
                if j >= 0 and part[j] == c and before(low_d2[j], low_key[j], bound, number):
                    low_d2[j], low_key[j] = bound, number
            if b >= 0:
                to[a], to_d2[a], to_key[a] = b, bound, number
                _offer(a, b, bound, number, part, best_u, best_v, best_d2, best_key)
    for c in range(len(cost)):
        if cost[c] <= affordable:
            cost[c] = -1


@kernel
def _nearest_outside(graph, used, part, part_of_node, leaf, excluded, bound, key, space):
    """Return the first unused edge from the rows of a leaf in part ``excluded`` to another part, if it
    comes before (bound, key): squared distance, key and ends, -1 where there is none.

    part (n,): part of each row; part_of_node (nodes,): the one part of all rows of a node, or -1; space:
    work space.
    """
    (tree, rank, first, kind, kind_of_node), (head, following, chain_ends, degree) = graph, used
    low, high, nodes, gaps, out = space
    X, members, rows, lows, highs, child = tree
    leaves, smallest = len(members), LAST
    for a in range(X.shape[1]):
        low[0, a], high[0, a] = np.inf, -np.inf
    for at in range(LEAF):
        i = members[leaf, at]
        if i >= 0 and part[i] == excluded:
            smallest = min(smallest, rank[i])
            for a in range(X.shape[1]):
                low[0, a], high[0, a] = min(low[0, a], X[i, a]), max(high[0, a], X[i, a])
    u = v = np.int32(-1)
    nodes[0], gaps[0] = len(first) - 1, 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, gap = nodes[waiting], gaps[waiting]
        if (
            gap > bound
            or part_of_node[node] == excluded
            or (kind_of_node[node] >= 0 and kind_of_node[node] == kind_of_node[leaf])
            or (gap == bound and _key(smallest, first[node]) >= key)
        ):
            continue
        if node >= leaves:
            mask = gaps_to_children(low, high, 0, lows, highs, node - leaves, bound, out)
            waiting = push(child[node - leaves], mask, out, nodes, gaps, waiting)
            continue
        near = gaps_to_rows(low, high, 0, rows, rows, node, bound, out)
        while near != 0:
            j = members[node, first_place(near)]
            near &= near - 1
            if part[j] == excluded or kind[j] == kind_of_node[leaf]:
                continue
            mask = squares_to_rows(X, j, rows, leaf, bound, out)
            while mask != 0:
                at = first_place(mask)
                mask &= mask - 1
                square, i = out[at], members[leaf, at]
                if square > bound or part[i] != excluded:
                    continue
                number = edge_key(rank, i, j)
                if before(square, number, bound, key) and not _is_used(
                    head, following, chain_ends, degree, i, j
                ):
                    bound, key, u, v = square, number, i, j
    return bound, key, u, v


@kernel
def _key(a, b):
    return (a << 32) | b if a < b else (b << 32) | a


@kernel
def _relabel(root, parts, part):
    """Fill in part numbers from 0 after the union of parts, and return the number of parts."""
    number = np.empty(parts, np.int32)
    roots = 0
    for c in range(parts):
        top = find(root, c)
        if top == c:
            number[c] = roots
            roots += 1
        else:
            number[c] = number[top]
    for i in range(len(part)):
        part[i] = number[part[i]]
    return roots
