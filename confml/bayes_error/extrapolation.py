"""Extrapolation of k-NN error estimates to infinitely many rows."""

from dataclasses import dataclass

import numpy as np

from confml.bayes_error._kernels_lists import vote_values
from confml.bayes_error.neighbour_errors import check_neighbours, lower_bound, middle, sampling_interval
from confml.bayes_error.neighbour_lists import neighbour_lists
from confml.bayes_error.shared_trees import check_problem
from confml.errors import ConfigError, DataError

NEIGHBOURS = 10
"""Default of k."""
RATIO = 2**0.5
"""Ratio of the sizes of successive subsamples."""
MOST_SIZES = 9
FEWEST_SIZES = 4
FEWEST_ROWS = 5
"""Smallest subsample, in multiples of k + 1."""
EXPONENTS = np.geomspace(0.1, 1.0, 19)
"""Exponents b of the curves r + a n^-b that are tried."""
RESAMPLES = 400


@dataclass(frozen=True)
class Subsamples:
    """Neighbour lists of disjoint random subsamples of several sizes; they do not depend on labels.

    sizes (S,): rows of a subsample, largest first, the first being all rows; rows: for each size the rows of
    all its subsamples (m,); lists: for each size their neighbours (m, k), as row numbers of the whole set.
    """

    sizes: np.ndarray
    rows: tuple[np.ndarray, ...]
    lists: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Extrapolation:
    """Estimates of k-NN by number of rows, and their limit.

    k: number of neighbours; sizes, error, vote_risk (S,): the means over subsamples of each size; curve
    (S,): fitted `middle` of error and vote_risk; estimate: its limit for infinitely many rows; low, high:
    interval at `level`, see `extrapolate`; exponent: b of the fitted r + a n^-b.
    """

    k: int
    sizes: np.ndarray
    error: np.ndarray
    vote_risk: np.ndarray
    curve: np.ndarray
    estimate: float
    low: float
    high: float
    exponent: float
    level: float


def extrapolate(X, y, rng, *, k: int = NEIGHBOURS, level: float = 0.95) -> Extrapolation:
    """Return k-NN estimates of the Bayes error extrapolated to infinitely many rows.

    X (n, d), y (n,): as for `neighbour_errors`; rng: random generator of the subsamples. For sizes n, n /
    sqrt(2), n / 2, ..., the rows are divided into random subsamples, and every row is classified by the other
    rows of its subsample. Their `middle` m(s) is fitted by r + a s^-b with 0 <= r, 0 <= a and
    0.1 <= b <= 1, by least squares: the bias of nearest neighbours at a distance falls as a power of the
    number of rows (Snapp and Xu 1995). The estimate is r. Its interval has the quantiles of r over random
    weights of the rows, extended to the lower bound and to m(n) of all n rows, with their sampling error: the
    fitted curve is flat or steep by chance. The interval does not cover curves that are no such power at
    these sizes, as for many features. Raises ConfigError for a wrong level.
    """
    check_neighbours(k)
    if not 0 < level < 1:
        raise ConfigError(f"level: expected a number between 0 and 1, got {level!r}")
    X, classes, codes = check_problem(X, y, 1)
    return limit_of(subsamples(X, k, rng), codes, classes.size, rng, level)


def subsamples(
    X: np.ndarray, k: int, rng: np.random.Generator, lists: np.ndarray | None = None
) -> Subsamples:
    """Return the neighbour lists of subsamples of X (n, d); lists (n, >= k): those of all rows, if known.

    Raises DataError for too few rows.
    """
    n = len(X)
    smallest = FEWEST_ROWS * (k + 1)
    sizes = np.unique((n / RATIO ** np.arange(MOST_SIZES)).astype(np.int64))[::-1]
    sizes = sizes[sizes >= smallest]
    if sizes.size < FEWEST_SIZES:
        least = int(np.ceil(smallest * RATIO ** (FEWEST_SIZES - 1)))
        raise DataError(f"expected at least {least} rows to extrapolate with k = {k}, got {n}")
    every = neighbour_lists(X, k) if lists is None else lists[:, :k]
    rows, found = [np.arange(n)], [np.ascontiguousarray(every)]
    for size in sizes[1:].tolist():
        parts = np.sort(rng.permutation(n)[: n // size * size].reshape(-1, size), axis=1)
        rows.append(parts.reshape(-1))
        found.append(np.concatenate([part[neighbour_lists(X[part], k)] for part in parts]))
    return Subsamples(sizes, tuple(rows), tuple(found))


def limit_of(
    parts: Subsamples, codes: np.ndarray, n_classes: int, rng: np.random.Generator, level: float
) -> Extrapolation:
    """Return the extrapolation for class codes (n,)."""
    n, count = codes.size, parts.sizes.size
    error, risk = np.full((2, count, n), np.nan)
    for place, (rows, lists) in enumerate(zip(parts.rows, parts.lists, strict=True)):
        error[place, rows], risk[place, rows] = _values(lists, rows, codes, n_classes)
    seen = ~np.isnan(error)
    most = 1 - np.bincount(codes).max() / n
    sums = np.vstack([np.where(seen, error, 0.0), np.where(seen, risk, 0.0), seen])

    def means(weights):
        of_error, of_risk, rows = (sums @ weights).reshape(3, count)
        return of_error / rows, of_risk / rows

    error, risk = means(np.ones(n))
    (limit,), (slope,), (exponent,) = fit_curves(parts.sizes, middle(error, risk)[None, :])
    drawn = np.stack([middle(*means(rng.exponential(size=n))) for _ in range(RESAMPLES)])
    limits = np.minimum(fit_curves(parts.sizes, drawn)[0], most)
    low, high = np.quantile(limits, [0.5 - level / 2, 0.5 + level / 2])
    k = parts.lists[0].shape[1]
    bound = min(float(risk[0]), lower_bound(float(error[0]), k, n_classes))
    low = min(low, sampling_interval(bound, n, level)[0])
    high = max(high, sampling_interval(middle(error[0], risk[0]), n, level)[1])
    return Extrapolation(
        k=k,
        sizes=parts.sizes,
        error=error,
        vote_risk=risk,
        curve=limit + slope * parts.sizes ** -float(exponent),
        estimate=float(min(limit, most)),
        low=float(low),
        high=float(min(high, most)),
        exponent=float(exponent),
        level=level,
    )


def _values(lists: np.ndarray, rows: np.ndarray, codes: np.ndarray, n_classes: int):
    """Return error and vote risk of each of the rows (m,) by its neighbours (m, k)."""
    # a row of the kernel is a place of the list, so the labels are listed by place, followed by all rows
    return vote_values(lists + rows.size, np.concatenate([codes[rows], codes]), n_classes)


def fit_curves(sizes: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return r, a and b (B,) of r + a sizes^-b, 0 <= r, 0 <= a, least squares to each row of means (B, S).

    b is the one of `EXPONENTS` with the smallest sum of squares, the larger for ties.
    """
    best = np.full(len(means), np.inf)
    r, a, b = np.zeros((3, len(means)))
    centre = means.mean(axis=1)
    spread = means - centre[:, None]
    for exponent in EXPONENTS[::-1]:
        x = (sizes / sizes[0]) ** -exponent
        apart = x - x.mean()
        slope = np.maximum(spread @ apart / (apart @ apart), 0.0)
        limit = centre - slope * x.mean()
        below = limit < 0
        slope = np.where(below, np.maximum(means @ x / (x @ x), 0.0), slope)
        limit = np.where(below, 0.0, limit)
        rest = np.sum((means - limit[:, None] - slope[:, None] * x) ** 2, axis=1)
        better = rest < best
        best[better], r[better], a[better] = rest[better], limit[better], slope[better]
        b[better] = exponent
    return r, a * sizes[0] ** b, b
