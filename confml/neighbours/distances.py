"""Kernels of exact distances: squared differences added one by one in the order of the features, in float64.

Two rows tie where these numbers are equal. Every search in this package returns these numbers, whatever it
uses to exclude rows.
"""

import numpy as np

from confml._jit import kernel


@kernel
def squared_distance(a, b, limit):
    """Return the squared distance of a (d,) and b (d,); a result above ``limit`` may be a partial sum."""
    total = 0.0
    start = 0
    while start < a.size:
        stop = min(start + 16, a.size)
        for i in range(start, stop):
            difference = a[i] - b[i]
            total += difference * difference
        if total > limit:  # a sum of squares never decreases
            return total
        start = stop
    return total


@kernel
def squared_distance_of_rows(Q, r, X, t):
    """Return the squared distance of Q[r] and X[t] (d,)."""
    total = 0.0
    for a in range(X.shape[1]):
        e = Q[r, a] - X[t, a]
        total += e * e
    return total


@kernel
def insert(values, value):
    """Insert a value into an ascending list (K,) and drop the last one, which is not smaller."""
    place = len(values) - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        place -= 1
    values[place] = value


@kernel
def squared_distances_to_columns(x, columns, out):
    """Fill out (m,) with the squared distances of x (d,) and the rows of which columns (d, m) is the
    transpose."""
    minus_squared_distances(x.reshape(1, x.size), columns, 0, out.reshape(1, out.size))
    for j in range(out.size):
        out[j] = 0.0 - out[j]


@kernel
def squared_distances(x, X, rows, n, out):
    """Fill out[:n] with the squared distances of x (d,) and the rows X[rows[:n]].

    Eight sums are computed side by side, because each addition waits for the one before it. ``rows`` and
    ``out`` have space for a multiple of eight entries; the last row is repeated there.
    """
    padded = (n + 3) // 4 * 4 if n % 8 <= 4 else (n + 7) // 8 * 8
    for e in range(n, padded):
        rows[e] = rows[n - 1]
    whole = padded // 8 * 8
    for e in range(0, whole, 8):
        z0, z1, z2, z3 = X[rows[e]], X[rows[e + 1]], X[rows[e + 2]], X[rows[e + 3]]
        z4, z5, z6, z7 = X[rows[e + 4]], X[rows[e + 5]], X[rows[e + 6]], X[rows[e + 7]]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for a in range(len(x)):
            e0, e1, e2, e3 = x[a] - z0[a], x[a] - z1[a], x[a] - z2[a], x[a] - z3[a]
            e4, e5, e6, e7 = x[a] - z4[a], x[a] - z5[a], x[a] - z6[a], x[a] - z7[a]
            s0 += e0 * e0
            s1 += e1 * e1
            s2 += e2 * e2
            s3 += e3 * e3
            s4 += e4 * e4
            s5 += e5 * e5
            s6 += e6 * e6
            s7 += e7 * e7
        out[e], out[e + 1], out[e + 2], out[e + 3] = s0, s1, s2, s3
        out[e + 4], out[e + 5], out[e + 6], out[e + 7] = s4, s5, s6, s7
    for e in range(whole, padded, 4):
        z0, z1, z2, z3 = X[rows[e]], X[rows[e + 1]], X[rows[e + 2]], X[rows[e + 3]]
        s0 = s1 = s2 = s3 = 0.0
        for a in range(len(x)):
            e0, e1, e2, e3 = x[a] - z0[a], x[a] - z1[a], x[a] - z2[a], x[a] - z3[a]
            s0 += e0 * e0
            s1 += e1 * e1
            s2 += e2 * e2
            s3 += e3 * e3
        out[e], out[e + 1], out[e + 2], out[e + 3] = s0, s1, s2, s3


@kernel
def minus_squared_distances(rows, columns, first, out):
    """Fill out[i, j] with minus the squared distance of rows[i] (d,) and columns[:, first + j].

    rows (b, d); columns (d, m), the transposed training rows; out (b, w). Four features are processed in each
    pass over a row of out; every sum still adds one square after the other.
    """
    last = first + out.shape[1]
    features = rows.shape[1]
    whole = features - features % 4
    for i in range(rows.shape[0]):
        row = out[i]
        row[:] = 0.0
        for a in range(0, whole, 4):
            x0, x1, x2, x3 = rows[i, a], rows[i, a + 1], rows[i, a + 2], rows[i, a + 3]
            c0, c1 = columns[a, first:last], columns[a + 1, first:last]
            c2, c3 = columns[a + 2, first:last], columns[a + 3, first:last]
            for j in range(len(row)):
                e0, e1, e2, e3 = x0 - c0[j], x1 - c1[j], x2 - c2[j], x3 - c3[j]
                row[j] = (((row[j] - e0 * e0) - e1 * e1) - e2 * e2) - e3 * e3
        for a in range(whole, features):
            x0, c0 = rows[i, a], columns[a, first:last]
            for j in range(len(row)):
                e0 = x0 - c0[j]
                row[j] -= e0 * e0


@kernel
def mixed_distance(a, b, nominal, limit):
    """Return the distance of rows a (d,) and b (d,) whose first ``nominal`` columns hold category codes (eq.
    3.2).

    The root of the number of codes that differ plus the squared differences of the other columns, added in
    this order; with nominal columns only, the number of codes that differ (Hamming distance). A result above
    ``limit`` may be too small.

    Source: Kubat, An Introduction to Machine Learning (2015).
    """
    differing = 0
    for i in range(nominal):
        differing += a[i] != b[i]
    if nominal == a.size:
        return float(differing)
    squared = limit * limit * (1.0 + 2.0**-50)
    if nominal == 0:
        return np.sqrt(squared_distance(a, b, squared))
    if differing > squared:
        return np.sqrt(float(differing))
    total = float(differing)
    for i in range(nominal, a.size):
        difference = a[i] - b[i]
        total += difference * difference
        if total > squared:
            break
    return np.sqrt(total)
