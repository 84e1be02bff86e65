"""Compiled functions of the exact paths: products with examples and weighted Gram matrices.

Examples are a tuple ``rows`` = (X, starts, columns, values): X (n, D), or an empty array and the parts of a
CSR matrix. The constant feature is the first column. Lower triangles are packed by rows: entry (a, b), with
a >= b, has the number a (a + 1) / 2 + b.
"""

import numpy as np

from confml._jit import kernel


@kernel
def sum_of_products(A, B):
    """Return the sum of the products of the entries of A and B (n, c)."""
    total = 0.0
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            total += A[i, k] * B[i, k]
    return total


@kernel
def copy_into(A, B):
    """Set A to B (n, c). For two dimensions, an assignment to ``A[:]`` takes numba seconds to compile."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] = B[i, k]


@kernel
def add_multiple(A, factor, B):
    """Add ``factor`` times B to A (n, c)."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] += factor * B[i, k]


@kernel
def products(rows, W):
    """Return X W (n, c) for W (D, c)."""
    X, starts, columns, values = rows
    if X.shape[0] > 0:
        return np.dot(X, W)
    n, c = len(starts) - 1, W.shape[1]
    # Four sums at a time: the compiler makes one vector of them.
    padded = np.zeros((W.shape[0], (c + 3) // 4 * 4))
    for j in range(W.shape[0]):
        for k in range(c):
            padded[j, k] = W[j, k]
    S = np.empty((n, padded.shape[1]))
    for i in range(n):
        for k in range(0, padded.shape[1], 4):
            s0 = s1 = s2 = s3 = 0.0
            for e in range(starts[i], starts[i + 1]):
                j, value = columns[e], values[e]
                s0 += value * padded[j, k]
                s1 += value * padded[j, k + 1]
                s2 += value * padded[j, k + 2]
                s3 += value * padded[j, k + 3]
            S[i, k], S[i, k + 1], S[i, k + 2], S[i, k + 3] = s0, s1, s2, s3
    return S if c == S.shape[1] else S[:, :c].copy()


@kernel
def back_products(rows, S, D):
    """Return X' S (D, c) for S (n, c)."""
    X, starts, columns, values = rows
    if X.shape[0] > 0:
        return np.dot(X.T, S)
    n, c = S.shape
    out, row = np.zeros((D, (c + 3) // 4 * 4)), np.zeros((c + 3) // 4 * 4)
    for i in range(n):
        for k in range(c):
            row[k] = S[i, k]
        for k in range(0, len(row), 4):
            s0, s1, s2, s3 = row[k], row[k + 1], row[k + 2], row[k + 3]
            for e in range(starts[i], starts[i + 1]):
                j, value = columns[e], values[e]
                out[j, k] += value * s0
                out[j, k + 1] += value * s1
                out[j, k + 2] += value * s2
                out[j, k + 3] += value * s3
    return out if c == len(row) else out[:, :c].copy()


@kernel
def take_rows(rows, chosen):
    """Return the examples with the numbers ``chosen`` (m,) as rows."""
    X, starts, columns, values = rows
    m = len(chosen)
    if X.shape[0] > 0:
        taken = np.empty((m, X.shape[1]))
        for r in range(m):
            for a in range(X.shape[1]):
                taken[r, a] = X[chosen[r], a]
        return taken, starts, columns, values
    ends = np.zeros(m + 1, dtype=np.int64)
    for r in range(m):
        ends[r + 1] = ends[r] + starts[chosen[r] + 1] - starts[chosen[r]]
    its_columns, its_values = np.empty(ends[m], dtype=np.int64), np.empty(ends[m])
    for r in range(m):
        begin = starts[chosen[r]]
        for e in range(ends[r + 1] - ends[r]):
            its_columns[ends[r] + e], its_values[ends[r] + e] = columns[begin + e], values[begin + e]
    return X, ends, its_columns, its_values


@kernel
def block_size(P):
    """Return the number of examples that `add_grams` takes at a time, for packed triangles of P entries."""
    return max(16, min(256, 500_000 // P))


@kernel
def add_grams(rows, block, m, coefficients, G):
    """Add the sum of ``coefficients[r, q] x x'`` over the examples x = block[r], r < m, to G[q], for each q.

    coefficients (block size, q). G (q, P): packed lower triangles.
    """
    X, starts, columns, values = rows
    pairs, P = G.shape
    if X.shape[0] > 0:
        outer = np.empty((m, P))
        for r in range(m):
            i, e = block[r], 0
            for a in range(X.shape[1]):
                value = X[i, a]
                for b in range(a + 1):
                    outer[r, e + b] = value * X[i, b]
                e += a + 1
        sums = np.dot(coefficients[:m].T, outer)
        for q in range(pairs):
            for e in range(P):
                G[q, e] += sums[q, e]
        return
    places, parts = np.empty(P, dtype=np.int64), np.empty(P)
    for r in range(m):
        i, count = block[r], 0
        for e in range(starts[i], starts[i + 1]):
            a = columns[e]
            for f in range(starts[i], e + 1):
                places[count] = a * (a + 1) // 2 + columns[f]
                parts[count] = values[e] * values[f]
                count += 1
        for q in range(pairs):
            factor = coefficients[r, q]
            if factor != 0.0:
                for e in range(count):
                    G[q, places[e]] += factor * parts[e]


@kernel
def add_sparse_grams(rows, block, m, coefficients, G):
    """Add what `add_grams` adds to the transpose of G (P, pairs): faster where most coefficients are not 0.

    The examples are sparse.
    """
    X, starts, columns, values = rows
    pairs = G.shape[1]
    for r in range(m):
        i = block[r]
        for e in range(starts[i], starts[i + 1]):
            first = columns[e] * (columns[e] + 1) // 2
            for f in range(starts[i], e + 1):
                place, part = first + columns[f], values[e] * values[f]
                for q in range(pairs):
                    G[place, q] += part * coefficients[r, q]


@kernel
def fill_blocks(G, classes, D, factor, H):
    """Set the lower triangle of H (classes D, classes D) to ``factor`` times the blocks G (pairs, P)."""
    for k in range(classes):
        for m in range(k + 1):
            q = k * (k + 1) // 2 + m
            for a in range(D):
                e = a * (a + 1) // 2
                for b in range(a + 1):
                    value = factor * G[q, e + b]
                    H[k * D + a, m * D + b] = value
                    if k > m:
                        H[k * D + b, m * D + a] = value
