"""Distributions of synthetic data: concepts, data with a shifted test part, and many classes.

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


def at_least_probability(X: np.ndarray, d: int = 5, k: int = 3, irrelevant: int = 0) -> np.ndarray:
    """Return (n, 2) true probabilities of ``neg`` and ``pos``: 0 or 1."""
    return _certain(np.asarray(X)[:, :d].sum(axis=1) >= k)


def counted(n: int, rng: np.random.Generator, irrelevant: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples of six boolean features: C1 if five or six are 1, C2 three or four, C3 two, C4 one.

    Assignment 8 of chapter 4, which defines no class for an example of zeros; none is drawn.
    """
    relevant, rest = rng.spawn(2)
    codes = relevant.integers(1, 2**6, size=n)
    X = (codes[:, None] >> np.arange(6) & 1).astype(np.float64)
    return np.hstack([X, _booleans(rest, n, irrelevant)]), _counted_class(X)


def counted_probability(X: np.ndarray, irrelevant: int = 0) -> np.ndarray:
    """Return (n, 4) true probabilities of C1 to C4: 0 or 1."""
    return (_counted_class(np.asarray(X)[:, :6])[:, None] == ["C1", "C2", "C3", "C4"]).astype(np.float64)


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


def half_cube_probability(
    X: np.ndarray, d: int = 3, threshold: float = 1.0, irrelevant: int = 0
) -> np.ndarray:
    """Return (n, 2) true probabilities of ``neg`` and ``pos``: 0 or 1."""
    return _certain(np.asarray(X)[:, :d].sum(axis=1) > threshold)


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


def arcs_probability(X: np.ndarray, classes: int = 4, irrelevant: int = 0) -> np.ndarray:
    """Return (n, classes) true probabilities: 0 or 1; points off the circle by their direction."""
    x, y = np.asarray(X)[:, 0] - 0.5, np.asarray(X)[:, 1] - 0.5
    arc = np.floor(np.arctan2(y, x) / (2 * np.pi) % 1 * classes).astype(np.int64)
    return np.eye(classes)[np.minimum(arc, classes - 1)]


def taught_circle(
    n: int, rng: np.random.Generator, taught: float = 1.0, noise: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Return n points, uniform in the unit square: X (n, 3), ``pos`` inside a circle and ``neg`` outside.

    The third feature is 1 for the fraction ``taught`` of the examples, which a teacher has labelled, and 0
    for those of a database, whose labels are wrong with probability ``noise`` (Kubat, section 3.9).
    """
    X = np.column_stack([rng.random((n, 2)), rng.random(n) < taught])
    wrong = (rng.random(n) < noise) & (X[:, 2] == 0)
    return X, np.where(_in_circle(X) != wrong, "pos", "neg")


def taught_circle_probability(X: np.ndarray, taught: float = 1.0, noise: float = 0.3) -> np.ndarray:
    """Return (n, 2) true probabilities of ``neg`` and ``pos``."""
    X = np.asarray(X, dtype=np.float64)
    wrong = np.where(X[:, 2] == 0, noise, 0.0)
    inside = np.where(_in_circle(X), 1.0 - wrong, wrong)
    return np.column_stack([1.0 - inside, inside])


def _in_circle(X: np.ndarray) -> np.ndarray:
    return (X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2 <= 0.4 / np.pi


# Computer assignment 1 of chapter 4: four features; the first three examples are positive.
_SIX = ((1, 1, 1, 0), (0, 0, 0, 0), (1, 1, 0, 1), (1, 1, 0, 0), (0, 1, 0, 1), (0, 0, 0, 1))


def six_examples(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return n draws from six examples, three ``pos`` and three ``neg``, that no line separates."""
    rows = rng.integers(0, 6, size=n)
    return np.array(_SIX, dtype=np.float64)[rows], np.where(rows < 3, "pos", "neg")


def six_examples_probability(X: np.ndarray) -> np.ndarray:
    """Return (n, 2) true probabilities of ``neg`` and ``pos``: 0 or 1; 1/2 for any other point."""
    same = (np.asarray(X)[:, None, :] == np.array(_SIX)).all(axis=2)
    is_example = same.any(axis=1, keepdims=True)
    return np.where(is_example, _certain(same[:, :3].any(axis=1)), 0.5)


def coin_tosses(n: int, rng: np.random.Generator, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return n points of d standard normal features with random classes 1 and 2.

    For the capacity of linear classifiers (section 4.6): fewer than 2 d points can nearly always be separated
    by a hyperplane.
    """
    return rng.standard_normal((n, d)), rng.integers(1, 3, size=n)


def coin_tosses_probability(X: np.ndarray, d: int = 10) -> np.ndarray:
    """Return (n, 2) true probabilities: 1/2 each."""
    return np.full((len(X), 2), 0.5)


def _booleans(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(0, 2, size=(n, d)).astype(np.float64)


def _counted_class(X: np.ndarray) -> np.ndarray:
    counts = X.sum(axis=1)
    return np.select([counts >= 5, counts >= 3, counts >= 2], ["C1", "C2", "C3"], "C4")


def _certain(positive: np.ndarray) -> np.ndarray:
    return np.column_stack([~positive, positive]).astype(np.float64)


def covariate_shift(n: int, rng: np.random.Generator, d: int = 2, shift: float = 1.0):
    """Return X (n, d) and classes 1 and 2 of a unit Gaussian whose first feature has the mean ``shift``.

    Class 2 where x2 + exp(x1 - 1) e > 0 with e ~ N(0, 1): the larger x1, the harder the example. The
    distribution of the class given the features does not depend on ``shift``.
    """
    X = rng.standard_normal((n, d))
    X[:, 0] += shift
    noise = np.exp(X[:, 0] - 1.0) * rng.standard_normal(n)
    return X, (X[:, 1] + noise > 0).astype(np.int64) + 1


def covariate_shift_probability(X: np.ndarray, d: int = 2, shift: float = 1.0) -> np.ndarray:
    """Return (n, 2) true probabilities of classes 1 and 2."""
    from scipy.special import ndtr

    X = np.asarray(X, dtype=np.float64)
    standard = X[:, 1] * np.exp(1.0 - X[:, 0])
    return np.column_stack([ndtr(-standard), ndtr(standard)])


def covariate_shift_bayes_error(d: int = 2, shift: float = 1.0) -> float:
    """Return the mean of arctan(exp(x1 - 1)) / pi over x1 ~ N(shift, 1), by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    values = np.arctan(np.exp(nodes + shift - 1.0)) / math.pi
    return float(weights @ values / weights.sum())


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
        of_line = min(LINE, classes - LINE * line)
        wrong += 2 * (of_line - 1) * float(ndtr(-SPACINGS[line % len(SPACINGS)] / 2))
    return wrong / classes


def _centres(classes: int) -> np.ndarray:
    """Return (classes, 3) centres."""
    code = np.arange(classes)
    line, position = code // LINE, code % LINE
    width = math.isqrt(int(line[-1])) + 1
    spacing = np.array(SPACINGS)[line % len(SPACINGS)]
    return np.column_stack([spacing * (position - 2), APART * (line % width), APART * (line // width)])
