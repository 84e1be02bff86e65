"""Noise series: estimates under label noise that raises the Bayes error by a known amount (FeeBee)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from confml._seeds import derived_generator
from confml.bayes_error.estimates import bayes_error_from_crossings, bounds_of_share
from confml.bayes_error.extrapolation import NEIGHBOURS as EXTRAPOLATED
from confml.bayes_error.extrapolation import Subsamples, limit_of, subsamples
from confml.bayes_error.neighbour_errors import NEIGHBOURS, check_neighbours, errors_of_lists, lower_bound
from confml.bayes_error.neighbour_lists import neighbour_lists
from confml.bayes_error.shared_trees import WholeTrees, check_problem, edges_between, spanning_trees
from confml.errors import ConfigError

ABOUT: Mapping[str, str] = {
    "pair-trees": "Henze-Penrose estimate from spanning trees, two classes (van den Burg and Hero 2017)",
    "global-tree": "edges between classes of one spanning tree (Sekeh, Oselio and Hero 2020)",
    "1-nn": "leave-one-out error of 1-NN with the bound of Cover and Hart (1967)",
    "k-nn": "leave-one-out error and vote risk of k-NN, smallest error of all k (Devijver 1985)",
    "k-nn-limit": "the same for a fixed k, extrapolated to infinitely many rows",
}
"""Estimators of the Bayes error of all classes that need features and labels, by name."""
MEASURED_LEVEL = 0.95
"""Confidence level of `INTERVALS`."""
INTERVALS: Mapping[str, tuple[float, float]] = {
    "k-nn": (0.97, 0.99),
    "k-nn-limit": (0.98, 1.0),
    "soft-labels": (0.93, 0.96),
    "annotators": (1.0, 1.0),
}
"""Smallest and largest share of simulated data sets whose 95 % interval contains the Bayes error.

Two Gaussians 2 and 4 standard deviations apart, 2 and 10 features, 1000 rows: ``make validity``.
"""
BOUNDS: Mapping[str, tuple[float, float]] = {
    "global-tree": (0.47, 0.99),
    "1-nn": (0.43, 0.99),
    "k-nn": (0.31, 0.68),
}
"""The same for lower and upper bound, which have no sampling error."""


@dataclass(frozen=True)
class Bounds:
    """Estimate of the Bayes error of all classes, with the estimator's lower and upper bound, of "k-nn-limit"
    the ends of its 95 % interval."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True)
class NoiseSeries:
    """Estimates under label noise, and the range in which the Bayes error must be.

    rates (R,): noise rates; known_low, known_high (R,): smallest and largest possible Bayes error; estimate,
    lower, upper: by name of the estimator, each (R, repeats); best_error, true_error: as given.
    """

    rates: np.ndarray
    known_low: np.ndarray
    known_high: np.ndarray
    estimate: Mapping[str, np.ndarray]
    lower: Mapping[str, np.ndarray]
    upper: Mapping[str, np.ndarray]
    best_error: float
    true_error: float | None

    def area(self, name: str, value: str = "estimate") -> float:
        """Return the mean distance of "estimate", "lower" or "upper" to the known range over the rates.

        It is the area outside the range, divided by the range of the rates (trapezoid rule), mean over the
        repeats; 0 is best.
        """
        found = getattr(self, value)[name]
        outside = np.maximum(found - self.known_high[:, None], 0) + np.maximum(
            self.known_low[:, None] - found, 0
        )
        mean = outside.mean(axis=1)
        if len(self.rates) == 1:
            return float(mean[0])
        return float(np.trapezoid(mean, self.rates) / (self.rates[-1] - self.rates[0]))


@dataclass(frozen=True)
class EstimatorSettings:
    """Parameters of the estimators of `ABOUT`.

    k: largest number of neighbours; trees: number of orthogonal trees of "pair-trees"; extrapolate: whether
    "k-nn-limit" is computed.
    """

    k: int = NEIGHBOURS
    trees: int = 3
    extrapolate: bool = False


class FixedRows:
    """Spanning trees and neighbour lists of rows, for estimates with any labels of these rows.

    X (n, d), finite; k: largest number of neighbours; trees: number of orthogonal trees of "pair-trees";
    rng: generator of the subsamples of "k-nn-limit", None to leave it out.
    """

    def __init__(self, X: np.ndarray, k: int, trees: int, rng: np.random.Generator | None = None):
        self.rows = len(X)
        whole = spanning_trees(X, trees)
        self.whole = _spanning(whole, self.rows)
        most = min(max(k, EXTRAPOLATED if rng is not None else 1), self.rows - 1)
        lists = neighbour_lists(X, most)
        self.lists = np.ascontiguousarray(lists[:, : min(k, self.rows - 1)])
        self.parts: Subsamples | None = None
        if rng is not None:
            self.parts = subsamples(X, min(EXTRAPOLATED, most), rng, lists)

    def bounds(
        self, codes: np.ndarray, n_classes: int, rng: np.random.Generator | None = None
    ) -> dict[str, Bounds]:
        """Return the estimates of `ABOUT` for class codes (n,); rng: generator of intervals, not of
        estimates."""
        counts = np.bincount(codes, minlength=n_classes)
        trees = int(self.whole.tree.max()) + 1
        ends = codes[self.whole.u], codes[self.whole.v]
        between = np.triu(edges_between(self.whole.tree, *ends, trees, n_classes), 1).sum(axis=(1, 2))
        estimates = {}
        if n_classes == 2:
            values = bayes_error_from_crossings(between.mean(), *counts, normalise=False)
            estimates["pair-trees"] = Bounds(*(float(value) for value in values))
        lower, upper = bounds_of_share(between[0] / self.rows, counts)
        estimates["global-tree"] = Bounds((lower + upper) / 2, lower, upper)
        near = errors_of_lists(self.lists, codes, n_classes)
        first = float(near.error[0])
        low = lower_bound(first, 1, n_classes)
        estimates["1-nn"] = Bounds(min((first + low) / 2, near.most), low, first)
        estimates["k-nn"] = Bounds(*near.bounds)
        if self.parts is not None:
            limit = limit_of(self.parts, codes, n_classes, rng or np.random.default_rng(0), 0.95)
            estimates["k-nn-limit"] = Bounds(limit.estimate, limit.low, limit.high)
        return estimates


def noise_series(
    X,
    y,
    rates: Sequence[float],
    rng: np.random.Generator,
    settings: EstimatorSettings = EstimatorSettings(),
    *,
    repeats: int = 5,
    best_error: float | None = None,
    true_error: float | None = None,
) -> NoiseSeries:
    """Return estimates of the Bayes error of all classes under label noise (Renggli et al. 2021).

    With noise rate r, each label is replaced with probability r by a class drawn uniformly from all K
    classes. Then p_r(j | x) = (1 - r) p(j | x) + r / K, which has its maximum at the same class, and the
    Bayes error R becomes R_r = R + r (1 - 1/K - R). In one repeat, a row that is changed at one rate is
    changed to the same class at every larger rate.

    R is between 0 and ``best_error``, so R_r is between r (1 - 1/K) and best_error + r (1 - 1/K -
    best_error). With ``true_error`` both are R_r. best_error: error of the best known classifier; the
    smallest leave-one-out k-NN error of these rows if None, a range that favours "k-nn". Trees and neighbours
    are computed once, as they do not depend on the labels. Estimators: see `ABOUT`. Raises
    ConfigError for rates or errors outside their range.
    """
    check_neighbours(settings.k)
    if not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ConfigError(f"repeats: expected a whole number of at least 1, got {repeats!r}")
    for name, value in (("best_error", best_error), ("true_error", true_error)):
        if value is not None and not 0 <= value <= 1:
            raise ConfigError(f"{name}: expected a number from 0 to 1, got {value!r}")
    levels = np.unique(np.asarray(rates, dtype=float))
    if levels.size == 0 or not ((levels >= 0) & (levels <= 1)).all():
        raise ConfigError(f"rates: expected noise rates from 0 to 1, got {list(rates)!r}")
    X, classes, codes = check_problem(X, y, settings.trees)
    part_rng = derived_generator(rng, "subsamples") if settings.extrapolate else None
    fixed = FixedRows(X, settings.k, settings.trees, part_rng)
    found: dict[str, list[list[Bounds]]] = {}
    for place, rate in enumerate(levels.tolist()):
        for repeat in range(repeats):
            drawn = derived_generator(rng, "noise", repeat)
            changed = drawn.random(codes.size) < rate
            noisy = np.where(changed, drawn.integers(classes.size, size=codes.size), codes)
            for name, bounds in fixed.bounds(noisy, classes.size).items():
                found.setdefault(name, [[] for _ in levels])[place].append(bounds)
    if best_error is None:
        best_error = float(errors_of_lists(fixed.lists, codes, classes.size).error.min())
    low, high = (0.0, best_error) if true_error is None else (true_error, true_error)
    largest = 1 - 1 / classes.size

    def values(field: str) -> dict[str, np.ndarray]:
        return {
            name: np.array([[getattr(one, field) for one in row] for row in rows])
            for name, rows in found.items()
        }

    return NoiseSeries(
        rates=levels,
        known_low=raised_error(low, levels, classes.size),
        known_high=raised_error(min(high, largest), levels, classes.size),
        estimate=values("estimate"),
        lower=values("lower"),
        upper=values("upper"),
        best_error=best_error,
        true_error=true_error,
    )


def raised_error(error: float, rates, n_classes: int) -> np.ndarray:
    """Return R + r (1 - 1/K - R), the Bayes error after label noise with rates r, for R = error without."""
    return error + np.asarray(rates, dtype=float) * (1 - 1 / n_classes - error)


def _spanning(whole: WholeTrees, rows: int) -> WholeTrees:
    """Return the trees that span all rows, without the forests after them."""
    sizes = np.bincount(whole.tree)
    count = int(np.argmax(np.append(sizes != rows - 1, True)))
    kept = whole.tree < count
    return WholeTrees(whole.u[kept], whole.v[kept], whole.distance[kept], whole.tree[kept])
