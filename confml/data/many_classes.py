"""Synthetic data with many classes, of which some are much harder than others."""

from __future__ import annotations

import math

import numpy as np

LINE = 5  # classes of one line
SPACINGS = (1.0, 2.0, 4.0)  # of the classes of a line, in standard deviations; lines take turns
APART = 20.0  # distance of the lines


def many_classes(n: int, rng: np.random.Generator, classes: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return X (n, 3) and equally likely classes 1, 2, ...: unit Gaussians around their centres.

    Five classes have centres on a line along the first feature, with a distance of 1, 2 or 4. The lines are
    far from each other in the other two features.
    """
    codes = rng.integers(0, classes, n)
    return _centres(classes)[codes] + rng.standard_normal((n, 3)), codes + 1


def many_classes_probability(X: np.ndarray, classes: int = 20) -> np.ndarray:
    """Return (n, classes) true probabilities."""
    from scipy.special import softmax

    X, centres = np.asarray(X, dtype=np.float64), _centres(classes)
    return softmax(X @ centres.T - 0.5 * (centres**2).sum(axis=1), axis=1)


def many_classes_bayes_error(classes: int = 20) -> float:
    """Return the error of the nearest centre: 2 Phi(-spacing / 2) inside a line, half of it at its ends."""
    from scipy.special import ndtr

    wrong = 0.0
    for line in range(-(-classes // LINE)):
        own = min(LINE, classes - LINE * line)
        wrong += 2 * (own - 1) * float(ndtr(-SPACINGS[line % len(SPACINGS)] / 2))
    return wrong / classes


def _centres(classes: int) -> np.ndarray:
    """Return (classes, 3) centres."""
    code = np.arange(classes)
    line, place = code // LINE, code % LINE
    width = math.isqrt(int(line[-1])) + 1
    spacing = np.array(SPACINGS)[line % len(SPACINGS)]
    return np.column_stack([spacing * (place - 2), APART * (line % width), APART * (line // width)])
