"""Compiled line search of `crammer_singer_path` and `gen_svm_path` for machines with many unknowns."""

from __future__ import annotations

from confml._jit import kernel

LARGE = 1000  # smallest number of unknowns of which a factor takes longer than some more points on the line
FLAT = 0.1  # their line searches end where the slope is at most this times the first slope


@kernel
def next_point(ends, far, slope):
    """Return the next point of a search for the zero of an increasing slope, and the new ends.

    ends: (low, high, slope at low, slope at high, side of the last point). The next point is that of the
    secant, with half the slope of an end that stays twice, and at least 2 % of the interval from both ends.
    """
    low, high, slope_low, slope_high, side = ends
    if slope > 0.0:
        slope_low *= 0.5 if side > 0.0 else 1.0
        high, slope_high, side = far, slope, 1.0
    else:
        slope_high *= 0.5 if side < 0.0 else 1.0
        low, slope_low, side = far, slope, -1.0
    far = (low * slope_high - high * slope_low) / (slope_high - slope_low)
    far = min(max(far, low + 0.02 * (high - low)), high - 0.02 * (high - low))
    return far, (low, high, slope_low, slope_high, side)
