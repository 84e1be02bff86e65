"""Kernels of the k-NN Venn predictor: neighbour counts of training examples, and changes by a new one."""

import numpy as np

from confml._jit import kernel
from confml.neighbours.distances import mixed_distance, squared_distance, squared_distances_to_columns

MAJORITY, VOTES, COUNTS = 0, 1, 2
_ROOT_SLACK = 1.0 + 2.0**-50
COLUMNS_UP_TO = 32  # features up to which all distances are computed; with more, most sums end early


@kernel
def training_counts(k, distances, neighbour_codes, beyond, codes, radius, every, nearer):
    """Fill the k-th nearest distance to others (m,) and two counts of the neighbours' classes (m, c).

    distances, neighbour_codes (m, K), beyond (m, c): the K nearest training rows of each training row, which
    is itself among them (`confml.neighbours.nearest_rows.Neighbours`); K > k, or all rows. every: others at a
    distance of at most the radius. nearer: others below it if there are exactly k - 1 of them, else as
    ``every``.
    """
    m, places = distances.shape
    for i in range(m):
        every[i] = 0
        nearer[i] = 0
        radius[i] = distances[i, k] if k < places else np.inf
        below = 0
        for e in range(places):
            if distances[i, e] <= radius[i]:
                every[i, neighbour_codes[i, e]] += 1
            if distances[i, e] < radius[i]:
                nearer[i, neighbour_codes[i, e]] += 1
                below += 1
        if distances[i, places - 1] == radius[i]:
            for j in range(every.shape[1]):
                every[i, j] += beyond[i, j]
        every[i, codes[i]] -= 1
        if radius[i] > 0.0:
            nearer[i, codes[i]] -= 1
            below -= 1
        if k >= places or below != k - 1:
            nearer[i] = every[i]


@kernel
def new_counts(k, distances, neighbour_codes, beyond, counts):
    """Fill the counts (n, c) of the classes of the training rows up to the k-th nearest, with its ties."""
    n, places = distances.shape
    for i in range(n):
        counts[i] = 0
        last = distances[i, k - 1] if k <= places else np.inf
        for e in range(places):
            if distances[i, e] <= last:
                counts[i, neighbour_codes[i, e]] += 1
        if distances[i, places - 1] == last:
            for j in range(counts.shape[1]):
                counts[i, j] += beyond[i, j]


@kernel
def _first_and_most(counts):
    """Return the first class of most votes, and their number."""
    first = 0
    for j in range(1, counts.size):
        if counts[j] > counts[first]:
            first = j
    return first, counts[first]


@kernel
def _memberships(taxonomy, counts, neighbours, inside):
    """Fill inside[v]: whether counts (c,) and one neighbour more, of class v, are in that of `neighbours`."""
    c = counts.size
    if taxonomy == COUNTS:
        other = -1  # the class with one neighbour more in neighbours; -2 where they differ otherwise
        for j in range(c):
            if neighbours[j] == counts[j] + 1 and other == -1:
                other = j
            elif neighbours[j] != counts[j]:
                other = -2
        for v in range(c):
            inside[v] = v == other
        return
    first, most = _first_and_most(counts)
    own_first, own_most = _first_and_most(neighbours)
    for v in range(c):
        one_more = counts[v] + 1
        f, b = first, most
        if one_more > most or (one_more == most and v < first):
            f, b = v, one_more
        inside[v] = f == own_first and (taxonomy == MAJORITY or b == own_most)


@kernel
def _squares(x, X, columns, limits, out):
    """Fill out (m,) with squared distances of x (d,) and X (m, d), partial sums where above the limit."""
    if columns.shape[0] == x.size:
        squared_distances_to_columns(x, columns, out)
    else:
        for i in range(out.size):
            out[i] = squared_distance(x, X[i], limits[i])


@kernel
def distributions(rows, training, new_rows, taxonomy, nominal, filled):
    """Fill the lower and upper bounds, means and diagonals (n, c) of the label distributions of new rows.

    rows: X (m, d), with ``nominal`` first columns of categories; columns, (d, m) X transposed, or (0, m);
    codes (m,). training: radius, every, nearer, see `training_counts`; kinds (m,), numbers of the categories.
    new_rows: new (n, d); own (n, c), see `new_counts`; own_kinds (n,), numbers of the categories, -1 for one
    without training examples; base (n, c), training examples of each class in the new row's category. Row v
    of the distributions is that of the category if the new row has class v.
    """
    X, columns, codes = rows
    radius, every, nearer, kinds = training
    new, own, own_kinds, base = new_rows
    lower, upper, mean, diagonal = filled
    m, c = every.shape
    limits = radius * radius * _ROOT_SLACK
    squares = np.empty(m)
    change = np.empty((c, c), np.int64)
    inside = np.empty(c, np.bool_)
    for r in range(len(new)):
        if nominal == 0:
            _squares(new[r], X, columns, limits, squares)
        change[:] = 0
        for i in range(m):
            if nominal > 0:
                distance = mixed_distance(new[r], X[i], nominal, radius[i])
            elif squares[i] <= limits[i]:
                distance = np.sqrt(squares[i])
            else:
                continue
            if distance > radius[i]:
                continue
            before = kinds[i] == own_kinds[r]
            _memberships(taxonomy, nearer[i] if distance < radius[i] else every[i], own[r], inside)
            for v in range(c):
                if inside[v] and not before:
                    change[v, codes[i]] += 1
                elif before and not inside[v]:
                    change[v, codes[i]] -= 1
        for j in range(c):
            lower[r, j], upper[r, j], mean[r, j] = 1.0, 0.0, 0.0
        for v in range(c):
            change[v, v] += 1
            size = 0
            for j in range(c):
                size += base[r, j] + change[v, j]
            for j in range(c):
                share = (base[r, j] + change[v, j]) / size
                lower[r, j] = min(lower[r, j], share)
                upper[r, j] = max(upper[r, j], share)
                mean[r, j] += share
            diagonal[r, v] = (base[r, v] + change[v, v]) / size
        for j in range(c):
            mean[r, j] = min(max(mean[r, j] / c, lower[r, j]), upper[r, j])
