"""Kernels that convert rows to those of `DistanceFilter` and `IntegerRows`."""

import numpy as np

from confml._jit import kernel
from confml.neighbours.lanes import PANEL


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


@kernel
def largest_norm(X, centre):
    """Return the largest |X[i] - centre|^2."""
    largest = 0.0
    for i in range(len(X)):
        norm = 0.0
        for a in range(len(centre)):
            deviation = X[i, a] - centre[a]
            norm += deviation * deviation
        largest = max(largest, norm)
    return largest


@kernel
def integers(X, centre, scale, longest, panels, norms, usable):
    """Fill panels (panels, pairs, PANEL), norms and usable of `IntegerRows` from X (m, d); return the largest
    squared length of a rounding error. Rows with squared lengths above ``longest`` are not usable and get
    zeros."""
    largest = 0.0
    for i in range(len(X)):
        row, panel, lane = X[i], panels[i // PANEL], i % PANEL
        norm = error = 0.0
        for a in range(len(row)):
            exact = (row[a] - centre[a]) * scale
            norm += exact * exact
            error += (exact - np.rint(exact)) * (exact - np.rint(exact))
        usable[i] = norm <= longest
        if not usable[i]:
            continue
        largest = max(largest, error)
        whole = np.int64(0)
        for a in range(len(row)):
            value = np.int64(np.rint((row[a] - centre[a]) * scale))
            whole += value * value
            if a % 2 == 0:
                panel[a // 2, lane] = value & 0xFFFF
            else:
                panel[a // 2, lane] |= value << 16
        norms[i] = whole
    return largest
