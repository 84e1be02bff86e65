"""Compiled line search of `crammer_singer_path` and `gen_svm_path` for machines with many unknowns."""

from confml._jit import kernel

LARGE = 1000  # above this number of unknowns, a Cholesky factor takes longer than several points on the line
FLAT = 0.1  # a line search with so many unknowns ends where |slope| is at most this times |first slope|
PATIENCE = 20  # after this number of points, a sufficient decrease is enough


@kernel
def flat_enough(trial, slope_far, slope):
    """Return whether a line search for many unknowns can end at a point that decreases the objective.

    trial: number of the point, from 0. slope_far: slope at the point. slope: slope at the start, below 0.
    """
    return trial >= PATIENCE or slope_far <= 0.0 and trial == 0 or abs(slope_far) <= FLAT * -slope


@kernel
def next_point(ends, far, slope):
    """Return the next point of a search for the zero of an increasing slope, and the new ends.

    The Illinois variant of regula falsi: the slope of an end is halved each time that it stays, so that the
    points approach the zero from both sides. The next point has at least 2 % of the interval to each side.
    ends: (low, high, slope at low, slope at high, side of the last point), at first (0, 1, slope at 0, 0, 0).
    The first point, far = 1, must have a slope above 0.
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
