"""Class frequencies of a test part without labels, under label shift, with intervals.

Sources: Saerens, Latinne, Decaestecker, Adjusting the Outputs of a Classifier to New a Priori Probabilities,
2002 (EM); Lipton, Wang, Smola, 2018 (BBSE, in `confml.methods.shift`).
"""

from typing import NamedTuple

import numpy as np

from confml.methods.shift import ShiftWeights, bbse

TOLERANCE, ROUNDS = 1e-12, 20_000
NORMAL = 1.959964  # 97.5 % quantile of the normal distribution
SINGULAR = 1e-9  # smallest singular value of a matrix that determines the frequencies
LEAST = 1e-9  # weight of a class whose estimated frequency is 0


class ClassShift(NamedTuple):
    """Frequencies (c,) of the classes: in training; estimated for the test part, with a 95 % interval."""

    training: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def rows(self, classes: np.ndarray) -> list[list]:
        """Return plain data: label, training, estimate, low, high of each class."""
        numbers = zip(*(values.tolist() for values in self), strict=True)
        return [[label, *row] for label, row in zip(classes.tolist(), numbers, strict=True)]


def em_frequencies(
    shares: np.ndarray,
    prior: np.ndarray,
    start: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
) -> tuple[np.ndarray, int]:
    """Return the class frequencies (c,) of the test part by EM, and the number of rounds.

    shares: (n, c) probabilities of the test examples by a classifier that was trained with the class
    frequencies ``prior`` (c,). Each round sets ``q_ij`` in proportion to ``shares_ij pi_j / prior_j`` and
    ``pi_j`` to the mean of q_ij, from ``start`` (the prior) to a change of at most ``tolerance``. rows: (n,)
    how often each example counts. Classes with prior 0 keep 0. It relies on calibrated probabilities.
    """
    ratio = np.divide(shares, prior, out=np.zeros_like(shares, dtype=np.float64), where=prior > 0)
    counted = np.ones(len(shares)) if rows is None else np.asarray(rows, dtype=np.float64)
    pi = prior if start is None else start
    done, change = 0, np.inf
    while change > tolerance and done < rounds:
        done += 1
        q = ratio * pi
        totals = q.sum(axis=1)
        known = totals > 0
        weights = np.divide(counted, totals, out=np.zeros(len(totals)), where=known)
        new = weights @ q / max(counted[known].sum(), 1.0)
        change = float(np.abs(new - pi).max())
        pi = new
    return pi, done


def em_weights(shares: np.ndarray, prior: np.ndarray, codes: np.ndarray) -> ShiftWeights:
    """Return the weights of calibration examples of classes ``codes`` (m,) and of each label, by EM.

    shares: (n, c) probabilities of the test examples. prior: (c,) class frequencies that the classifier was
    trained with.
    """
    estimate, rounds = em_frequencies(shares, prior)
    w = np.ones(len(prior))
    np.divide(estimate, prior, out=w, where=prior > 0)
    w = np.maximum(w, LEAST)
    return ShiftWeights.of(w[codes], w[None, :], {"shift_rounds": float(rounds)})


def em_intervals(
    shares: np.ndarray, prior: np.ndarray, calibration: np.ndarray, codes: np.ndarray
) -> ClassShift:
    """Return the class frequencies by EM; interval: with the error of the probabilities, from labelled rows.

    shares: (n, c) probabilities of the test examples. calibration: (m, c) those of labelled examples that the
    classifier was not fitted to, of classes ``codes`` (m,).

    Let q(x) be the posterior of EM at the estimate, and G[:, k] the mean of q over the calibration examples
    of class k. Under label shift the mean of q over test examples has expectation G theta for the true
    frequencies theta, for calibrated probabilities or not. The interval is theta = G^-1 (mean of q) +- 1.96
    standard errors, of the sampling of test and calibration examples, within [0, 1]; and it contains the
    estimate of EM. The error of the estimate that q is computed with has no effect of first order.
    """
    estimate, _ = em_frequencies(shares, prior)
    known = prior > 0
    if not known.all():  # classes without a training example have no estimate
        low, high = np.full(len(prior), np.nan), np.full(len(prior), np.nan)
        own = np.flatnonzero(known[codes])
        places = (np.cumsum(known) - 1)[codes[own]]
        found = em_intervals(shares[:, known], prior[known], calibration[own][:, known], places)
        low[known], high[known] = found.low, found.high
        return ClassShift(prior, estimate, low, high)
    pi = 0.99 * estimate + 0.01 * prior  # a frequency of 0 would hide the class
    test, labelled = _posterior(shares, prior, pi), _posterior(calibration, prior, pi)
    return ClassShift(prior, estimate, *_interval(test, labelled, codes, estimate))


def _interval(test: np.ndarray, labelled: np.ndarray, codes: np.ndarray, estimate: np.ndarray):
    """Return the ends (c,), (c,) of the interval of the class frequencies theta, which contains ``estimate``.

    test (n, c), labelled (m, c): numbers of the test examples, and of labelled ones of classes ``codes``
    (m,). G[:, k] is the mean over the labelled examples of class k; the mean of ``test`` estimates G theta.
    """
    everywhere, c = labelled.mean(axis=0), len(estimate)
    means, errors = np.empty((c, c)), []
    for code in range(c):
        own = labelled[codes == code]
        rows = own if len(own) else labelled
        means[:, code] = rows.mean(axis=0)
        # The mean of all classes counts as one more example: few equal examples have an error too.
        deviations = np.vstack([rows, everywhere]) - means[:, code]
        errors.append(deviations.T @ deviations / (len(own) ** 2 if len(own) else len(rows)))
    if np.linalg.svd(means, compute_uv=False)[-1] < SINGULAR:
        return np.zeros(c), np.ones(c)
    inverse, mean = np.linalg.inv(means), test.mean(axis=0)
    theta = inverse @ mean
    possible = np.maximum(theta, 0.0)
    possible /= possible.sum()
    variance = (test - mean).T @ (test - mean) / max(len(test) - 1, 1) / len(test)
    variance = variance + sum(share**2 * error for share, error in zip(possible, errors, strict=True))
    half = NORMAL * np.sqrt(np.diag(inverse @ variance @ inverse.T))
    low, high = np.clip(theta - half, 0.0, 1.0), np.clip(theta + half, 0.0, 1.0)
    return np.minimum(low, estimate), np.maximum(high, estimate)


def _posterior(shares: np.ndarray, prior: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """Return (n, c) class probabilities for class frequencies ``pi``; ``pi`` itself where all are 0."""
    q = shares / prior * pi
    totals = q.sum(axis=1, keepdims=True)
    return np.divide(q, totals, out=np.tile(pi, (len(q), 1)), where=totals > 0)


def bbse_intervals(
    predicted: np.ndarray, codes: np.ndarray, predicted_test: np.ndarray, classes: int
) -> ClassShift:
    """Return the class frequencies by BBSE; interval: as `em_intervals`, of predicted classes.

    Classes without a calibration example have no interval.
    """
    prior = np.bincount(codes, minlength=classes) / max(len(codes), 1)
    estimate = bbse(predicted, codes, predicted_test, classes)[0] * prior
    known = np.flatnonzero(prior)
    low, high = np.full(classes, np.nan), np.full(classes, np.nan)
    if len(known) and len(predicted_test):
        # Each example is the unit vector of its predicted class. Each class has two examples more, the mean
        # of all: with few examples the predicted frequencies of a class are near 0 or 1 by chance.
        test, labelled = (np.eye(classes)[rows][:, known] for rows in (predicted_test, predicted))
        labelled = np.vstack([labelled, np.tile(labelled.mean(axis=0), (2 * len(known), 1))])
        places = np.concatenate([np.searchsorted(known, codes), *[np.arange(len(known))] * 2])
        low[known], high[known] = _interval(test, labelled, places, estimate[known])
    return ClassShift(prior, estimate, low, high)
