"""k nearest neighbours as written down, one test row and one training row at a time."""

from __future__ import annotations

import math


def distances(X, row):
    """Roots of squared differences added in attribute order, in units of a power of two near the largest
    difference, so that no square overflows and none that matters vanishes."""
    differences = [[float(a) - float(b) for a, b in zip(other, row, strict=True)] for other in X]
    largest = max(abs(difference) for own in differences for difference in own)
    exponent = math.frexp(largest)[1]
    found = []
    for own in differences:
        total = 0.0
        for difference in own:
            scaled = math.ldexp(difference, -exponent)
            total += scaled * scaled
        found.append(math.sqrt(total))
    return found


def knn(X, y, row, k, classes):
    """(shares of the votes by class, label) of one test row.

    All rows at the k-th distance count, each with (places left) / (rows at that distance) of a vote. Equal
    votes: smaller sum of distances, then the first class. Votes and sums are counted in units of
    1 / (rows at that distance), which makes them whole where distances are.
    """
    neighbours = sorted(zip(distances(X, row), y, strict=True))
    k = min(k, len(neighbours))
    last = neighbours[k - 1][0]
    nearer = [(d, label) for d, label in neighbours if d < last]
    at_last = [label for d, label in neighbours if d == last]
    left = k - len(nearer)
    ranked = []
    for place, label in enumerate(classes):
        own = [d for d, other in nearer if other == label]
        tied = at_last.count(label)
        votes = len(own) * len(at_last) + tied * left
        total = 0.0
        for d in own:
            total += d
        total *= len(at_last)
        if tied:
            total += tied * left * last
        ranked.append((-votes, total, place))
    shares = [-votes / (k * len(at_last)) for votes, _, _ in ranked]
    return shares, classes[min(ranked)[2]]
