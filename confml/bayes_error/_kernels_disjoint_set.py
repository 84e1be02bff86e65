"""Disjoint sets over 0..n-1, held in one array of parents."""

import numpy as np

from confml._jit import kernel


@kernel
def find(parent, x):
    """Return the representative of x's set; the path to it is halved on the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def unite(parent, x, y):
    """Unite the sets of x and y; False if they were one already."""
    x, y = find(parent, x), find(parent, y)
    if x == y:
        return False
    if x < y:
        parent[y] = x
    else:
        parent[x] = y
    return True


@kernel
def union_trees(n, layers, layer, u, v, d2, offset):
    """Return how Kruskal's algorithm united positions offset..offset+n-1, in each layer, without path
    compression.

    The edges are those of one forest per layer, sorted by weight. Returns parent (layers, n), link (layers,
    n): the weight at which a position came under its parent, and whether every layer spans all rows. The
    larger side keeps its root, so chains have log n links, and weights grow along them: the bottleneck
    between two positions is the largest link on the way to where their chains meet.
    """
    parent = np.empty((layers, n), np.int32)
    size = np.ones((layers, n), np.int32)
    link = np.full((layers, n), np.inf)
    for t in range(layers):
        for i in range(n):
            parent[t, i] = i
    for e in range(d2.size):
        t = layer[e]
        a, b = u[e] - offset, v[e] - offset
        while parent[t, a] != a:
            a = parent[t, a]
        while parent[t, b] != b:
            b = parent[t, b]
        if size[t, a] < size[t, b]:
            a, b = b, a
        parent[t, b] = a
        size[t, a] += size[t, b]
        link[t, b] = d2[e]
    return parent, link, d2.size == layers * (n - 1)


@kernel
def roots_of_parts(n, u, v, offset, smallest):
    """Return a row in the bulk of each part of at least `smallest` rows that the longer edges of one tree
    join.

    Parts are the lowest branches: two branches of that size each, united by one edge, are two parts, unless
    they hold smaller ones themselves. One root where there is no such edge.
    """
    parent = np.arange(n)
    size = np.ones(n, np.int64)
    divided = np.zeros(n, np.bool_)
    roots = np.empty(n // smallest + 2, np.int64)
    found = 0
    for e in range(u.size):
        a, b = find(parent, u[e] - offset), find(parent, v[e] - offset)
        if size[a] < size[b]:
            a, b = b, a
        if size[b] >= smallest:
            for x in (a, b):
                if not divided[x]:
                    roots[found] = x
                    found += 1
            divided[a] = True
        divided[a] = divided[a] or divided[b]
        parent[b] = a
        size[a] += size[b]
    if found == 0:
        roots[0] = find(parent, 0)
        found = 1
    return roots[:found]


@kernel
def nearest_roots(parent, link, roots):
    """Return for each row the root with the smallest bottleneck, worst of all layers, and that bottleneck
    (squared).
    """
    layers, n = parent.shape
    nearest, height = np.zeros(n, np.int64), np.full(n, np.inf)
    for i in range(n):
        for r in range(roots.size):
            worst = 0.0
            for t in range(layers):
                a, b = i, roots[r]
                while a != b:
                    if link[t, a] <= link[t, b] and parent[t, a] != a:
                        worst = max(worst, link[t, a])
                        a = parent[t, a]
                    elif parent[t, b] != b:
                        worst = max(worst, link[t, b])
                        b = parent[t, b]
                    else:
                        worst = np.inf
                        break
            if worst < height[i]:
                nearest[i], height[i] = r, worst
    return nearest, height
