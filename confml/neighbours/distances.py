"""Kernels of exact distances: squared differences added one by one in the order of the features, in float64.

Two rows tie where these numbers are equal. Every search in this package returns these numbers, whatever it
uses to exclude rows.
"""

from confml._jit import kernel


@kernel
def squared_distances(x, X, rows, out):
    """Fill out (n,) with the squared distances of x (d,) and the rows X[rows], rows (n,).

    Four rows are processed side by side, because each addition waits for the one before it in the same sum.
    """
    last = len(rows) - 1
    for n in range(0, len(rows), 4):
        x0, x1 = X[rows[n]], X[rows[min(n + 1, last)]]
        x2, x3 = X[rows[min(n + 2, last)]], X[rows[min(n + 3, last)]]
        s0 = s1 = s2 = s3 = 0.0
        for a in range(len(x)):
            e0, e1, e2, e3 = x[a] - x0[a], x[a] - x1[a], x[a] - x2[a], x[a] - x3[a]
            s0, s1, s2, s3 = s0 + e0 * e0, s1 + e1 * e1, s2 + e2 * e2, s3 + e3 * e3
        for e, square in enumerate((s0, s1, s2, s3)):
            if n + e <= last:
                out[n + e] = square


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
    position = len(values) - 1
    while position > 0 and values[position - 1] > value:
        values[position] = values[position - 1]
        position -= 1
    values[position] = value


@kernel
def squared_distances_to_columns(x, columns, first, out):
    """Fill out (n,) with the squared distances of x (d,) and the columns (d, m) from ``first`` on.

    Four features are processed in each pass; every sum still adds one square after the other.
    """
    last = first + len(out)
    out[:] = 0.0
    whole = len(x) - len(x) % 4
    for a in range(0, whole, 4):
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        c0, c1 = columns[a, first:last], columns[a + 1, first:last]
        c2, c3 = columns[a + 2, first:last], columns[a + 3, first:last]
        for j in range(len(out)):
            e0, e1, e2, e3 = x0 - c0[j], x1 - c1[j], x2 - c2[j], x3 - c3[j]
            out[j] = (((out[j] + e0 * e0) + e1 * e1) + e2 * e2) + e3 * e3
    for a in range(whole, len(x)):
        x0, c0 = x[a], columns[a, first:last]
        for j in range(len(out)):
            e0 = x0 - c0[j]
            out[j] += e0 * e0
