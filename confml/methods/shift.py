"""Weights of training examples for test examples of another distribution.

Covariate shift: the distribution of the features changes, and that of the label given the features does not.
An example with features x has the weight (test density of x) / (training density of x), up to a factor.
Label shift: the frequencies of the classes change, and the distribution of the features given the class does
not. An example has the weight (test frequency) / (training frequency) of its class.

Sources: Tibshirani, Barber, Candes, Ramdas, Conformal Prediction under Covariate Shift, 2019; Lipton, Wang,
Smola, Detecting and Correcting for Label Shift with Black Box Predictors, 2018 (BBSE).
"""

import math
from dataclasses import dataclass

import numpy as np

from confml._seeds import stable_generator
from confml._threads import limits_blas
from confml.errors import ConfmlError
from confml.measures.metric import Metric
from confml.measures.ranks import mid_ranks

COVARIATE, LABEL = "covariate", "label"
LOW, HIGH = 0.01, 0.99  # probabilities of a test example are clipped to this range
FOLDS = 5
SHIFT_METRICS = {
    "shift_auc": Metric(
        "area under the ROC curve of the classifier that separates test and training examples by features:"
        " 0.5 without shift; above 0.95 there is hardly any overlap",
        None,
    ),
    "shift_effective_rows": Metric(
        "effective sample size of the weighted examples that p-values are computed from",
        None,
        "(sum w)^2 / sum w^2",
        "Kish 1965",
    ),
    "shift_weighted_rows": Metric("number of the examples that are weighted", None),
    "shift_largest_share": Metric("largest weight of an example as a fraction of all weights", None),
    "shift_clipped": Metric("fraction of examples whose weight is clipped to [1/99, 99]", None),
    "shift_singular_value": Metric(
        "smallest singular value of the confusion matrix that gives the class weights; below 1/sqrt(n) for n "
        "calibration examples the weights are hardly determined, and 0 means that they are not",
        None,
    ),
}


@dataclass(frozen=True, eq=False)
class ShiftWeights:
    """Whole numbers in proportion to the weights, so that their sums are exact in any order.

    weights: (m,) of the weighted examples. new: (n, 1) of the test examples, or (1, c) for each label that a
    test example may have. metrics: by the names of `SHIFT_METRICS`.
    """

    weights: np.ndarray
    new: np.ndarray
    metrics: dict[str, float]

    @classmethod
    def of(cls, weights: np.ndarray, new: np.ndarray, metrics: dict[str, float]) -> "ShiftWeights":
        """Return positive weights as whole numbers with a total below 2^53."""
        total = float(weights.sum() + new.max(initial=0.0))
        unit = 2.0 ** math.floor(52 - math.log2(max(total, 1e-300)))
        share = float(weights.max(initial=0.0)) / float(weights.sum()) if len(weights) else math.nan
        squares = float((weights**2).sum())
        sizes = {
            "shift_effective_rows": float(weights.sum()) ** 2 / squares if squares else 0.0,
            "shift_weighted_rows": float(len(weights)),
            "shift_largest_share": share,
        }
        whole, whole_new = (np.maximum(np.rint(part * unit), 1.0).astype(np.int64) for part in (weights, new))
        return cls(whole, whole_new, {**sizes, **metrics})


def covariate_weights(X: np.ndarray, T: np.ndarray, rows: np.ndarray) -> ShiftWeights:
    """Return the weights of the training examples ``rows`` of X (m, d) and of the test examples T (n, d).

    The probability q that an example is of the test part is estimated by logistic regression on standardised
    features, by cross-validation with five folds, so that no example has the weight of a fit that has seen
    it. Both parts have the same total weight in the fit, and q is clipped to [0.01, 0.99]; the weight is
    q / (1 - q). Missing values are replaced by the mean and marked by a further feature. Raises ConfmlError
    for fewer than five examples.
    """
    if len(T) < FOLDS or len(X) < FOLDS:
        raise ConfmlError(
            f"shift: covariate needs at least {FOLDS} training and test examples, got {len(X)} and {len(T)}",
            hint="remove shift, or predict more examples together",
        )
    q = _test_probabilities(np.concatenate([X, T]), len(X))
    ranks = mid_ranks(q)
    m, n = len(X), len(T)
    metrics = {
        "shift_auc": float((ranks[m:].sum() - n * (n + 1) / 2) / (m * n)),
        "shift_clipped": float(np.mean((q <= LOW) | (q >= HIGH))),
    }
    w = np.clip(q, LOW, HIGH)
    w = w / (1.0 - w)
    return ShiftWeights.of(w[rows], w[m:, None], metrics)


@limits_blas
def _test_probabilities(Z: np.ndarray, m: int) -> np.ndarray:
    """Return (m + n,) the out-of-fold probability of each row of Z to be of the test part, rows m and on."""
    from sklearn.linear_model import LogisticRegression

    missing = np.isnan(Z)
    Z = np.concatenate([np.where(missing, np.nan, Z), missing[:, missing.any(axis=0)]], axis=1)
    codes = (np.arange(len(Z)) >= m).astype(np.int64)
    folds = np.empty(len(Z), dtype=np.int64)
    rng = stable_generator("shift", m, len(Z) - m)  # the same folds for every method
    for part in (slice(0, m), slice(m, None)):  # stratified: every fold has rows of both parts
        size = len(folds[part])
        folds[part] = rng.permutation(np.arange(size) % FOLDS)
    q = np.empty(len(Z))
    for fold in range(FOLDS):
        test = folds == fold
        mean = np.nanmean(np.where(np.isfinite(Z), Z, np.nan)[~test], axis=0)
        spread = np.nanstd(Z[~test], axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            S = (Z - mean) / np.where(spread > 0, spread, 1.0)
        S = np.nan_to_num(np.where(spread > 0, S, 0.0))
        model = LogisticRegression(class_weight="balanced", max_iter=1000)
        q[test] = model.fit(S[~test], codes[~test]).predict_proba(S[test])[:, 1]
    return q


def label_weights(
    predicted: np.ndarray, codes: np.ndarray, predicted_test: np.ndarray, classes: int
) -> ShiftWeights:
    """Return the weights of calibration examples and of each label by black box shift estimation (BBSE).

    predicted, codes (m,): predicted and true classes of the calibration examples, from 0; predicted_test
    (n,): predicted classes of the test examples. Solves C w = mu, where C[i, j] is the fraction of
    calibration examples of class j that are predicted as i, and mu_i the fraction of test examples predicted
    as i. Negative weights become the smallest positive number; classes without calibration examples have
    weight 1. All weights are 1 if C is singular.
    """
    w, smallest = bbse(predicted, codes, predicted_test, classes)
    return ShiftWeights.of(w[codes], w[None, :], {"shift_singular_value": smallest})


def bbse(
    predicted: np.ndarray, codes: np.ndarray, predicted_test: np.ndarray, classes: int
) -> tuple[np.ndarray, float]:
    """Return the class weights (c,) of `label_weights`, and the smallest singular value of C (or 0)."""
    present = np.flatnonzero(np.bincount(codes, minlength=classes))
    C = np.zeros((classes, classes))
    np.add.at(C, (predicted, codes), 1.0 / max(len(codes), 1))
    C = C[np.ix_(present, present)]
    mu = np.bincount(predicted_test, minlength=classes)[present] / max(len(predicted_test), 1)
    smallest = float(np.linalg.svd(C, compute_uv=False)[-1]) if len(present) else 0.0
    w = np.ones(classes)
    if smallest > 1e-12:
        solved = np.maximum(np.linalg.solve(C, mu), 0.0)
        prior = np.bincount(codes, minlength=classes)[present] / len(codes)
        w[present] = np.maximum(solved / max(float(solved @ prior), 1e-300), 1e-9)
    else:
        smallest = 0.0
    return w, smallest
