"""Prim's algorithm on dense graphs whose distances are computed exactly: small sets, and the bipartite
fallback."""

import numpy as np

from confml._jit import kernel
from confml.bayes_error._kernels_edges import edge_key
from confml.neighbours.distances import squared_distance_of_rows


@kernel
def dense_trees(X, rank, start, stop, layers):
    """Return orthogonal trees (forests where no tree is left) of positions start..stop-1 with a full distance
    matrix.

    Returns u, v, d2, key, layer, unsorted. Memory: (stop - start)^2 float64.
    """
    n = stop - start
    distance = np.empty((n, n), np.float64)
    for i in range(n):
        distance[i, i] = np.inf
        for j in range(i):
            distance[i, j] = distance[j, i] = squared_distance_of_rows(X, start + i, X, start + j)
    room = layers * max(n - 1, 0)
    u, v, layer = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int8)
    d2, key = np.empty(room, np.float64), np.empty(room, np.int64)
    best, best_key, source = np.empty(n, np.float64), np.empty(n, np.int64), np.empty(n, np.int32)
    todo = np.empty(n, np.int32)
    found = 0
    for t in range(layers):
        left = n
        for i in range(n):
            best[i], best_key[i], source[i], todo[i] = np.inf, np.iinfo(np.int64).max, -1, i
        while left > 0:
            pick = 0
            for p in range(1, left):
                i, j = todo[p], todo[pick]
                if best[i] < best[j] or (best[i] == best[j] and best_key[i] < best_key[j]):
                    pick = p
            i = todo[pick]
            left -= 1
            todo[pick] = todo[left]
            if source[i] >= 0:
                s = source[i]
                u[found], v[found], layer[found] = start + min(i, s), start + max(i, s), t
                d2[found], key[found] = best[i], best_key[i]
                found += 1
                distance[i, s] = distance[s, i] = np.inf
            for p in range(left):
                j = todo[p]
                d = distance[i, j]
                if d <= best[j] and d < np.inf:
                    k = edge_key(rank, start + i, start + j)
                    if d < best[j] or k < best_key[j]:
                        best[j], best_key[j], source[j] = d, k, i
    return u[:found], v[:found], d2[:found], key[:found], layer[:found]


@kernel
def bipartite_trees(X, rank, start_a, stop_a, start_b, stop_b, layers, heads, links, link_d2, link_key):
    """Return the edges of the orthogonal trees of all crossing edges and given inner edges, without storing
    the crossings; for each tree also those of the tree in which crossing edges go first among equal
    distances.

    heads (n + 1,), links: neighbours of each local position by inner edges (both directions), with link_d2
    and link_key. Time O(layers * a * b * d), memory O(a + b). Returns u, v, d2, key, unsorted, an edge twice
    where both trees have it.
    """
    na, n = stop_a - start_a, stop_a - start_a + stop_b - start_b
    room = layers * (n - 1)
    u, v = np.empty(2 * room, np.int32), np.empty(2 * room, np.int32)
    d2, key = np.empty(2 * room, np.float64), np.empty(2 * room, np.int64)
    best, best_key, source = np.empty(n, np.float64), np.empty(n, np.int64), np.empty(n, np.int32)
    best_turn = np.empty(n, np.int8)
    todo, place = np.empty(n, np.int32), np.empty(n, np.int32)
    used = np.full(n, -1, np.int32)  # used[j] == i: the edge i - j is in a tree
    # edges of the trees so far, as chains from each of their ends
    chain_head, chain_next, chain_other = (
        np.full(n, -1),
        np.empty(2 * room, np.int64),
        np.empty(2 * room, np.int32),
    )
    found = chained = 0
    for run in range(2 * layers):
        crossing_first = run % 2 == 0  # the tree itself follows, and only its edges are used up
        left = n
        for i in range(n):
            best[i], best_key[i], source[i], todo[i] = np.inf, np.iinfo(np.int64).max, -1, i
            best_turn[i], place[i] = 0, i
        while left > 0:
            pick = 0
            for p in range(1, left):
                i, j = todo[p], todo[pick]
                if best[i] < best[j] or (
                    best[i] == best[j]
                    and (
                        best_turn[i] < best_turn[j]
                        or (best_turn[i] == best_turn[j] and best_key[i] < best_key[j])
                    )
                ):
                    pick = p
            i = todo[pick]
            left -= 1
            todo[pick] = todo[left]
            place[todo[left]] = pick
            place[i] = -1
            if source[i] >= 0:
                s = source[i]
                low, high = min(i, s), max(i, s)
                u[found] = start_a + low if low < na else start_b + low - na
                v[found] = start_a + high if high < na else start_b + high - na
                d2[found], key[found] = best[i], best_key[i]
                found += 1
                if not crossing_first:
                    chain_other[chained], chain_next[chained] = s, chain_head[i]
                    chain_head[i] = chained
                    chain_other[chained + 1], chain_next[chained + 1] = i, chain_head[s]
                    chain_head[s] = chained + 1
                    chained += 2
            step = chain_head[i]
            while step >= 0:
                used[chain_other[step]] = i
                step = chain_next[step]
            position = start_a + i if i < na else start_b + i - na
            for p in range(left):
                j = todo[p]
                if (i < na) == (j < na) or used[j] == i:
                    continue
                other = start_a + j if j < na else start_b + j - na
                d = squared_distance_of_rows(X, position, X, other)
                _offer(i, j, d, False, edge_key(rank, position, other), best, best_turn, best_key, source)
            for e in range(heads[i], heads[i + 1]):
                j = links[e]
                if place[j] >= 0 and used[j] != i:
                    _offer(i, j, link_d2[e], crossing_first, link_key[e], best, best_turn, best_key, source)
    return u[:found], v[:found], d2[:found], key[:found]


@kernel
def _offer(i, j, d, late, key, best, best_turn, best_key, source):
    """Let i be the neighbour by which j joins the tree, if that edge comes before j's best so far."""
    if d < best[j] or (
        d == best[j] and (late < best_turn[j] or (late == best_turn[j] and key < best_key[j]))
    ):
        best[j], best_turn[j], best_key[j], source[j] = d, late, key, i
