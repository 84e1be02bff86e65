"""Kernels of the Minkowski and the polar distance and of linear maps, with a fixed order of sums."""

import numpy as np

from confml._jit import kernel
from confml.neighbours._kernels import offer
from confml.neighbours.distances import squared_distance

# Rounding errors of a root, of an arc sine and of sums of millions of differences are smaller than this.
SLACK = 1.0 + 1e-9
GRID = 2.0**40
# A sum of powers below this has lost digits to underflow.
SMALLEST_SUM = 1e-290


@kernel
def minkowski_distance(a, b, nominal, power, limit):
    """Return the Minkowski distance of rows a and b (d,) whose first ``nominal`` columns hold category codes.

    (sum |a_i - b_i|^power)^(1/power), added in the order of the columns; the largest difference if ``power``
    is infinite. A nominal column adds 0 or 1; with nominal columns only, the distance is the number of codes
    that differ. Where the powers overflow or underflow, the differences are divided by the largest one
    first. A result above ``limit`` may be too small.
    """
    differing = 0
    for i in range(nominal):
        differing += a[i] != b[i]
    if nominal == a.size:
        return float(differing)
    bound = limit * SLACK
    if power == 1.0:
        total = float(differing)
        for i in range(nominal, a.size):
            total += abs(a[i] - b[i])
            if total > limit:  # a sum of absolute values never decreases
                break
        return total
    largest = 1.0 if differing else 0.0
    absolute = float(differing)
    for i in range(nominal, a.size):
        difference = abs(a[i] - b[i])
        absolute += difference
        if difference > largest:
            largest = difference
            if largest > bound:  # no Minkowski distance is below the largest difference
                return largest
    if power == np.inf:
        return largest
    # By Hoelder's inequality: sum |x_i| <= d^(1 - 1/power) (sum |x_i|^power)^(1/power).
    lowest = absolute * float(a.size) ** (1.0 / power - 1.0)
    if lowest > bound:
        return lowest
    total = float(differing)
    for i in range(nominal, a.size):
        total += abs(a[i] - b[i]) ** power
    if SMALLEST_SUM < total < np.inf:
        return total ** (1.0 / power)
    if largest == 0.0:
        return 0.0
    total = differing * (1.0 / largest) ** power if differing else 0.0
    for i in range(nominal, a.size):
        total += (abs(a[i] - b[i]) / largest) ** power
    return largest * total ** (1.0 / power)


@kernel
def search_minkowski(rows, X, codes, nominal, power, distances, nearest_codes, beyond):
    """Search the K nearest of each query row (n, d) in X (m, d) by Minkowski distance.

    See `confml.neighbours._kernels` for the arrays that are filled.
    """
    K = distances.shape[1]
    for i in range(len(rows)):
        filled = 0
        limit = np.inf
        for j in range(len(X)):
            distance = minkowski_distance(rows[i], X[j], nominal, power, limit)
            if distance <= limit:
                filled = offer(distance, codes[j], filled, distances[i], nearest_codes[i], beyond[i])
                if filled == K:
                    limit = distances[i, K - 1]


@kernel
def search_angles(rows, X, codes, distances, nearest_codes, beyond):
    """Search the K nearest of each query row (n, d) in X (m, d), all of length 1, by the angle between two
    rows.
    """
    K = distances.shape[1]
    for i in range(len(rows)):
        filled = 0
        limit = np.inf
        farthest = np.inf
        for j in range(len(X)):
            if rows[i, -1] != X[j, -1]:  # one of them is zero: a right angle
                squared = 2.0
            else:
                squared = squared_distance(rows[i], X[j], farthest)
            if squared > farthest:
                continue
            angle = 2.0 * np.arcsin(min(1.0, 0.5 * np.sqrt(squared)))
            if angle <= limit:
                filled = offer(angle, codes[j], filled, distances[i], nearest_codes[i], beyond[i])
                if filled == K:
                    limit = distances[i, K - 1]
                    chord = 2.0 * np.sin(0.5 * limit)
                    farthest = chord * chord * SLACK


@kernel
def directions(X, out):
    """Fill out (n, d + 1) with the rows of X (n, d), scaled to length 1; (0, ..., 0, 1) for zeros.

    Each row is first multiplied by a power of two, so that its squares neither overflow nor vanish. Results
    are rounded to multiples of 2^-40: rows of the same direction are then equal, whatever their lengths.
    """
    n, d = X.shape
    for i in range(n):
        largest = 0.0
        for a in range(d):
            largest = max(largest, abs(X[i, a]))
        out[i, :] = 0.0
        if largest == 0.0:
            out[i, d] = 1.0
            continue
        exponent = int(np.floor(np.log2(largest)))
        total = 0.0
        for a in range(d):
            value = np.ldexp(X[i, a], -exponent)
            out[i, a] = value
            total += value * value
        length = np.sqrt(total)
        for a in range(d):
            out[i, a] = np.rint(out[i, a] / length * GRID) / GRID


@kernel
def mapped(X, matrix, out):
    """Fill out (n, r) with X (n, d) @ matrix (d, r), each row by itself, in the order of the columns."""
    for i in range(X.shape[0]):
        for b in range(matrix.shape[1]):
            total = 0.0
            for a in range(X.shape[1]):
                total += X[i, a] * matrix[a, b]
            out[i, b] = total
