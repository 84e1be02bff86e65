"""Distributions of synthetic data: concepts, and data with a shifted test part.

Concepts have no noise: a rule on the features determines the class, so the Bayes error is 0. They are those
of Kubat, An Introduction to Machine Learning (2015), computer assignments of chapters 3 and 4. A generator
with ``irrelevant`` appends that many features of the same kind that are independent of the class. They have
their own random stream, so the other features do not depend on them.
"""

import math

import numpy as np


def at_least(
    n: int, rng: np.random.Generator, d: int = 5, k: int = 3, irrelevant: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples of d fair boolean features: ``pos`` if at least k of them are 1, else ``neg``.

    A line separates the classes: eq. 4.7. Assignments 2 to 6 of chapter 4.
    """
    relevant, rest = rng.spawn(2)
    X = _booleans(relevant, n, d)
    y = np.where(X.sum(axis=1) >= k, "pos", "neg")
    return np.hstack([X, _booleans(rest, n, irrelevant)]), y


def counted(n: int, rng: np.random.Generator, irrelevant: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples of six boolean features: C1 if five or six are 1, C2 three or four, C3 two, C4 one.

    Assignment 8 of chapter 4, which defines no class for an example of zeros; none is drawn.
    """
    relevant, rest = rng.spawn(2)
    codes = relevant.integers(1, 2**6, size=n)
    X = (codes[:, None] >> np.arange(6) & 1).astype(np.float64)
    counts = X.sum(axis=1)
    y = np.select([counts >= 5, counts >= 3, counts >= 2], ["C1", "C2", "C3"], "C4")
    return np.hstack([X, _booleans(rest, n, irrelevant)]), y


def half_cube(
    n: int, rng: np.random.Generator, d: int = 3, threshold: float = 1.0, irrelevant: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return n points, uniform in the unit cube of d dimensions: ``pos`` if their sum exceeds ``threshold``.

    Assignment 7 of chapter 4 with the threshold 1; a sign is missing in its expression, which is read as
    -1 + x1 + x2 + x3.
    """
    relevant, rest = rng.spawn(2)
    X = relevant.random((n, d))
    return np.hstack([X, rest.random((n, irrelevant))]), np.where(X.sum(axis=1) > threshold, "pos", "neg")


def arcs(
    n: int, rng: np.random.Generator, classes: int = 4, irrelevant: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return n points on a circle in the unit square, cut into ``classes`` equal arcs, the classes 1, 2, ...

    A line separates each class from the rest; the margin decreases with the number of classes.
    """
    relevant, rest = rng.spawn(2)
    angle = relevant.random(n)
    X = 0.5 + 0.5 * np.column_stack([np.cos(2 * np.pi * angle), np.sin(2 * np.pi * angle)])
    return np.hstack([X, rest.random((n, irrelevant))]), np.floor(angle * classes).astype(np.int64) + 1


def taught_circle(
    n: int, rng: np.random.Generator, taught: float = 1.0, noise: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Return n points, uniform in the unit square: X (n, 3), ``pos`` inside a circle and ``neg`` outside.

    The third feature is 1 for the fraction ``taught`` of the examples, which a teacher has labelled, and 0
    for those of a database, whose labels are wrong with probability ``noise`` (Kubat, section 3.9).
    """
    X = np.column_stack([rng.random((n, 2)), rng.random(n) < taught])
    wrong = (rng.random(n) < noise) & (X[:, 2] == 0)
    in_circle = (X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2 <= 0.4 / np.pi
    return X, np.where(in_circle != wrong, "pos", "neg")


# Computer assignment 1 of chapter 4: four features; the first three examples are positive.
_SIX = ((1, 1, 1, 0), (0, 0, 0, 0), (1, 1, 0, 1), (1, 1, 0, 0), (0, 1, 0, 1), (0, 0, 0, 1))


def six_examples(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return n draws from six examples, three ``pos`` and three ``neg``, that no line separates."""
    rows = rng.integers(0, 6, size=n)
    return np.array(_SIX, dtype=np.float64)[rows], np.where(rows < 3, "pos", "neg")


def coin_tosses(n: int, rng: np.random.Generator, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of d standard normal features with random classes 1 and 2.

    For the capacity of linear classifiers (section 4.6): fewer than 2 d points can nearly always be separated
    by a hyperplane.
    """
    return rng.standard_normal((n, d)), rng.integers(1, 3, size=n)


def _booleans(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(0, 2, size=(n, d)).astype(np.float64)


def covariate_shift(n: int, rng: np.random.Generator, d: int = 2, shift: float = 1.0):
    """Return X (n, d) and classes 1 and 2 of a unit Gaussian whose first feature has the mean ``shift``.

    Class 2 where x2 + exp(x1 - 1) e > 0 with e ~ N(0, 1): the larger x1, the harder the example. The
    distribution of the class given the features does not depend on ``shift``.
    """
    X = rng.standard_normal((n, d))
    X[:, 0] += shift
    noise = np.exp(X[:, 0] - 1.0) * rng.standard_normal(n)
    return X, (X[:, 1] + noise > 0).astype(np.int64) + 1


def covariate_shift_bayes_error(d: int = 2, shift: float = 1.0) -> float:
    """Return the mean of arctan(exp(x1 - 1)) / pi over x1 ~ N(shift, 1), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    values = np.arctan(np.exp(nodes + shift - 1.0)) / math.pi
    return float(weights @ values / weights.sum())
