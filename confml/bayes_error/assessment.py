"""Bayes error estimates, nearest-neighbour bounds and complexity measures in one computation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from confml.bayes_error.complexity import Measure, NeighbourBounds, bounds_of, measures_of, nearest_rows
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
    X, y, trees: int = 3, count: str = "all", correct_bias: bool = True, normalise: bool = True
) -> Assessment:
    """Return `bayes_errors`, `complexity_measures` and `neighbour_bounds` from the same trees and
    neighbours."""
    X, classes, codes = check(X, y, trees, count)
    # the second tree shows which edges of the first are in every minimal spanning tree
    pairs, rest, whole = count_crossings(X, codes, classes.size, max(trees, 2))
    options = (count, correct_bias, normalise)
    errors = BayesErrors(
        rates(classes, _of_trees(pairs, trees), *options), rates(classes, _of_trees(rest, trees), *options)
    )
    near = nearest_rows(X, codes, classes.size)
    return Assessment(
        errors=errors,
        measures=measures_of(codes, classes.size, near, whole),
        neighbours=bounds_of(near, classes.size),
    )


def _of_trees(crossings: Crossings, trees: int) -> Crossings:
    first = {name: getattr(crossings, name)[:trees] for name in ("per_tree", "least", "most")}
    return replace(crossings, **first)
