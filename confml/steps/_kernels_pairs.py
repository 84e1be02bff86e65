"""Kernels of the steps that look at pairs of training examples. The first ``nominal`` columns hold codes."""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import mixed_distance


@kernel
def tomek_links(X, nominal, codes, nearest, order, linked):
    """Mark (m,) the rows of X (m, d) in Tomek links, and return how many links there are.

    nearest: (m,) the distance of each row to its nearest other one. order: (m,) rows by ``nearest``: two rows
    can be each other's nearest only where these distances are equal.
    """
    links = 0
    for position in range(len(order)):
        i = order[position]
        for other in range(position + 1, len(order)):
            j = order[other]
            if nearest[j] != nearest[i]:
                break
            if codes[i] != codes[j] and mixed_distance(X[i], X[j], nominal, nearest[i]) == nearest[i]:
                linked[i] = True
                linked[j] = True
                links += 1
    return links


@kernel
def nearest_kept(X, nominal, codes, row, kept, without, counts):
    """Return the distance of a row to the nearest kept one but ``without``, and class counts (c,) there."""
    smallest = np.inf
    counts[:] = 0
    for j in range(len(X)):
        if not kept[j] or j == without:
            continue
        distance = mixed_distance(X[row], X[j], nominal, smallest)
        if distance < smallest:
            smallest = distance
            counts[:] = 0
        if distance == smallest:
            counts[codes[j]] += 1
    return smallest


@kernel
def condense(X, nominal, codes, classes, chosen):
    """Add each row of X (m, d) that 1-NN on those ``chosen`` (m,) bool gets wrong, at once, until none is.

    Rows come in their order, pass after pass; ``chosen`` is changed in place. Returns the number of passes.
    """
    m = len(X)
    distance = np.empty(m, dtype=np.float64)
    counts = np.zeros((m, classes), dtype=np.int64)
    for i in range(m):
        distance[i] = nearest_kept(X, nominal, codes, i, chosen, -1, counts[i])
    passes = 0
    grown = True
    while grown:
        grown = False
        passes += 1
        for new in range(m):
            if chosen[new] or np.argmax(counts[new]) == codes[new]:
                continue
            chosen[new] = True
            grown = True
            for i in range(m):
                between = mixed_distance(X[new], X[i], nominal, distance[i])
                if between < distance[i]:
                    distance[i] = between
                    counts[i] = 0
                if between == distance[i]:
                    counts[i, codes[new]] += 1
    return passes


@kernel
def drop_examples(X, nominal, codes, classes, order, kept):
    """Drop one row of X (m, d) at a time while no fewer rows are classified right by 1-NN on those kept.

    order: (m,) in which rows are tried, in rounds until one drops none. kept: (m,) bool, changed in
    place; one row is always left. Returns the number of rounds.
    """
    m = len(X)
    distance = np.empty(m, dtype=np.float64)
    counts = np.zeros((m, classes), dtype=np.int64)
    changed = np.empty(m, dtype=np.int64)
    new_distance = np.empty(m, dtype=np.float64)
    new_counts = np.zeros((m, classes), dtype=np.int64)
    for i in range(m):
        distance[i] = nearest_kept(X, nominal, codes, i, kept, -1, counts[i])
    left = kept.sum()
    rounds = 0
    dropped = True
    while dropped and left > 1:
        dropped = False
        rounds += 1
        for candidate in order:
            if not kept[candidate] or left == 1:
                continue
            gain = 0
            n_changed = 0
            for i in range(m):
                if mixed_distance(X[candidate], X[i], nominal, distance[i]) != distance[i]:
                    continue
                new_distance[n_changed] = distance[i]
                new_counts[n_changed] = counts[i]
                new_counts[n_changed, codes[candidate]] -= 1
                if new_counts[n_changed].sum() == 0:
                    new_distance[n_changed] = nearest_kept(
                        X, nominal, codes, i, kept, candidate, new_counts[n_changed]
                    )
                gain += np.argmax(new_counts[n_changed]) == codes[i]
                gain -= np.argmax(counts[i]) == codes[i]
                changed[n_changed] = i
                n_changed += 1
            if gain >= 0:
                kept[candidate] = False
                left -= 1
                dropped = True
                for entry in range(n_changed):
                    distance[changed[entry]] = new_distance[entry]
                    counts[changed[entry]] = new_counts[entry]
    return rounds
