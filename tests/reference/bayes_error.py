"""Literal versions of what confml.bayes_error computes: full graphs, one edge at a time."""

import itertools

import numpy as np


def all_edges(X):
    """Every edge as (squared distance, smaller row, larger row), sorted: the documented total order."""
    n = len(X)
    edges = []
    for i in range(n):
        for j in range(i + 1, n):
            total = 0.0
            for a in range(X.shape[1]):
                total += (X[i, a] - X[j, a]) * (X[i, a] - X[j, a])
            edges.append((total, i, j))
    return sorted(edges)


def kruskal(n, edges):
    """Minimum spanning forest of sorted edges."""
    group = list(range(n))
    tree = []
    for edge in edges:
        a, b = group[edge[1]], group[edge[2]]
        if a != b:
            tree.append(edge)
            group = [a if g == b else g for g in group]
    return tree


def orthogonal_forests(X, layers):
    """Minimum spanning forests, each of the edges that those before it do not have."""
    edges = all_edges(X)
    for _ in range(layers):
        forest = kruskal(len(X), edges)
        yield forest
        edges = sorted({*edges} - {*forest})


def orthogonal_trees(X, layers):
    """Those of the forests that are trees."""
    return [forest for forest in orthogonal_forests(X, layers) if len(forest) == len(X) - 1]


def crossings(X, inside, layers):
    """Edges between the rows inside and the others, for each orthogonal tree that exists."""
    inside = list(inside)
    return [sum(inside[i] != inside[j] for _, i, j in tree) for tree in orthogonal_trees(X, layers)]


def tie_bands(X, inside, layers):
    """Least and most crossings of each orthogonal tree over all minimum spanning trees of the graph without
    the trees before it: lists of ``least`` and ``most``, by looking at every spanning tree."""
    return _bands(X, layers, lambda edges: _looked_at(len(X), list(inside), edges))


def greedy_tie_bands(X, inside, layers):
    """The same by Kruskal with the crossing edges last, then first, among equal distances."""
    return _bands(X, layers, lambda edges: _greedy(len(X), list(inside), edges))


def _bands(X, layers, band):
    edges, bands = all_edges(X), []
    for tree in orthogonal_trees(X, layers):
        bands.append(band(edges))
        used = set(tree)
        edges = [edge for edge in edges if edge not in used]
    return [least for least, _ in bands], [most for _, most in bands]


def _looked_at(n, inside, edges):
    best, counts = None, set()
    for chosen in itertools.combinations(edges, n - 1):
        if len(kruskal(n, chosen)) < n - 1:
            continue
        weights = tuple(sorted(w for w, _, _ in chosen))
        if best is None or weights < best:
            best, counts = weights, set()
        if weights == best:
            counts.add(sum(inside[i] != inside[j] for _, i, j in chosen))
    return min(counts), max(counts)


def _greedy(n, inside, edges):
    counts = []
    for sign in (1, -1):
        ordered = sorted(edges, key=lambda e: (e[0], sign * (inside[e[1]] != inside[e[2]])))
        counts.append(sum(inside[i] != inside[j] for _, i, j in kruskal(n, ordered)))
    return tuple(counts)


def bayes_error(r, m, n):
    """Estimate, lower, upper by equations (3) to (9) as they stand in the paper."""
    total = m + n
    p, q = m / total, n / total
    pm = min(p, q)
    gamma = 2 * total * pm - 3 / 4 * total + 1 / 4 * total * np.sqrt(9 - 16 * pm)
    divergence = 1 - min(gamma, r) * total / (2 * m * n)
    u = max(4 * p * q * divergence + (p - q) ** 2, 0.0)
    lower, upper = 1 / 2 - 1 / 2 * np.sqrt(u), 1 / 2 - 1 / 2 * u
    return (lower + upper) / 2 / pm, lower, upper


def nearest(X, y):
    """By row: squared distance to the nearest of the same class and of other classes, and whether the nearest
    of all (the smallest row number among equals) is of the same class."""
    n, edges = len(X), all_edges(X)
    rows = []
    for i in range(n):
        reach = sorted((w, a + b - i) for w, a, b in edges if i in (a, b))
        same_class = [w for w, j in reach if y[j] == y[i]]
        other_class = min(w for w, j in reach if y[j] != y[i])
        rows.append((min(same_class, default=np.inf), other_class, y[reach[0][1]] == y[i]))
    return rows
