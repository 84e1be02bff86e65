"""Bayes error estimates, nearest-neighbour bounds and complexity measures in one computation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from confml.bayes_error.complexity import Measure, NeighbourBounds, bounds_of, measures_of, nearest_rows
from confml.bayes_error.estimates import bounds_of_tree
from confml.bayes_error.extrapolation import NEIGHBOURS as EXTRAPOLATED
from confml.bayes_error.extrapolation import limit_of, subsamples
from confml.bayes_error.neighbour_errors import check_neighbours, errors_of_lists
from confml.bayes_error.rates import BayesErrors, check, rates
from confml.bayes_error.shared_trees import Crossings, count_crossings


@dataclass(frozen=True)
class Assessment:
    """errors: estimates of pairs and one-vs-rest; measures: `complexity.FORMULAS` by name; neighbours: bounds
    of 1-NN."""

    errors: BayesErrors
    measures: Mapping[str, Measure]
    neighbours: NeighbourBounds


def assess(
    X,
    y,
    trees: int = 3,
    count: str = "all",
    correct_bias: bool = True,
    normalise: bool = True,
    *,
    neighbours: int | None = None,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> Assessment:
    """Return `bayes_errors`, `complexity_measures` and `neighbour_bounds` from the same trees and neighbours.

    neighbours: the largest k of `neighbour_errors`; rng: random generator of `extrapolate`, with ``level`` of
    its interval; None for none.
    """
    X, classes, codes = check(X, y, trees, count)
    # the second tree shows which edges of the first are in every minimum spanning tree
    pairs, rest, whole = count_crossings(X, codes, classes.size, max(trees, 2))
    options = (count, correct_bias, normalise)
    k = 0
    if neighbours is not None:
        check_neighbours(neighbours)
        k = min(max(neighbours, EXTRAPOLATED if rng is not None else 1), codes.size - 1)
    near = nearest_rows(X, codes, classes.size, k)
    curve = limit = None
    if near.lists is not None and neighbours is not None:
        curve = errors_of_lists(np.ascontiguousarray(near.lists[:, :neighbours]), codes, classes.size)
    if rng is not None:
        parts = subsamples(X, EXTRAPOLATED, rng, near.lists)
        limit = limit_of(parts, codes, classes.size, rng, level)
    errors = BayesErrors(
        pairwise=rates(classes, _of_trees(pairs, trees), *options),
        one_vs_rest=rates(classes, _of_trees(rest, trees), *options),
        global_tree=bounds_of_tree(classes, np.bincount(codes), whole),
        neighbours=curve,
        limit=limit,
    )
    return Assessment(
        errors=errors,
        measures=measures_of(codes, classes.size, near, whole),
        neighbours=bounds_of(near, classes.size),
    )


def _of_trees(crossings: Crossings, trees: int) -> Crossings:
    first = {name: getattr(crossings, name)[:trees] for name in ("per_tree", "least", "most")}
    return replace(crossings, **first)
