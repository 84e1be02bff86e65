"""Class frequencies of a test part without labels, under label shift, with intervals.

Source: Lipton, Wang, Smola, 2018 (BBSE, in `confml.methods.shift`).
"""

from typing import NamedTuple

import numpy as np

from confml.methods.shift import bbse

NORMAL = 1.959964  # 97.5 % quantile of the normal distribution
SINGULAR = 1e-9  # smallest singular value of a matrix that determines the frequencies


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


def _interval(test: np.ndarray, labelled: np.ndarray, codes: np.ndarray, estimate: np.ndarray):
    """Return the ends (c,), (c,) of the interval of the class frequencies theta, which contains ``estimate``.

    test (n, c), labelled (m, c): numbers of the test examples, and of labelled ones of classes ``codes``
    (m,). G[:, k] is the mean over the labelled examples of class k; the mean of ``test`` estimates G theta.
    """
    everywhere, c = labelled.mean(axis=0), len(estimate)
    means, errors = np.empty((c, c)), []
    for code in range(c):
        of_class = labelled[codes == code]
        means[:, code] = of_class.mean(axis=0)
        # The mean of all classes counts as one more example: few equal examples have an error too.
        deviations = np.vstack([of_class, everywhere]) - means[:, code]
        errors.append(deviations.T @ deviations / len(of_class) ** 2)
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


def bbse_intervals(
    predicted: np.ndarray, codes: np.ndarray, predicted_test: np.ndarray, classes: int
) -> ClassShift:
    """Return the class frequencies by BBSE, with intervals.

    predicted, codes: (m,) predicted and true classes of the calibration examples. predicted_test: (n,). Let
    G[:, k] be the frequencies of the predicted classes among the calibration examples of class k. Under label
    shift those of the test examples have expectation G theta for the true frequencies theta. The interval is
    theta = G^-1 (predicted frequencies) +- 1.96 standard errors, of the sampling of test and calibration
    examples, within [0, 1]. Classes without a calibration example have no interval.
    """
    prior = np.bincount(codes, minlength=classes) / max(len(codes), 1)
    estimate = bbse(predicted, codes, predicted_test, classes)[0] * prior
    present = np.flatnonzero(prior)
    low, high = np.full(classes, np.nan), np.full(classes, np.nan)
    if len(present) and len(predicted_test):
        # Each example is the unit vector of its predicted class. Each class has two examples more, the mean
        # of all: with few examples the predicted frequencies of a class are near 0 or 1 by chance.
        test, labelled = (np.eye(classes)[rows][:, present] for rows in (predicted_test, predicted))
        labelled = np.vstack([labelled, np.tile(labelled.mean(axis=0), (2 * len(present), 1))])
        columns = np.concatenate([np.searchsorted(present, codes), *[np.arange(len(present))] * 2])
        low[present], high[present] = _interval(test, labelled, columns, estimate[present])
    return ClassShift(prior, estimate, low, high)
