"""Kernels that count calibration scores for all labels of many test examples in one pass."""

import math

import numpy as np

from confml._jit import kernel


@kernel
def bucket_starts(calibration, ends, buckets):
    """Return for each group of calibration scores the first place of each of equally wide buckets
    (g, buckets + 1), the lowest finite score (g,) and the number of buckets per unit (g,).

    calibration: (m,) sorted within each group. ends: (g + 1,) places at which the groups begin, and m.
    """
    groups = len(ends) - 1
    starts = np.zeros((groups, buckets + 1), dtype=np.int64)
    lowest, scale = np.zeros(groups), np.zeros(groups)
    for group in range(groups):
        low, high = np.inf, -np.inf
        for place in range(ends[group], ends[group + 1]):
            value = calibration[place]
            if math.isfinite(value):
                low, high = min(low, value), max(high, value)
        if low < high and math.isfinite(buckets / (high - low)):
            lowest[group], scale[group] = low, buckets / (high - low)
        starts[group, 0] = ends[group]
        for place in range(ends[group], ends[group + 1]):
            starts[group, bucket_of(calibration[place], lowest[group], scale[group], buckets) + 1] += 1
        for bucket in range(buckets):
            starts[group, bucket + 1] += starts[group, bucket]
    return starts, lowest, scale


@kernel
def bucket_of(value, lowest, scale, buckets):
    """Return the bucket of a value; a larger value never has a smaller bucket."""
    place = (value - lowest) * scale
    if not place > 0.0:  # also infinity, if all finite scores are equal
        return buckets - 1 if value == np.inf else 0
    return int(place) if place < buckets - 1 else buckets - 1


@kernel
def add_counts(scores, groups, calibration, ends, tolerance, size, starts, lowest, scale, greater, equal):
    """Add the numbers of calibration scores greater than and equal to each of scores (n, c).

    groups: (c,) group that each label counts. tolerance, size: of `counts_against`. greater, equal: (n, c).
    """
    buckets = starts.shape[1] - 1
    for row in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            score, group = scores[row, column], groups[column]
            near = tolerance * max(abs(score), size)
            if math.isinf(near):
                near = 0.0
            bucket = bucket_of(score + near, lowest[group], scale[group], buckets)
            first, last = starts[group, bucket], starts[group, bucket + 1]
            while first < last:
                middle = (first + last) >> 1
                if calibration[middle] <= score + near:
                    first = middle + 1
                else:
                    last = middle
            up_to = first
            if up_to > ends[group] and calibration[up_to - 1] >= score - near:
                bucket = bucket_of(score - near, lowest[group], scale[group], buckets)
                first, last = starts[group, bucket], min(starts[group, bucket + 1], up_to)
                while first < last:
                    middle = (first + last) >> 1
                    if calibration[middle] < score - near:
                        first = middle + 1
                    else:
                        last = middle
            greater[row, column] += ends[group + 1] - up_to
            equal[row, column] += up_to - first


@kernel
def fill_p_values(greater, equal, counted, nonconformity, p, columns):
    """Fill p (n, c) with (greater + equal) / counted, counted (c,), and columns (n,) with the largest one.

    Of equal p-values the one with the smaller nonconformity (n, c) is larger, then the first. Returns False
    if it finds NaN.
    """
    for row in range(p.shape[0]):
        best = 0
        for column in range(p.shape[1]):
            own = np.float64(greater[row, column] + equal[row, column]) / counted[column]
            strange = nonconformity[row, column]
            if strange != strange:
                return False
            p[row, column] = own
            if own > p[row, best] or (own == p[row, best] and strange < nonconformity[row, best]):
                best = column
        columns[row] = best
    return True
