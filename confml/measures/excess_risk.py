"""Excess risk of the target coverage (ERT): a test whether the coverage given the features is 1 - level.

Source: Braun et al. 2025. A classifier predicts from the features whether a region contains the true label.
If it predicts better than the constant 1 - level, the coverage given the features is not 1 - level: it
depends on them, or it is another constant, as on one split with few calibration examples.
"""

import math
from typing import NamedTuple

import numpy as np

FOLDS = 5
ROUNDS, DEPTH = 30, 2
_QUANTILE = 1.959963984540054  # of the normal distribution, at 0.975


class ExcessRisk(NamedTuple):
    """Mean over the test rows, and the normal 95 % interval of its expectation.

    In expectation it is at most the mean distance (l1), or squared distance (brier), of the coverage given
    the features from 1 - level. An interval above 0 is evidence that the coverage given the features is
    not 1 - level; any other interval is evidence of nothing. If it is 1 - level everywhere, about 5 % of the
    intervals of l1 are above 0, because h learns a coverage that is too large or too small by chance.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, terms: np.ndarray) -> "ExcessRisk":
        mean = float(terms.mean())
        error = float(terms.std(ddof=1)) / math.sqrt(len(terms)) if len(terms) > 1 else math.inf
        return cls(mean, mean - _QUANTILE * error, mean + _QUANTILE * error)


def excess_risks(
    X: np.ndarray, covered: np.ndarray, level: float, seed: int = 0
) -> tuple[ExcessRisk, ExcessRisk] | None:
    """Return the excess risks (l1, brier) of test rows X (n, d); None with fewer than 10 rows.

    covered: (n,) bool, whether the region of each row contains its label. With z = covered and h the
    predicted probability of z by a classifier fitted to the other four of five folds, l1 is the mean of
    ``sign(1 - level - h) (1 - level - z)`` and brier the mean of ``(1 - level - z)^2 - (h - z)^2``. The
    classifier is gradient boosting with trees of depth 2 and 30 rounds; X may have missing values.
    """
    if len(X) < 2 * FOLDS:
        return None
    z = covered.astype(np.float64)
    h = predicted_coverage(X, covered, seed)
    target = 1 - level
    l1 = np.sign(target - h) * (target - z)
    brier = (target - z) ** 2 - (h - z) ** 2
    return ExcessRisk.of(l1), ExcessRisk.of(brier)


def predicted_coverage(X: np.ndarray, covered: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return (n,) the probability that each row is covered, by a classifier fitted to the other folds."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    folds = np.random.default_rng(seed).permutation(np.arange(len(X)) % FOLDS)
    h = np.empty(len(X))
    for fold in range(FOLDS):
        test = folds == fold
        known = covered[~test]
        if known.all() or not known.any():  # the classifier needs two classes
            h[test] = float(known[0])
            continue
        model = HistGradientBoostingClassifier(
            max_depth=DEPTH, max_iter=ROUNDS, early_stopping=False, random_state=seed
        )
        h[test] = model.fit(X[~test], known).predict_proba(X[test])[:, 1]
    return h
