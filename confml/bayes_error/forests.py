"""Orthogonal minimum spanning trees of a set of rows, or of the graph between two sets.

Trees of a graph use only edges of the orthogonal trees of its parts, if each edge is in a part: at any edge
of the total order, each layer of `layered_kruskal` on the whole graph has joined at least the rows that the
same layer on a part has joined. So the trees of a union of two sets come from those of each set and of the
bipartite graph between them, and the trees of a large set from those of its blocks and between its blocks.
"""

from collections.abc import Iterable
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from confml._threads import for_each
from confml.bayes_error import _kernels_boruvka as kernels
from confml.bayes_error._kernels_kruskal import layered_kruskal
from confml.bayes_error._kernels_prim import prim
from confml.bayes_error.points import Points
from confml.neighbours.wide_tree import leaves_in_order, tree_order, wide_tree

BLOCK = 4096
"""Rows per block of Prim's algorithm, whose products are in memory."""
FEW_FEATURES = 12
"""Number of features up to which searches in a k-d tree are used."""
MANY_ROWS = 2000
"""Number of rows from which on they are used."""
NEIGHBOURS = {1: 6}
"""Length of the neighbour lists by number of trees; `MORE_NEIGHBOURS` for other numbers."""
MORE_NEIGHBOURS = 12
LIST_LEAVES = 256
"""Number of leaves whose neighbour lists one thread computes at a time."""


class Edges(NamedTuple):
    """Edges between positions u < v (E,), int32, with squared distances d2 and keys, in the total order."""

    u: np.ndarray
    v: np.ndarray
    d2: np.ndarray
    key: np.ndarray

    @classmethod
    def joined(cls, lists: Iterable[tuple[np.ndarray, ...]]) -> "Edges":
        """Return the edges of several lists, each in any order."""
        u, v, d2, key = (np.concatenate(arrays) for arrays in zip(*lists, strict=True))
        order = np.argsort(d2)
        lengths = d2[order]
        same = lengths[1:] == lengths[:-1]
        if same.any():  # the edges of equal lengths are sorted again, at the places that they have together
            positions = np.flatnonzero(np.append(same, False) | np.append(False, same))
            tied = order[positions]
            order[positions] = tied[np.lexsort([key[tied], d2[tied]])]
        return cls(u[order], v[order], lengths, key[order])

    def of(self, chosen: np.ndarray) -> "Edges":
        """Return the edges of a mask (E,)."""
        return Edges(*(array[chosen] for array in self))

    def local(self, a: slice, b: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return u, v with the positions of ranges a and b numbered from 0; b after a, or a itself."""
        gap = 0 if a == b else b.start - a.stop
        u, v = (
            (ends - np.where(ends < a.stop, a.start, a.start + gap)).astype(np.int32) for ends in self[:2]
        )
        return u, v


def forest(points: Points, a: slice, b: slice, layers: int) -> Edges:
    """Return the edges of the orthogonal trees of positions a, or of the graph between a and b, a before b.

    Forests, where no further tree exists. In several threads, see `confml.threads`.
    """
    if points.X.shape[1] <= FEW_FEATURES and _rows(a, b) >= MANY_ROWS:
        return Edges.joined([_searched(points, a, b, layers)])
    pairs = combinations_with_replacement(_blocks(a), 2) if a == b else product(_blocks(a), _blocks(b))
    lists: list[tuple[np.ndarray, ...]] = []

    def build(pair: tuple[slice, slice], _) -> None:
        lists.append(_from_products(points, pair[0], pair[1], layers))

    for_each(build, list(pairs))
    edges = Edges.joined(lists)
    if len(lists) == 1:
        return edges
    layer, _ = layered_kruskal(_rows(a, b), layers, *edges.local(a, b), edges.d2)
    return edges.of(layer >= 0)


def _rows(a: slice, b: slice) -> int:
    return a.stop - a.start + (b.stop - b.start if a != b else 0)


def _blocks(a: slice) -> list[slice]:
    return [slice(start, min(start + BLOCK, a.stop)) for start in range(a.start, a.stop, BLOCK)]


def _from_products(points: Points, a: slice, b: slice, layers: int) -> tuple[np.ndarray, ...]:
    """Return the edges of `forest` by Prim's algorithm, in any order."""
    Z, low = points.rounded
    products = Z[a] @ Z[b].T
    if a == b:
        np.fill_diagonal(products, -np.inf)
    rows = (np.r_[a] if a == b else np.r_[a, b]).astype(np.int32)
    transposed = products if a == b else np.ascontiguousarray(products.T)
    u, v, d2, key = prim(
        points.X[rows], points.rank[rows], len(products), products, transposed, low[rows], layers
    )
    return rows[u], rows[v], d2, key


def _searched(points: Points, a: slice, b: slice, layers: int) -> tuple[np.ndarray, ...]:
    """Return the edges of `forest` by Boruvka's algorithm and searches in a k-d tree, in any order."""
    sides = [part.start + tree_order(points.X[part]) for part in ((a,) if a == b else (a, b))]
    rows = np.concatenate(sides).astype(np.int32)
    number = np.arange(len(rows), dtype=np.int32)
    kind = number if a == b else (number >= len(sides[0])).astype(np.int32)
    leaves = [leaves_in_order(len(side)) for side in sides]
    if a != b:  # leaves do not mix sides
        leaves[1][leaves[1] >= 0] += len(sides[0])
    tree = wide_tree(points.X[rows], np.concatenate(leaves))
    graph = kernels.graph_of(tree, points.rank[rows], kind)
    k = max(1, min(NEIGHBOURS.get(layers, MORE_NEIGHBOURS), len(rows) - 1))
    d2, ends = np.empty((len(rows), k)), np.empty((len(rows), k), np.int32)

    def fill(begin: int, _) -> None:
        stop = min(begin + LIST_LEAVES, len(tree.members))
        kernels.fill_neighbour_lists(graph, begin, stop, d2, ends)

    for_each(fill, range(0, len(tree.members), LIST_LEAVES))
    u, v, d2, key = kernels.boruvka(graph, d2, ends, layers)
    u, v = rows[u], rows[v]
    return np.minimum(u, v), np.maximum(u, v), d2, key
