"""Disjoint sets over 0..n-1, held in one array of parents."""

from __future__ import annotations

import numpy as np

from confml._jit import kernel


@kernel
def find(parent, x):
    """The representative of x's set; the path to it is halved on the way."""
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
def bottlenecks(n, layers, layer, u, v, d2, offset):
    """For each row the largest weight on its path to a layer's root, the worst of all layers.

    The edges are those of one forest per layer, sorted by weight, over positions offset..offset+n-1. With union
    by size and without path compression a row's bottleneck to the final root is the weight of the last link on
    its way there. Infinite where a layer does not span all rows. Roots lie in the bulk of the rows, as the larger side keeps its
    root at each union. Returns (n,) squared distances.
    """
    parent = np.empty((layers, n), np.int32)
    size = np.ones((layers, n), np.int32)
    link = np.zeros((layers, n), np.float64)
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
    worst = np.zeros(n, np.float64)
    for t in range(layers):
        for i in range(n):
            a, height = i, 0.0
            while parent[t, a] != a:
                height = link[t, a]
                a = parent[t, a]
            if size[t, a] < n:
                height = np.inf
            if height > worst[i]:
                worst[i] = height
    return worst
