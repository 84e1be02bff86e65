"""Literal versions of the Bayes error estimates for all classes: one row and one vote at a time."""

from __future__ import annotations

import numpy as np
from reference.bayes_error import all_edges, kruskal


def neighbours(X, i):
    """The other rows by (squared distance, row number)."""
    found = []
    for j in range(len(X)):
        if j != i:
            total = 0.0
            for a in range(X.shape[1]):
                total += (X[i, a] - X[j, a]) * (X[i, a] - X[j, a])
            found.append((total, j))
    return [j for _, j in sorted(found)]


def vote_row(labels, own):
    """Error of a vote of labels on the label own, majority at random among equals, and 1 - largest share."""
    counts = {label: labels.count(label) for label in labels}
    top = max(counts.values())
    winners = [label for label in counts if counts[label] == top]
    error = 1 - 1 / len(winners) if own in winners else 1.0
    return error, 1 - top / len(labels)


def neighbour_curve(X, y, most):
    """Mean error and vote risk of leave-one-out k-NN for k = 1..most: two lists."""
    rows = [vote_rows(X, y, k) for k in range(1, most + 1)]
    return [np.mean([e for e, _ in row]) for row in rows], [np.mean([r for _, r in row]) for row in rows]


def vote_rows(X, y, k):
    return [vote_row([y[j] for j in neighbours(X, i)[:k]], y[i]) for i in range(len(X))]


def held_out_annotator(votes):
    """Mean error of predicting each annotator of a row by the majority of the others, ties at random; votes:
    the number of annotators for each class."""
    labels = [j for j, count in enumerate(votes) for _ in range(int(count))]
    return np.mean([vote_row(labels[:a] + labels[a + 1 :], labels[a])[0] for a in range(len(labels))])


def global_tree(X, y):
    """Share of the edges between each two classes in one minimum spanning tree, divided by 2, and the bounds
    of Sekeh, Oselio and Hero (2020), theorems 3 and 4, from their sum."""
    classes = sorted(set(y))
    k, n = len(classes), len(X)
    delta = {}
    for _, i, j in kruskal(n, all_edges(X)):
        if y[i] != y[j]:
            pair = tuple(sorted((y[i], y[j])))
            delta[pair] = delta.get(pair, 0) + 1 / (2 * n)
    total = sum(delta.values())
    upper = min(2 * total, (k - 1) / k)
    lower = (k - 1) / k * (1 - np.sqrt(max(1 - k / (k - 1) * upper, 0)))
    most = 1 - max(list(y).count(c) for c in classes) / n
    return delta, min(lower, most), min(upper, most)


def least_squares_curve(sizes, means, exponents):
    """r and b of r + a s^-b, 0 <= r, 0 <= a, by bounded least squares for each exponent."""
    from scipy.optimize import lsq_linear

    best = None
    for b in exponents:
        x = (np.asarray(sizes) / sizes[0]) ** -b
        found = lsq_linear(np.column_stack([np.ones(len(x)), x]), means, bounds=(0, np.inf), tol=1e-14)
        if best is None or found.cost < best[0] - 1e-18:
            best = found.cost, found.x[0], b
    return best[1], best[2]
