"""Kernels that convert rows to those of `DistanceFilter`."""

import numpy as np

from confml._jit import kernel


@kernel
def largest_deviation(X, centre):
    """Return the largest |X[i, a] - centre[a]|; NaN where a centre is not finite."""
    largest = 0.0
    for i in range(len(X)):
        for a in range(len(centre)):
            deviation = abs(X[i, a] - centre[a])
            if not deviation <= largest:
                largest = deviation
    return largest


@kernel
def centred(X, centre, scale, out, norms):
    """Set out[i] = float32(scale (X[i] - centre)) and norms[i] = squared length of out[i] in float64."""
    for i in range(len(X)):
        row = X[i]
        norm = 0.0
        for a in range(len(row)):
            value = np.float32((row[a] - centre[a]) * scale)
            out[i, a] = value
            norm += np.float64(value) * np.float64(value)
        norms[i] = norm
