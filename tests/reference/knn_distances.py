"""k-NN by its distances and with a teacher's votes, one pair of rows at a time."""

import math

import numpy as np


def euclidean(X, row):
    """Distances of a row to each row of X: roots of squared differences added in attribute order, in units of
    a power of two near the largest difference, so that no square overflows and none that matters vanishes."""
    differences = [[float(a) - float(b) for a, b in zip(x, row, strict=True)] for x in X]
    exponent = math.frexp(max(abs(difference) for of_row in differences for difference in of_row))[1]
    distances = []
    for of_row in differences:
        total = 0.0
        for difference in of_row:
            scaled = math.ldexp(difference, -exponent)
            total += scaled * scaled
        distances.append(math.sqrt(total))
    return distances


def minkowski(x, z, power, nominal=()):
    """(sum |x_i - z_i|^power)^(1/power); a nominal column adds 0 or 1, and with no other columns the
    distance is the number of those that differ."""
    differing = sum(x[i] != z[i] for i in nominal)
    if len(nominal) == len(x):
        return float(differing)
    numbers = [abs(float(x[i]) - float(z[i])) for i in range(len(x)) if i not in nominal]
    largest = max([*numbers, 1.0 if differing else 0.0])
    if power == math.inf or largest == 0.0:
        return largest
    total = float(differing)
    try:
        for number in numbers:
            total += number**power
    except OverflowError:
        total = math.inf
    if power == 1.0:
        return total
    if 1e-290 < total < math.inf:
        return total ** (1.0 / power)
    total = differing * (1.0 / largest) ** power if differing else 0.0
    for number in numbers:
        total += (number / largest) ** power
    return largest * total ** (1.0 / power)


def mahalanobis(X):
    """A function of two rows: sqrt((x - z)^T S^+ (x - z)) with the covariance S of X (m, d)."""
    X = np.asarray(X, dtype=float)
    spread = X.std(axis=0)
    spread[(X == X[0]).all(axis=0)] = np.inf  # such columns are left out
    standard = X / np.where(spread > 0, spread, 1.0)
    inverse = np.linalg.pinv(np.atleast_2d(np.cov(standard, rowvar=False)), rcond=1e-10, hermitian=True)

    def distance(x, z):
        difference = (np.asarray(x) - np.asarray(z)) / spread
        return math.sqrt(max(float(difference @ inverse @ difference), 0.0))

    return distance


def direction(x):
    """x divided by its length, after a multiplication by a power of two, to 40 bits; None for zeros."""
    largest = max(abs(float(a)) for a in x)
    if largest == 0.0:
        return None
    scaled = [math.ldexp(float(a), -math.floor(math.log2(largest))) for a in x]
    total = 0.0
    for a in scaled:
        total += a * a
    return [round(a / math.sqrt(total) * 2.0**40) / 2.0**40 for a in scaled]


def polar(x, z):
    """The angle between two rows."""
    u, v = direction(x), direction(z)
    if u is None or v is None:
        return 0.0 if u is v else 2.0 * math.asin(0.5 * math.sqrt(2.0))
    total = 0.0
    for a, b in zip(u, v, strict=True):
        total += (a - b) * (a - b)
    return 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(total)))


def vote(distances, y, k, classes, taught=None, weight=1.0):
    """(shares by class, label) from the distances (m,) of one test row to the rows with labels y.

    taught: whether each training row is one of a teacher, which has ``weight`` votes. Rows at the k-th
    distance share the places left. Sums of distances that differ by their rounding only decide between equal
    votes, so they are added as the kernel adds them: from the nearest row on, a teacher's rows apart.
    """
    taught = [False] * len(y) if taught is None else taught
    k = min(k, len(y))
    last = sorted(distances)[k - 1]
    nearer = [i for i, distance in enumerate(distances) if distance < last]
    nearer.sort(key=lambda i: distances[i])
    at_last = [i for i, distance in enumerate(distances) if distance == last]
    left = k - len(nearer)
    ranked = []
    for rank, label in enumerate(classes):
        votes, far = 0.0, 0.0
        for part, share in ((False, 1.0), (True, weight)):
            near = [i for i in nearer if y[i] == label and bool(taught[i]) == part]
            tied = [i for i in at_last if y[i] == label and bool(taught[i]) == part]
            votes += share * (len(at_last) * len(near) + left * len(tied))
            length = 0.0
            for i in near:  # sum() rounds otherwise
                length += distances[i]
            length *= len(at_last)
            if tied:
                length += len(tied) * left * last
            far += share * length if length > 0 else 0.0
        ranked.append((-votes, far, rank))
    total = sum(votes for votes, _, _ in ranked)
    return [votes / total for votes, _, _ in ranked], classes[min(ranked)[2]]


def assert_votes(view, X, y, X_test, k, distances_to, *teacher, rtol=1e-13):
    """Compare votes and labels with those of ``distances_to`` each test row. teacher: as in `vote`."""
    for i, row in enumerate(X_test.tolist()):
        shares, label = vote(distances_to(row), y.tolist(), k, view.classes.tolist(), *teacher)
        np.testing.assert_allclose(view.scores[i], shares, rtol=rtol, atol=0)
        assert view.labels[i] == label
